//! The options of each tool we read, and the typed workload they give.

use super::flags::{self, Flag, Parsed, Takes};
use super::typed::{
    FioJob, KernelBuild, MemcachedServer, MemtierLoad, NetperfRun, SysbenchRun, UsememRun, WillItScaleRun,
    Workload,
};

use Takes::{Nothing, Ours, Value};

const MEMCACHED: &[Flag] = &[
    (&["--memory-limit", "-m"], Value),
    (&["--threads", "-t"], Value),
    (&["--user", "-u"], Ours),
    (&["--unix-socket", "-s"], Ours),
    (&["--unix-mask", "-a"], Value),
    (&["--port", "-p"], Value),
    (&["--listen", "-l"], Ours),
    (&["--protocol", "-B"], Value),
    (&["--conn-limit", "-c"], Value),
    (&["--daemon", "-d"], Nothing),
];

const MEMTIER: &[Flag] = &[
    (&["--unix-socket", "-S"], Ours),
    (&["--server", "-s", "-h", "--host"], Ours),
    (&["--port", "-p"], Value),
    (&["--protocol", "-P"], Value),
    (&["--requests", "-n"], Value),
    (&["--clients", "-c"], Value),
    (&["--threads", "-t"], Value),
    (&["--run-count", "-x"], Value),
    (&["--data-size", "-d"], Value),
    (&["--ratio"], Value),
    (&["--pipeline"], Value),
    (&["--key-minimum"], Value),
    (&["--key-maximum"], Value),
    (&["--key-pattern"], Value),
    (&["--test-time"], Value),
    (&["--random-data", "-R"], Nothing),
    (&["--hide-histogram"], Nothing),
    (&["--json-out-file"], Ours),
];

const FIO: &[Flag] = &[
    (&["--name", "-name"], Value),
    (&["--numjobs", "-numjobs"], Value),
    (&["--directory", "-directory", "--filename", "-filename"], Ours),
    (&["--size", "-size", "--filesize"], Value),
    (&["--buffered"], Value),
    (&["--direct", "-direct"], Value),
    (&["--ioengine", "-ioengine"], Value),
    (&["--iodepth", "-iodepth"], Value),
    (&["--iodepth_batch_submit"], Value),
    (&["--iodepth_batch_complete"], Value),
    (&["--rw", "-rw", "--readwrite"], Value),
    (&["--rwmixread"], Value),
    (&["--random_distribution"], Value),
    (&["--norandommap"], Nothing),
    (&["--time_based"], Nothing),
    (&["--ramp_time"], Value),
    (&["--runtime", "-runtime"], Value),
    (&["--bs", "-bs", "--blocksize"], Value),
    (&["--group_reporting", "-group_reporting"], Nothing),
    (&["--thread", "-thread"], Nothing),
];

const NETPERF: &[Flag] = &[
    (&["-t"], Value),
    (&["-H"], Ours),
    (&["-l"], Value),
    (&["-p"], Value),
    (&["-4"], Nothing),
    (&["-6"], Nothing),
    (&["-i"], Value),
    (&["-I"], Value),
    (&["-c"], Nothing),
    (&["-C"], Nothing),
];

const USEMEM: &[Flag] = &[
    (&["--nproc", "-n"], Value),
    (&["--nthreads", "-t"], Value),
    (&["--anonymous", "-a"], Nothing),
    (&["--init-time", "--runtime", "-s"], Value),
    (&["--repeat", "-r"], Value),
    (&["--prealloc", "-P"], Nothing),
    (&["--unit", "-u"], Value),
    (&["--random", "-R"], Nothing),
    (&["--readonly", "-o"], Nothing),
    (&["--sleep"], Value),
    (&["--mmap-file", "-f"], Ours),
];

const MAKE: &[Flag] = &[
    (&["--jobs", "-j"], Value),
    (&["-C"], Ours),
    (&["-s"], Nothing),
    (&["-k"], Nothing),
    (&["-O"], Nothing),
];

const SYSBENCH: &[Flag] = &[
    (&["--threads", "--num-threads"], Value),
    (&["--time", "--max-time"], Value),
    (&["--tables"], Value),
    (&["--table-size", "--table_size", "--oltp-table-size"], Value),
    (&["--test"], Value),
    (&["--report-interval"], Value),
    (&["--mysql-socket", "--mysql-host"], Ours),
    (&["--mysql-user", "--mysql-password", "--mysql-db"], Ours),
    (&["--memory-total-size"], Value),
    (&["--memory-block-size"], Value),
];

const WILL_IT_SCALE: &[Flag] = &[(&["-t"], Value), (&["-s"], Value), (&["-n"], Nothing), (&["-m"], Nothing)];

/// Benchmarks that are told apart from ours, so that their results are not taken for ours.
pub(super) const OTHERS: &[&str] = &[
    "hackbench",
    "stress-ng",
    "schbench",
    "redis-benchmark",
    "pgbench",
    "dbench",
    "tbench",
    "ebizzy",
    "iperf",
    "iperf3",
    "io_uring",
    "kernbench",
    "lat_syscall",
    "will-it-scale",
    "unixbench",
    "Run",
    "stream",
    "ycsb",
    "filebench",
    "sockperf",
    "cyclictest",
    "mmtests",
];

/// Whether a program is one whose command lines are read inside sentences. `make`
/// is too common a word.
pub(super) fn is_known(name: &str) -> bool {
    let ours = ["memcached", "memtier_benchmark", "fio", "netperf", "usemem", "sysbench"];
    ours.contains(&name) || OTHERS.contains(&name)
}

/// The typed workload of a command; `None` for a program we do not read.
/// `flat` ends the options at the first word, where a line lost its newlines.
pub(crate) fn read(program: &str, arguments: &[String], flat: bool) -> Option<(Workload, Parsed)> {
    let name = program.rsplit('/').next().unwrap_or(program);
    let parse = |known: &[Flag], flat: bool| flags::parse(arguments, known, flat);
    let process_suffix = name.strip_suffix("_processes").or_else(|| name.strip_suffix("_threads"));
    if let Some(test) = process_suffix.filter(|test| !test.is_empty()) {
        let parsed = parse(WILL_IT_SCALE, flat);
        return Some((will_it_scale(test, name.ends_with("_threads"), &parsed), parsed));
    }
    let bench = name == "perf" && arguments.first().is_some_and(|a| a == "bench");
    if bench || OTHERS.contains(&name) {
        let program = if bench { "perf bench".to_owned() } else { name.to_owned() };
        return Some((Workload::Other { program }, Parsed::default()));
    }
    let (workload, parsed) = match name {
        "memcached" => with(memcached, parse(MEMCACHED, flat)),
        "memtier_benchmark" => with(memtier, parse(MEMTIER, flat)),
        "fio" => with(fio, parse(FIO, flat)),
        "netperf" => with(netperf, parse(NETPERF, flat)),
        "usemem" => with(usemem, parse(USEMEM, false)),
        "make" => with(kernel_build, parse(MAKE, false)),
        "sysbench" => with(sysbench, parse(SYSBENCH, false)),
        _ => return None,
    };
    Some((workload, parsed))
}

fn with(build: fn(&Parsed) -> Workload, parsed: Parsed) -> (Workload, Parsed) {
    (build(&parsed), parsed)
}

fn memcached(p: &Parsed) -> Workload {
    Workload::Memcached(MemcachedServer {
        memory: p.size("--memory-limit", 1 << 20),
        threads: p.number("--threads"),
        unix_socket: p.has("--unix-socket"),
        protocol: p.text("--protocol"),
        connections: p.number("--conn-limit"),
    })
}

fn memtier(p: &Parsed) -> Workload {
    Workload::Memtier(MemtierLoad {
        protocol: p.text("--protocol"),
        requests: p.text("--requests"),
        clients: p.number("--clients"),
        threads: p.number("--threads"),
        repeats: p.number("--run-count"),
        value: p.size("--data-size", 1),
        ratio: p.text("--ratio"),
        pipeline: p.number("--pipeline"),
        key_minimum: p.number("--key-minimum"),
        key_maximum: p.number("--key-maximum"),
        key_pattern: p.text("--key-pattern"),
        test_time: p.seconds("--test-time"),
        random_data: p.has("--random-data"),
    })
}

fn fio(p: &Parsed) -> Workload {
    let truth = |name: &str| p.get(name).map(|v| v != "0");
    Workload::Fio(FioJob {
        name: p.text("--name"),
        jobs: p.number("--numjobs"),
        size: p.size("--size", 1),
        direct: truth("--direct").or(truth("--buffered").map(|b| !b)),
        engine: p.text("--ioengine"),
        depth: p.number("--iodepth"),
        batch_submit: p.number("--iodepth_batch_submit"),
        batch_complete: p.number("--iodepth_batch_complete"),
        pattern: p.text("--rw"),
        read_share: p.number("--rwmixread"),
        distribution: p.text("--random_distribution"),
        no_random_map: p.has("--norandommap"),
        time_based: p.has("--time_based"),
        ramp: p.seconds("--ramp_time"),
        runtime: p.seconds("--runtime"),
        block: p.size("--bs", 1),
    })
}

fn netperf(p: &Parsed) -> Workload {
    Workload::Netperf(NetperfRun { test: p.text("-t"), duration: p.seconds("-l"), pairs: None })
}

fn usemem(p: &Parsed) -> Workload {
    let total = p.words.iter().rev().find_map(|word| flags::size(word, 1));
    Workload::Usemem(UsememRun {
        processes: p.number("--nproc"),
        threads: p.number("--nthreads"),
        size: total,
        repeats: p.number("--repeat"),
        random: p.has("--random"),
        readonly: p.has("--readonly"),
    })
}

fn kernel_build(p: &Parsed) -> Workload {
    let target =
        p.words.first().filter(|w| w.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b)));
    Workload::KernelBuild(KernelBuild { jobs: p.number("--jobs"), target: target.cloned() })
}

fn sysbench(p: &Parsed) -> Workload {
    let test = p.text("--test").or_else(|| p.words.first().cloned());
    let plain = test.map(|t| t.rsplit('/').next().unwrap_or(&t).trim_end_matches(".lua").to_owned());
    Workload::Sysbench(SysbenchRun {
        test: plain,
        threads: p.number("--threads"),
        time: p.seconds("--time"),
        tables: p.number("--tables"),
        table_size: p.number("--table-size"),
    })
}

fn will_it_scale(test: &str, threads: bool, p: &Parsed) -> Workload {
    Workload::WillItScale(WillItScaleRun {
        test: Some(test.chars().take(60).collect()),
        mode: Some(if threads { "thread" } else { "process" }.to_owned()),
        tasks: p.text("-t"),
    })
}
