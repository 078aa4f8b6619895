//! The shape of the code: layers, file sizes, forbidden names.

use std::fs;
use std::path::{Path, PathBuf};

/// Layer of each top module; an import may only go to a lower layer.
const LAYERS: [(&str, u32); 25] = [
    ("units", 0),
    ("input", 1),
    ("metric", 1),
    ("stats", 1),
    ("patch", 1),
    ("model", 2),
    ("host", 2),
    ("config", 3),
    ("exec", 3),
    ("store", 4),
    ("workload", 5),
    ("sample", 5),
    ("calibrate", 5),
    ("trial", 6),
    ("predict", 6),
    ("target", 7),
    ("campaign", 8),
    ("fleet", 9),
    ("import", 10),
    ("analyze", 10),
    ("report", 11),
    ("faults", 12),
    ("cli", 13),
    ("lib", 14),
    ("main", 15),
];
const LONGEST_FILE: usize = 500;
/// The only files that may hold `unsafe`.
const UNSAFE: [&str; 2] = ["host/syscall.rs", "calibrate/primitive.rs"];

fn source_files() -> Vec<PathBuf> {
    fn walk(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("source folder") {
            let path = entry.expect("entry").path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                out.push(path);
            }
        }
    }
    let mut files = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    files.sort();
    assert!(files.len() > 20, "found only {} source files", files.len());
    files
}

fn relative(path: &Path) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    path.strip_prefix(root).expect("below src").to_string_lossy().into_owned()
}

fn layer(module: &str) -> u32 {
    let found = LAYERS.iter().find(|(name, _)| *name == module);
    found.unwrap_or_else(|| panic!("module {module} has no layer in tests/architecture.rs")).1
}

fn module_of(file: &str) -> &str {
    file.split('/').next().expect("a path").trim_end_matches(".rs")
}

/// Names after `crate::` in code, comments left out.
fn imported_modules(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in text.lines().filter(|l| !l.trim_start().starts_with("//")) {
        for rest in line.split("crate::").skip(1) {
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if !name.is_empty() {
                names.push(name);
            }
        }
    }
    names
}

#[test]
fn imports_go_down_the_layers() {
    let mut wrong = Vec::new();
    for path in source_files() {
        let file = relative(&path);
        let own = module_of(&file);
        let text = fs::read_to_string(&path).expect("readable source");
        assert!(
            !text.contains("use crate::{"),
            "{file}: write one `use crate::module::…` a line, so that the layer test sees it"
        );
        for name in imported_modules(&text).iter().filter(|n| n.as_str() != own) {
            if layer(name) >= layer(own) {
                wrong.push(format!("{file} (layer {}) imports {name} (layer {})", layer(own), layer(name)));
            }
        }
    }
    assert!(wrong.is_empty(), "imports that do not go down:\n{}", wrong.join("\n"));
}

#[test]
fn files_hold_one_thing() {
    for path in source_files() {
        let file = relative(&path);
        let text = fs::read_to_string(&path).expect("readable source");
        let lines = text.lines().count();
        assert!(
            lines <= LONGEST_FILE,
            "{file} has {lines} lines, more than {LONGEST_FILE}: split it by noun"
        );
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let vague = ["imp.rs", "utils.rs", "helpers.rs", "misc.rs", "common.rs"];
        assert!(!vague.contains(&name.as_str()), "{file}: name it after the noun it owns");
    }
}

#[test]
fn modules_say_what_they_own() {
    for path in source_files() {
        let file = relative(&path);
        if file.ends_with("tests.rs") || file.contains("/tests/") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("readable source");
        assert!(text.starts_with("//!"), "{file} does not open with a //! line");
    }
}

#[test]
fn unsafe_has_two_homes_and_exit_has_one() {
    for path in source_files() {
        let file = relative(&path);
        let text = fs::read_to_string(&path).expect("readable source");
        let code: String =
            text.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        if !UNSAFE.contains(&file.as_str()) {
            let uses = ["unsafe {", "unsafe fn", "unsafe impl"].iter().any(|u| code.contains(u));
            assert!(!uses, "{file} uses unsafe; only {UNSAFE:?} may");
        }
        if file != "main.rs" {
            assert!(!code.contains("process::exit("), "{file} calls process::exit; only main.rs may");
        }
        for shell in ["\"sh\"", "\"bash\"", "\"/bin/sh\"", "\"/bin/bash\""] {
            let line = code.lines().find(|l| l.contains(shell) && l.contains("Command::new"));
            assert!(line.is_none(), "{file} starts a shell: {line:?}");
        }
    }
}
