//! Set-up lines that carry limits and swap: `modprobe brd`, `echo 4G > memory.max`,
//! `zramctl`, `systemd-run -p MemoryMax=`.

use super::argv;
use super::flags;
use super::setting::{Setting, Swap, SwapKind};
use super::tools;
use crate::units::Bytes;

const PROGRAMS: &[&str] = &[
    "memcached",
    "memtier_benchmark",
    "fio",
    "netperf",
    "usemem",
    "make",
    "sysbench",
    "modprobe",
    "mkswap",
    "swapon",
    "swapoff",
    "echo",
    "zramctl",
    "systemd-run",
    "sudo",
    "taskset",
    "numactl",
    "cgexec",
    "time",
    "nice",
    "mkdir",
    "mount",
    "for",
    "while",
    "cgcreate",
    "cgset",
    "perf",
    "env",
    "dd",
    "insmod",
    "sysctl",
];

/// Programs whose lines are set-up and no results.
pub(crate) fn is_shell_word(program: &str) -> bool {
    PROGRAMS.contains(&program)
}

/// Whether a line opens like a command, before any work is done on it.
pub(crate) fn may_start_command(line: &str) -> bool {
    let text = line.trim_start().trim_start_matches(['$', '#', ' ', '\t']);
    let word = text.split_whitespace().next().unwrap_or("");
    let name = word.rsplit('/').next().unwrap_or(word);
    let assignment = word
        .split_once('=')
        .is_some_and(|(n, _)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'));
    PROGRAMS.contains(&name)
        || tools::OTHERS.contains(&name)
        || name.ends_with("_processes")
        || name.ends_with("_threads")
        || assignment
}

/// What a set-up line says of the setting.
pub(crate) fn read(text: &str) -> Option<Setting> {
    let words = argv::split(text);
    let first = words.iter().map(String::as_str).find(|w| *w != "sudo")?;
    match first {
        "modprobe" | "insmod" => modprobe(&words),
        "echo" => echo(text),
        "zramctl" => {
            let size = words
                .windows(2)
                .find(|w| w[0] == "--size" || w[0] == "-s")
                .and_then(|w| flags::size(&w[1], 1));
            Some(swap(SwapKind::Zram, size))
        }
        "swapon" | "mkswap" => words.iter().find_map(|w| device(w)).map(|kind| swap(kind, None)),
        "systemd-run" => {
            let limit =
                words.iter().find_map(|w| w.strip_prefix("MemoryMax=")).and_then(|v| flags::size(v, 1));
            let alone = words.len() < 4;
            limit.filter(|_| alone).map(|limit| Setting { memcg_limit: Some(limit), ..Setting::default() })
        }
        _ => None,
    }
}

fn swap(kind: SwapKind, size: Option<Bytes>) -> Setting {
    Setting { swap: Some(Swap { kind: Some(kind), size }), ..Setting::default() }
}

/// `modprobe brd rd_nr=1 rd_size=16777216`, in KiB.
fn modprobe(words: &[String]) -> Option<Setting> {
    if words.iter().any(|w| w == "brd") {
        let size =
            words.iter().find_map(|w| w.strip_prefix("rd_size=")).and_then(|v| flags::size(v, 1 << 10));
        return Some(swap(SwapKind::Ramdisk, size));
    }
    words.iter().any(|w| w == "zram").then(|| swap(SwapKind::Zram, None))
}

/// `echo 4G > …/memory.max`, `echo 8G > /sys/block/zram0/disksize`.
fn echo(text: &str) -> Option<Setting> {
    let (left, target) = text.split_once('>')?;
    let value = left.split_whitespace().nth(1)?.trim_matches(['"', '\'']);
    let target = target.trim_start_matches(['>', ' ']).trim();
    let limit = ["memory.max", "memory.limit_in_bytes", "memory.high"].iter().any(|f| target.contains(f));
    if limit {
        let limit = flags::size(value, 1)?;
        return Some(Setting { memcg_limit: Some(limit), ..Setting::default() });
    }
    (target.contains("zram") && target.contains("disksize"))
        .then(|| swap(SwapKind::Zram, flags::size(value, 1)))
}

fn device(path: &str) -> Option<SwapKind> {
    let name = path.strip_prefix("/dev/")?;
    [("ram", SwapKind::Ramdisk), ("zram", SwapKind::Zram), ("loop", SwapKind::Loop), ("pmem", SwapKind::Pmem)]
        .into_iter()
        .chain([("nvme", SwapKind::Disk), ("sd", SwapKind::Disk), ("vd", SwapKind::Disk)])
        .find(|(start, _)| name.starts_with(start))
        .map(|(_, kind)| kind)
}
