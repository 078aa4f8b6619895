//! Hostile input: every reader takes seeded damage of good inputs, and neither
//! panics, nor hangs, nor takes memory out of proportion.
//!
//! Some hundred or thousand cases of each reader run as tests. At length, with checks for
//! arithmetic that wraps, one reader at a time:
//!
//! ```text
//! RUN_BENCH_FUZZ_CASES=10000000 cargo test --profile fuzz --test fuzz -- --nocapture reader_mail
//! ```
//!
//! `RUN_BENCH_FUZZ_SEED` starts elsewhere, `RUN_BENCH_FUZZ_SECONDS` ends a long
//! run early. What breaks a reader is kept in the temporary folder; it belongs
//! as a test beside the reader once it is understood.

mod corpus;
mod mutator;
mod one_text;
mod readers;
mod words;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mutator::Mutator;

/// A case that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A reader with what it reads.
pub struct Reader {
    pub name: &'static str,
    /// How many cases are run when nothing else is said.
    pub cases: u64,
    pub corpus: Vec<Vec<u8>>,
    pub words: &'static [&'static str],
    /// Reads an input and checks what was read; whether it could be read at all.
    pub read: fn(&[u8]) -> bool,
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// Ends the process when one case never ends: no test could report it otherwise.
fn watch(name: &'static str, seed: u64, case: Arc<AtomicU64>) {
    thread::spawn(move || {
        let mut seen = u64::MAX;
        loop {
            thread::sleep(PATIENCE);
            let now = case.load(Ordering::Relaxed);
            if now == u64::MAX {
                return;
            }
            if now == seen {
                eprintln!("{name}: case {now} of seed {seed} hangs");
                std::process::abort();
            }
            seen = now;
        }
    });
}

/// Reads every good input, then as many damaged ones as asked for.
pub fn fuzz(reader: Reader) {
    let Reader { name, cases, corpus, words, read } = reader;
    for (index, good) in corpus.iter().enumerate() {
        assert!(read(good), "{name}: good input {index} is refused: {}", String::from_utf8_lossy(good));
    }
    let seed = setting("RUN_BENCH_FUZZ_SEED").unwrap_or(1);
    let cases = setting("RUN_BENCH_FUZZ_CASES").unwrap_or(cases);
    let end = setting("RUN_BENCH_FUZZ_SECONDS").map(Duration::from_secs);
    let mut mutator = Mutator::new(corpus, words, seed);
    let (started, at) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    watch(name, seed, at.clone());
    let (mut done, mut accepted, mut slowest) = (0, 0u64, Duration::ZERO);
    while done < cases && end.is_none_or(|end| started.elapsed() < end) {
        let input = mutator.next();
        let begun = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| read(&input)));
        let took = begun.elapsed();
        let path = std::env::temp_dir().join(format!("run-bench-fuzz-{name}-{seed}-{done}"));
        if took > slowest {
            slowest = took;
            if took > Duration::from_secs(2) {
                let _ = std::fs::write(&path, &input);
                eprintln!("{name}: case {done} took {took:?}; kept in {}", path.display());
            }
        }
        let Ok(read) = outcome else {
            std::fs::write(&path, &input).expect("a writable temporary folder");
            panic!("{name}: case {done} of seed {seed} panicked; kept in {}", path.display());
        };
        accepted += u64::from(read);
        done += 1;
        at.store(done, Ordering::Relaxed);
    }
    at.store(u64::MAX, Ordering::Relaxed);
    println!(
        "{name}: {done} cases of seed {seed} in {:.0} s, {accepted} read, slowest {slowest:?}",
        started.elapsed().as_secs_f64()
    );
    assert!(accepted > done / 500, "{name}: {accepted} of {done} could be read; the damage is too great");
}
