//! For the tests of parsers: captures of real tools.

use std::path::Path;

/// The captures of real tools whose names begin with `prefix`, in the folder that
/// `RUN_BENCH_CAPTURES` names; none when it is not set.
pub(super) fn of(prefix: &str) -> Vec<(String, String)> {
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
