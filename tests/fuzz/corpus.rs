//! Good inputs, from the fixtures and from what is shipped.

use std::fs;
use std::path::{Path, PathBuf};

fn top() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// One fixture.
pub fn fixture(name: &str) -> Vec<u8> {
    let path = top().join("tests/fixtures").join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Some fixtures.
pub fn fixtures(names: &[&str]) -> Vec<Vec<u8>> {
    names.iter().map(|name| fixture(name)).collect()
}

/// Every file of a folder with this extension, by name.
pub fn folder(folder: &str, extension: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(top().join(folder)).expect("a folder of the project");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == Path::new(extension)));
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a readable file")).collect()
}
