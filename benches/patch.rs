//! Time of reading mails as they grow: each step has twice the bytes and should
//! cost about twice the time. `RUN_BENCH_MAIL_MIB=48 cargo bench --bench patch`;
//! prints, asserts nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Instant;

use run_bench::patch;

const HEAD: &[u8] = b"From: Ada <a@b.c>\nSubject: [PATCH] mm: foo\n\n";

fn fixtures() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mails");
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("the fixtures").map(|e| e.expect("an entry").path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "mail"));
    paths.sort();
    paths.iter().map(|p| fs::read(p).expect("a mail")).collect()
}

/// A mail whose body repeats `part` up to a size.
fn repeated(head: &[u8], part: &[u8], bytes: usize) -> Vec<u8> {
    let mut mail = head.to_vec();
    while mail.len() + part.len() <= bytes {
        mail.extend_from_slice(part);
    }
    mail
}

fn seconds(mail: &[u8]) -> (f64, String) {
    let start = Instant::now();
    let read = patch::read(mail);
    let taken = start.elapsed().as_secs_f64();
    (taken, read.map_or_else(|error| error.to_string(), |d| format!("{} claims", d.claims.len())))
}

/// Whole bodies, doubled up to the largest size.
fn bodies(largest: usize) {
    let all: Vec<u8> = fixtures().concat();
    let mailbox = fixtures()
        .into_iter()
        .map(|mail| [&b"From x Mon Sep 17 00:00:00 2001\n"[..], mail.as_slice(), &b"\n"[..]].concat());
    let mailbox: Vec<u8> = mailbox.collect::<Vec<_>>().concat();
    let base64 = [
        &b"From: a <a@b.c>\nSubject: x\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\n"[..],
    ]
    .concat();
    let mut nested = b"From: a\nSubject: x\n".to_vec();
    for level in 0..2000 {
        nested.extend_from_slice(
            format!("Content-Type: multipart/mixed; boundary=b{level}\n\n--b{level}\n").as_bytes(),
        );
    }
    let html = b"From: a\nSubject: x\nContent-Type: text/html\n\n".to_vec();
    let cases: [(&str, &[u8], &[u8]); 14] = [
        ("fixtures", HEAD, &all),
        ("mailbox", b"", &mailbox),
        ("labels", HEAD, b"Before: 1.0 MB/s\n"),
        ("slash headings", HEAD, b"a|b:\n"),
        ("column headings", HEAD, b"before after:\n"),
        ("robot headings", HEAD, b"%stddev %change %stddev\n"),
        ("loads", HEAD, b"Before: 1 s\nAfter: 2 s\n\nmemtier_benchmark -x 3\n"),
        ("one line", HEAD, b"Before: 1.0 MB/s After: 2.0 (+3%) mpstat.cpu "),
        ("brackets", HEAD, b"(((([[[[+++"),
        ("percentages", HEAD, b"5% 6% 7% while 8% "),
        ("quotes", HEAD, b"> > > > > > > > > > > > > 5% better\n"),
        ("base64", &base64, b"QmVmb3JlOiAxIHMKQWZ0ZXI6IDIgcwo=\n"),
        ("nested parts", &nested, b"--b1\nx\n--b1999\n"),
        ("markup", &html, b"<p <b>&amp;&lt;<i "),
    ];
    for (name, head, part) in cases {
        let mut before: Option<f64> = None;
        for size in [largest / 4, largest / 2, largest] {
            let mail = repeated(head, part, size << 20);
            let (taken, said) = seconds(&mail);
            let growth = before.map_or(String::new(), |b| format!(", {:.2} times the half", taken / b));
            println!("{name:>16} {size:>3} MiB: {taken:>6.2} s{growth}; {said}");
            before = Some(taken);
        }
    }
}

/// Every line of the fixtures, alone and with the one behind it, as a whole mail.
fn lines(kib: usize) {
    let mut parts: BTreeSet<Vec<u8>> = BTreeSet::new();
    for mail in fixtures() {
        let lines: Vec<&[u8]> = mail.split(|b| *b == b'\n').filter(|line| !line.is_empty()).collect();
        for pair in lines.windows(2) {
            parts.insert([pair[0], b"\n"].concat());
            parts.insert([pair[0], b"\n", pair[1], b"\n"].concat());
        }
    }
    let mut slow = Vec::new();
    for part in &parts {
        let small = seconds(&repeated(HEAD, part, kib << 10)).0;
        let large = seconds(&repeated(HEAD, part, kib << 12)).0;
        slow.push((large / small / 4.0, large * 1e9 / (kib << 12) as f64, part));
    }
    println!("{} lines and pairs of lines, {kib} KiB and four times that", parts.len());
    let show = |part: &[u8]| String::from_utf8_lossy(part).chars().take(90).collect::<String>();
    slow.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (growth, cost, part) in slow.iter().take(8) {
        println!("  {growth:>5.2} times linear, {cost:>7.1} ns a byte: {:?}", show(part));
    }
    slow.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (growth, cost, part) in slow.iter().take(8) {
        println!("  {cost:>7.1} ns a byte, {growth:>5.2} times linear: {:?}", show(part));
    }
}

fn main() {
    let number = |name: &str, default: usize| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    bodies(number("RUN_BENCH_MAIL_MIB", 8));
    lines(number("RUN_BENCH_LINES_KIB", 32));
}
