//! Seeded mutations of the fixture mails: no panic, no hang, offsets inside the
//! text. `RUN_BENCH_FUZZ_CASES=10000000 cargo test --release --test patch_fuzz`
//! runs as many as wanted; `RUN_BENCH_FUZZ_SEED` starts elsewhere.

use std::fs;
use std::path::Path;

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use run_bench::patch;

/// Pieces that mean something to one of the readers.
const PIECES: &[&str] = &[
    "=3D",
    "=\n",
    "> ",
    ">>>> ",
    "\n",
    "\n\n",
    "\0",
    "±",
    " ± 3%",
    "(+1.8%)",
    "+[4, 6]%",
    "Before: ",
    "After: ",
    "bw (",
    "iops : ",
    "avg=",
    "stdev=",
    "Totals ",
    "%stddev %change %stddev",
    "|",
    " / ",
    "->",
    "1e999",
    "1e308",
    "-0.0",
    "99999999999999999999999999",
    "0.00",
    "diff --git a/x b/x\n",
    "--- a/x\n+++ b/x\n",
    "@@ -1,999999999 +1,999999999 @@ f(",
    "Content-Type: multipart/mixed; boundary=x\n\n--x\n",
    "--x--\n",
    "Content-Transfer-Encoding: base64\n",
    "Content-Transfer-Encoding: quoted-printable\n",
    "From git@z Thu Jan  1 00:00:00 1970\n",
    "Subject: [PATCH v99999999999 1/0] x\n",
    "Hmean 1 ( 0.00%)",
    "improves 5.0%",
    "from 1 s to 2 s",
    "12.03%  f_x",
    "0m1.5s",
    "39:42.90",
    "struct x {\n",
    "a@b.c",
    "fio --name=x --size=",
    "memtier_benchmark -x ",
    "make -j",
    "\\\n",
    "'",
    "\"",
    "\u{202f}",
    "\u{feff}",
    "é",
    "写道：",
    "<html>",
    "&lt;",
    "testcase: will-it-scale\n",
    "average of 18 runs",
    "median of 3",
    "v2",
    "48 / 768M / 7G | 1 / 2 / +100%\n",
    "+ 4.5%",
    "7-9%",
    "30% - 40%",
    " +- 0.1 ",
    " vs ",
    " instead of ",
    "2.5 times more",
    "Test : x\nT: a[pct imp](CV) b[pct imp](CV)\n",
    "1.00 [ 0.00]( 0.40)",
    "    N  Min  Max  Median  Avg  Stddev\n",
    "x 10 1 2 3 4 5\n+ 10 1 2 3 4 5\n",
    "SQL statistics:\n",
    "Running in process mode with 1\nTime: 1.5\n",
    "# Running 'a' benchmark:\n 5 ops/sec\n",
    "1,234 cycles # 1 GHz ( +- 0.1% )\n",
    "Pipe Throughput 1.0 lps (10.0 s, 7 samples)\n",
    "stress-ng: metrc: [1] a 1 2 3 4 5 6\n",
    "Latencies percentiles\n 99.0th: 5\n",
    "IOPS=7.8M, BW=3.8GiB/s, IOS/call=1/1\n",
    "3;fio-3;a;0;0;1;2;3;4",
    "kernel  ops/s  p99\nbase 1 2\npatched 3 4\n",
    "Duration User 1 2\n",
    "* a: +5% (1 => 2)\n",
    "base-commit: 0123456789abcdef\n",
    "10.1 10.2 10.3 avg 10.2",
    "\x1b[2J",
    "\u{202e}",
    "MemoryMax=",
    "-> 1.0k ",
    "1e-308",
];

fn cases(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn mails() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mails");
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("the fixtures").map(|e| e.expect("an entry").path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "mail"));
    paths.sort();
    paths.iter().map(|p| fs::read(p).expect("a mail")).collect()
}

/// One to eight changes: bytes, pieces, cuts, repeats, other mails.
fn mutate(mails: &[Vec<u8>], random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let pick = |random: &mut Xoshiro256PlusPlus, below: usize| random.random_range(0..below.max(1));
    let mut bytes = mails[pick(random, mails.len())].clone();
    for _ in 0..=pick(random, 8) {
        let at = pick(random, bytes.len() + 1);
        match pick(random, 8) {
            0 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.next_u64() as u8;
                }
            }
            1 | 2 => {
                let piece = PIECES[pick(random, PIECES.len())].as_bytes();
                bytes.splice(at..at, piece.iter().copied());
            }
            3 => bytes.truncate(at),
            4 => {
                let end = (at + pick(random, 200)).min(bytes.len());
                bytes.drain(at..end);
            }
            5 => {
                let end = (at + pick(random, 300)).min(bytes.len());
                let part = bytes[at..end].repeat(1 + pick(random, 6));
                bytes.splice(at..at, part);
            }
            6 => {
                let other = &mails[pick(random, mails.len())];
                let start = pick(random, other.len());
                let end = (start + pick(random, 600)).min(other.len());
                bytes.splice(at..at, other[start..end].iter().copied());
            }
            _ => {
                for byte in bytes.iter_mut().filter(|b| **b == b'\n') {
                    *byte = b' ';
                }
            }
        }
        bytes.truncate(64 << 10);
    }
    bytes
}

#[test]
fn mutated_mails_never_break_a_reader() {
    let mails = mails();
    let seed = cases("RUN_BENCH_FUZZ_SEED", 1);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut claims = 0usize;
    let total = cases("RUN_BENCH_FUZZ_CASES", 3000);
    for case in 0..total {
        let bytes = mutate(&mails, &mut random);
        let read = std::panic::catch_unwind(|| {
            patch::read(&bytes).map(|document| (patch::audit(&document), document))
        });
        let Ok(read) = read else {
            let path = std::env::temp_dir().join(format!("run-bench-fuzz-{seed}-{case}.mail"));
            fs::write(&path, &bytes).expect("a writable temporary folder");
            panic!("case {case} of seed {seed} panicked; input kept in {}", path.display());
        };
        let Ok((audits, document)) = read else { continue };
        claims += document.claims.len();
        assert_eq!(audits.len(), document.claims.len());
        for claim in &document.claims {
            assert!(claim.span.start <= claim.span.end && claim.message < document.mails.len());
            assert!(claim.setting.is_none_or(|s| s < document.settings.len()));
        }
        if case % 1_000_000 == 999_999 {
            eprintln!("{} cases, {claims} claims", case + 1);
        }
    }
    assert!(
        claims as u64 > total / 4,
        "only {claims} claims in {total} cases: the mutations destroy too much"
    );
}

/// A body many times as long must not cost many times more than that many times.
/// Counted in claims, not in time: what bounds the work is that each line is taken once.
#[test]
fn large_mails_read_to_their_end() {
    let mut mail = b"From: Ada <a@b.c>\nSubject: [PATCH] mm: foo\n\n".to_vec();
    for index in 0..2000 {
        mail.extend_from_slice(
            format!("Before: 1{index}.00 Ops/sec\nAfter: 2{index}.00 Ops/sec (+1.0%)\n\ntext\n\n").as_bytes(),
        );
    }
    let document = patch::read(&mail).expect("a mail");
    assert_eq!(document.claims.len(), 2000);
    let long = [b"From: a\nSubject: b\n\n".to_vec(), vec![b'('; 10 << 20]].concat();
    assert!(patch::read(&long).expect("a mail").claims.is_empty());
}
