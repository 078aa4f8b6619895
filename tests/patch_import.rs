//! From a mail to an experiment as its user meets it: every claim of every
//! fixture gives one that a plan accepts at once, or a reason.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use run_bench::config;
use run_bench::config::TargetKind;
use run_bench::config::scale::{self, Machine, ScaleFactor, ScaleRequest};
use run_bench::import::{self, ImportError, ImportRequest};
use run_bench::patch;
use run_bench::units::Bytes;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mails")
}

fn mails() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).expect("the fixtures");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "mail"));
    paths.sort();
    paths
}

#[test]
fn every_claim_gives_a_plan_or_a_reason() {
    let machines = [
        Machine { cpus: 2, memory_available: Bytes::gib(3), disk_available: Some(Bytes::gib(10)) },
        Machine { cpus: 128, memory_available: Bytes::gib(500), disk_available: None },
    ];
    let request = ScaleRequest { scale: Some(ScaleFactor::Auto), quick: false };
    let (mut plans, mut reasons) = (0, 0);
    for path in mails() {
        let document = patch::read(&fs::read(&path).expect("a mail")).expect("a readable mail");
        for claim in &document.claims {
            let asked = ImportRequest { claim: Some(claim.id.clone()), tree: None };
            let name = format!("{} {}", path.display(), claim.id);
            match import::import(&document, &asked) {
                Ok(found) => {
                    let parsed = config::parse(Path::new("x.toml"), &found.text).expect(&name);
                    for machine in &machines {
                        let scaled = scale::apply(parsed.clone(), &request, machine);
                        assert!(scaled.is_ok(), "{name}: {:?}\n{}", scaled.err(), found.text);
                    }
                    plans += 1;
                }
                Err(ImportError::NotRunnable { reason, .. }) => {
                    assert!(!reason.is_empty() && !reason.contains("panicked"), "{name}");
                    reasons += 1;
                }
                Err(other) => panic!("{name}: {other}"),
            }
        }
    }
    assert!(plans >= 30 && reasons > plans, "{plans} plans, {reasons} reasons");
}

fn run_bench(arguments: &[&str], at: &Path) -> Output {
    Command::cargo_bin("run-bench")
        .expect("the program")
        .args(arguments)
        .current_dir(at)
        .output()
        .expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Imports a claim of the series with a tree; gives the experiment and what was said.
fn with_tree(claim: &str, mail: &Path, at: &Path) -> (config::Experiment, String) {
    fs::create_dir_all(at.join("linux/.git")).expect("a tree");
    let mail = mail.display().to_string();
    let arguments =
        ["patch", "import", &mail, "--claim", claim, "--kernel-tree", "linux", "--out", "sub/claim.toml"];
    fs::create_dir_all(at.join("sub")).expect("a folder");
    let output = run_bench(&arguments, at);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    let experiment = config::load(&at.join("sub/claim.toml")).expect("an experiment");
    let plan = run_bench(&["plan", "sub/claim.toml", "--scale", "auto"], at);
    assert!(plan.status.success(), "{}", text(&plan.stderr));
    (experiment, said)
}

#[test]
fn a_series_gives_the_arms_its_claims_speak_of() {
    let place = tempfile::tempdir().expect("a folder");
    let mail = folder().join("c01-series-base.mail");
    let names = |arm: &config::ArmSection| {
        let files: Vec<String> = arm
            .patches
            .iter()
            .map(|path| {
                assert!(path.is_absolute() && path.is_file(), "{}", path.display());
                path.file_name().expect("a name").to_string_lossy()[..4].to_owned()
            })
            .collect();
        files.join(" ")
    };
    for (claim, before, after) in
        [("c1", "", "0001 0002"), ("c2", "", "0001 0002 0003"), ("c3", "0001", "0001 0002")]
    {
        let (experiment, said) = with_tree(claim, &mail, place.path());
        let [first, second] = experiment.arms.as_slice() else { panic!("{:?}", experiment.arms) };
        assert_eq!((names(first).as_str(), names(second).as_str()), (before, after), "{claim}");
        assert!(first.kernel.ends_with("linux@0123456789abcdef0123456789abcdef01234567"), "{}", first.kernel);
        assert_eq!(experiment.target.kind, TargetKind::Uml);
        assert!(said.contains("1 patch(es) between its base commit"), "{said}");
        assert!(said.contains("next: run-bench plan sub/claim.toml"), "{said}");
    }
}

#[test]
fn a_part_alone_says_which_parts_are_missing() {
    let place = tempfile::tempdir().expect("a folder");
    let series = fs::read_to_string(folder().join("c01-series-base.mail")).expect("a mail");
    let second = series.split("\nFrom 00").nth(2).expect("four messages");
    let mail = place.path().join("second.patch");
    fs::write(&mail, format!("From 00{second}")).expect("written");
    let (experiment, said) = with_tree("c1", &mail, place.path());
    assert_eq!((experiment.arms[0].patches.len(), experiment.arms[1].patches.len()), (0, 1));
    assert!(said.contains("lacks patch 1 of the series"), "{said}");
    assert!(said.contains("HEAD"), "{said}");
}

#[test]
fn a_hostile_mail_moves_nothing_but_its_own_numbers() {
    let place = tempfile::tempdir().expect("a folder");
    let mail = folder().join("x02-terminal.mail").display().to_string();
    for arguments in [
        vec!["patch", "show", &mail],
        vec!["patch", "show", &mail, "--json"],
        vec!["patch", "audit", &mail],
        vec!["patch", "audit", &mail, "--reply"],
        vec!["patch", "audit", &mail, "--json"],
        vec!["patch", "import", &mail],
    ] {
        let output = run_bench(&arguments, place.path());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(!said.contains(|c: char| c.is_control() && c != '\n'), "{arguments:?}: {said:?}");
        assert!(!said.contains("example.org") && !said.contains('\u{202e}'), "{said}");
    }
    let audit = text(&run_bench(&["patch", "audit", &mail], place.path()).stdout);
    assert!(audit.contains("for the same metric under the same label"), "{audit}");
    let imported = text(&run_bench(&["patch", "import", &mail], place.path()).stdout);
    let parsed = config::parse(Path::new("x.toml"), &imported).expect("an experiment");
    let values = toml::to_string(&parsed).expect("a text");
    for word in ["passwd", "..", "prerun", "| sh", "reboot;"] {
        assert!(!values.contains(word), "{word} in {values}");
    }
    let entries = fs::read_dir(place.path()).expect("the folder").count();
    assert_eq!(entries, 0, "something was written");
}
