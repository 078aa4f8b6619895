//! The experiments that are shipped: each parses, and each runs on a small machine.

use std::path::PathBuf;

use run_bench::config;
use run_bench::config::Experiment;
use run_bench::config::Plan;
use run_bench::config::arithmetic;
use run_bench::config::scale;
use run_bench::config::scale::Machine;
use run_bench::config::scale::ScaleFactor;
use run_bench::config::scale::ScaleRequest;
use run_bench::units::Bytes;

fn shipped() -> Vec<(String, String, Experiment)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("configs");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("configs") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "toml") {
            let text = std::fs::read_to_string(&path).expect("readable");
            let experiment = config::load(&path).unwrap_or_else(|error| panic!("{error}"));
            found.push((path.file_name().expect("a name").to_string_lossy().into_owned(), text, experiment));
        }
    }
    assert!(found.len() >= 8, "{} experiments", found.len());
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

#[test]
fn every_experiment_says_in_two_lines_what_it_is() {
    for (name, text, _) in shipped() {
        let first: Vec<&str> = text.lines().take(2).collect();
        assert!(first.iter().all(|line| line.starts_with("# ") && line.len() > 30), "{name}: {first:?}");
    }
}

#[test]
fn every_experiment_fits_a_machine_of_two_processors() {
    let machine = Machine { cpus: 2, memory_available: Bytes::gib(12), disk_available: Some(Bytes::gib(20)) };
    for (name, _, experiment) in shipped() {
        let request = ScaleRequest { scale: Some(ScaleFactor::Auto), quick: true };
        let (scaled, changes) = scale::apply(experiment.clone(), &request, &machine)
            .unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
        println!("{name}:\n  {}", changes.join("\n  "));
        let sums = arithmetic::check(&Plan::new(scaled), &machine);
        println!("  {}", sums.lines.join("\n  "));
        assert_eq!(sums.problems, [], "{name}");
    }
}

#[test]
fn every_experiment_fits_a_large_machine_as_written() {
    let machine = Machine { cpus: 128, memory_available: Bytes::gib(256), disk_available: None };
    for (name, _, experiment) in shipped() {
        let request = ScaleRequest { scale: Some(ScaleFactor::Auto), quick: false };
        let (scaled, changes) = scale::apply(experiment.clone(), &request, &machine).expect("it fits");
        assert_eq!((scaled, changes.len()), (experiment.clone(), 0), "{name}");
        assert_eq!(arithmetic::check(&Plan::new(experiment), &machine).problems, [], "{name}");
    }
}
