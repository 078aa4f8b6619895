//! What SECURITY.md promises, held against the source: where `unsafe` is, that no
//! shell is started, which programs are, and under which licences others' code comes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn top() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every source file with its code, comments and tests left out.
fn sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a source folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|found| found == "rs") {
                out.push(path);
            }
        }
    }
    let mut paths = Vec::new();
    walk(&top().join("src"), &mut paths);
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let name = path.strip_prefix(top()).expect("below the top").display().to_string();
        let is_test = name.ends_with("tests.rs") || name.contains("/tests/") || name.contains("fixture.rs");
        if is_test {
            continue;
        }
        let text = fs::read_to_string(&path).expect("readable");
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        found.push((name, lines.collect::<Vec<_>>().join("\n")));
    }
    assert!(found.len() > 200, "only {} source files", found.len());
    found
}

/// The cells of the rows of SECURITY.md's table under this heading.
fn table(heading: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(top().join("SECURITY.md")).expect("SECURITY.md");
    let section = text.split(&format!("## {heading}\n")).nth(1).unwrap_or_else(|| panic!("no {heading:?}"));
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect())
        .collect()
}

/// `file: item` of each use of `unsafe`, with how often it stands there.
fn uses_of_unsafe() -> BTreeMap<String, usize> {
    let mut uses = BTreeMap::new();
    for (file, code) in sources() {
        let mut item = String::new();
        for line in code.lines() {
            let words: Vec<&str> = line.split([' ', '(', '<']).filter(|word| !word.is_empty()).collect();
            if let Some(at) = words.iter().position(|word| *word == "fn") {
                item = words.get(at + 1).copied().unwrap_or_default().to_owned();
            }
            if line.contains("unsafe impl") {
                item = line.trim().trim_start_matches("unsafe impl ").trim_end_matches(" {}").to_owned();
            }
            if line.contains("unsafe {") || line.contains("unsafe impl") {
                *uses.entry(format!("{file}: {item}")).or_insert(0) += 1;
            }
        }
    }
    uses
}

#[test]
fn every_unsafe_block_is_listed_with_its_reason() {
    let mut listed = BTreeMap::new();
    for row in table("Unsafe code") {
        assert!(row.len() == 3 && row[2].len() > 15, "{row:?} gives no reason");
        listed.insert(row[0].clone(), row[1].parse::<usize>().expect("a count"));
    }
    assert_eq!(listed, uses_of_unsafe(), "SECURITY.md on the left, the source on the right");
}

#[test]
fn no_shell_is_started() {
    // What goes into a guest's file system, the script of a guest of the model's validation, which
    // is made of this program's own numbers, and the constant scripts of the fault selftest.
    let known = [
        ("src/faults/real.rs", "command.args([\"--mount\", \"sh\", \"-c\", script]).arg(own);"),
        ("src/target/vm/target.rs", ".chain([\"sh\"])"),
        ("src/cli/validate/guest.rs", "\"/bin/sh\".to_owned(), \"-ec\".to_owned()"),
    ];
    let mut found = Vec::new();
    for (file, code) in sources() {
        for line in code.lines() {
            let shells = [
                "\"sh\"",
                "\"bash\"",
                "\"dash\"",
                "/bin/sh\"",
                "/bin/bash\"",
                "\"-ec\"",
                "libc::system",
                "popen",
            ];
            let excused = known.iter().any(|(home, words)| *home == file && line.contains(words));
            if shells.iter().any(|shell| line.contains(shell)) && !excused {
                found.push(format!("{file}: {}", line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "a shell:\n{}", found.join("\n"));
}

#[test]
fn every_program_that_is_started_by_name_is_listed() {
    let listed: BTreeSet<String> = table("Programs").into_iter().map(|row| row[0].clone()).collect();
    let mut started = BTreeSet::new();
    for (file, code) in sources() {
        for start in ["Command::new(\"", ".command(&[\"", "[\"modprobe"] {
            for rest in code.split(start).skip(1) {
                let name = rest.split('"').next().unwrap_or_default();
                let name = if start.ends_with("modprobe") { "modprobe" } else { name };
                if !name.is_empty() && !file.contains("/fake") {
                    started.insert(name.to_owned());
                }
            }
        }
    }
    let unlisted: Vec<&String> = started.difference(&listed).collect();
    assert!(unlisted.is_empty(), "not in SECURITY.md: {unlisted:?}");
}

/// Licences that MIT OR Apache-2.0 can be joined with; one of an `OR` suffices.
const LICENCES: [&str; 9] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "0BSD",
    "Zlib",
    "Unicode-3.0",
    "Unlicense",
];

fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace(" / ", " OR ").replace('/', " OR ");
    let allowed = |name: &str| LICENCES.contains(&name.trim());
    expression.split(" AND ").all(|part| part.trim_matches(['(', ')', ' ']).split(" OR ").any(allowed))
}

#[test]
fn the_licences_of_all_dependencies_are_allowed() {
    assert!(is_allowed("(MIT OR GPL-3.0) AND Unicode-3.0") && is_allowed("Unlicense/MIT"));
    assert!(!is_allowed("GPL-2.0") && !is_allowed("MIT AND GPL-2.0"));
    let cargo = option_env!("CARGO").unwrap_or("cargo");
    let arguments = [
        "metadata",
        "--offline",
        "--locked",
        "--format-version",
        "1",
        "--filter-platform",
        "x86_64-unknown-linux-gnu",
    ];
    let output = Command::new(cargo).args(arguments).current_dir(top()).output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let nodes = metadata["resolve"]["nodes"].as_array().expect("nodes");
    let used: BTreeSet<&str> = nodes.iter().filter_map(|node| node["id"].as_str()).collect();
    let packages = metadata["packages"].as_array().expect("packages");
    let mut refused = Vec::new();
    let mut seen = 0;
    for package in packages.iter().filter(|package| used.contains(package["id"].as_str().unwrap_or_default()))
    {
        let licence = package["license"].as_str().unwrap_or("none stated");
        seen += 1;
        if !is_allowed(licence) {
            refused.push(format!("{} {}: {licence}", package["name"], package["version"]));
        }
    }
    assert!(seen > 100 && refused.is_empty(), "of {seen} packages:\n{}", refused.join("\n"));
}

/// Sources that are pinned by a checksum, and no other.
#[test]
fn every_dependency_is_locked_by_its_checksum() {
    let text = fs::read_to_string(top().join("Cargo.lock")).expect("Cargo.lock");
    let lock: toml::Table = text.parse().expect("TOML");
    for package in lock["package"].as_array().expect("packages") {
        let name = package["name"].as_str().expect("a name");
        let locked = package.get("checksum").is_some() && !package["source"].to_string().contains("git+");
        assert!(name == "run-bench" || locked, "{name} is not locked by a checksum");
    }
}
