//! For the tests of parsers: texts damaged at random, and captures of real tools.

use std::path::Path;

use rand::Rng;
use rand::RngExt;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Calls `check` with damaged forms of each text; as many as `RUN_BENCH_MUTATIONS` says.
///
/// `check` calls the parser, which must not panic.
pub(super) fn damaged(seed: u64, texts: &[&str], mut check: impl FnMut(&str)) {
    let count = std::env::var("RUN_BENCH_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(3_000);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    for _ in 0..count {
        let text = texts[rng.random_range(0..texts.len())];
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..rng.random_range(1..4) {
            damage(&mut bytes, &mut rng);
        }
        check(&String::from_utf8_lossy(&bytes));
    }
}

/// Bytes and words that parsers stumble over.
const SPLINTERS: [&str; 14] = [
    "{",
    "}",
    "\"",
    ",",
    "\n",
    "\r\n",
    "-1",
    "nan",
    "1e999",
    "18446744073709551616",
    "(null)",
    "\u{feff}",
    ":",
    "0",
];

fn damage(bytes: &mut Vec<u8>, rng: &mut Xoshiro256PlusPlus) {
    if bytes.is_empty() {
        return;
    }
    let at = rng.random_range(0..bytes.len());
    let to = (at + rng.random_range(1..80)).min(bytes.len());
    match rng.random_range(0..6) {
        0 => bytes[at] = (rng.next_u64() & 0xff) as u8,
        1 => bytes.truncate(at),
        2 => drop(bytes.drain(at..to)),
        3 => {
            let copied = bytes[at..to].to_vec();
            bytes.splice(at..at, copied);
        }
        4 => {
            let splinter = SPLINTERS[rng.random_range(0..SPLINTERS.len())];
            bytes.splice(at..at, splinter.bytes());
        }
        _ => {
            let digits: Vec<usize> = (0..bytes.len()).filter(|i| bytes[*i].is_ascii_digit()).collect();
            if !digits.is_empty() {
                let digit = digits[rng.random_range(0..digits.len())];
                bytes[digit] = b'0' + rng.random_range(0..10u8);
            }
        }
    }
}

/// The captures of real tools whose names begin with `prefix`, in the folder that
/// `RUN_BENCH_CAPTURES` names; none when it is not set.
pub(super) fn captures(prefix: &str) -> Vec<(String, String)> {
    let Some(folder) = std::env::var_os("RUN_BENCH_CAPTURES") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(Path::new(&folder)).expect("the folder of captures") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name.starts_with(prefix) {
            let text = String::from_utf8_lossy(&std::fs::read(&path).expect("a capture")).into_owned();
            found.push((name, text));
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no capture begins with {prefix}");
    found
}
