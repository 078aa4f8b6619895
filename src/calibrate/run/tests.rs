use super::*;
use crate::calibrate::profile::Basis;
use crate::stats::random::Chance;

fn rounds() -> Rounds {
    let measured = Parameter::ALL.iter().filter(|p| {
        ![
            Parameter::RmwMany,
            Parameter::SpinMany,
            Parameter::RmwCross,
            Parameter::SpinCross,
            Parameter::TlbMany,
        ]
        .contains(p)
    });
    measured.map(|p| (*p, (0..11).map(|i| 100.0 + f64::from(i)).collect())).collect()
}

fn profile(rounds: &Rounds) -> Profile {
    let mut entries = entries(rounds).expect("plausible");
    assume_the_rest(&mut entries);
    let machine = crate::calibrate::MachineShape {
        name: "test".to_owned(),
        cpus: 2,
        sockets: 1,
        nodes: 1,
        llc_mib: 32.0,
        llc_cpus: 2,
        l2_kib: 1024.0,
        node_memory_gib: 16.0,
    };
    let provenance = Provenance {
        made_by: "test".to_owned(),
        date: "2026-01-01".to_owned(),
        seed: Some(1),
        rounds: Some(11),
        seconds: None,
        kernel: None,
        virtualised: None,
        notes: Vec::new(),
    };
    Profile::new(machine, provenance, entries).expect("complete")
}

#[test]
fn an_entry_is_the_median_and_the_ends_of_the_rounds() {
    let profile = profile(&rounds());
    let entry = profile.entry(Parameter::Miss);
    assert_eq!((entry.low, entry.median, entry.high), (100.5, 105.0, 109.5));
    assert_eq!(entry.basis, Basis::Measured);
    let assumed = profile.entry(Parameter::RmwCross);
    assert_eq!(assumed.basis, Basis::Assumed);
    assert_eq!(assumed.median, 315.0);
}

#[test]
fn a_profile_reads_back_and_refuses_what_it_does_not_know() {
    let profile = profile(&rounds());
    let text = profile.to_toml();
    let path = Path::new("p.toml");
    assert_eq!(Profile::parse(path, &text).expect("reads back"), profile);
    let refuse = |text: &str| Profile::parse(path, text).expect_err("refused").to_string();
    assert!(refuse(&text.replace("[parameter.c_pte]", "[parameter.c_ptx]")).contains("c_ptx"));
    assert!(refuse(&text.replacen("schema = 1", "schema = 9", 1)).contains("schema 1"));
    assert!(refuse(&text.replacen("median = 105.0", "median = 5000.0", 1)).contains("low <= median"));
    assert!(refuse(&text.replacen("node-memory-gib = 16.0", "node-memory-gib = nan", 1)).contains("finite"));
}

#[test]
fn draws_keep_to_the_range_and_to_the_seed() {
    let profile = profile(&rounds());
    let draws: Vec<f64> = {
        let mut chance = Chance::new(5);
        (0..2000).map(|_| profile.draw(&mut chance).get(Parameter::Miss)).collect()
    };
    let inside = draws.iter().filter(|v| (100.5..=109.5).contains(*v)).count();
    assert!((1740..1860).contains(&inside), "{inside} of 2000 in a 90% range");
    let mut again = Chance::new(5);
    assert_eq!(profile.draw(&mut again).get(Parameter::Miss), draws[0]);
}

#[test]
fn what_no_processor_does_is_refused() {
    let mut rounds = rounds();
    rounds.insert(Parameter::Miss, vec![0.3; 11]);
    let error = entries(&rounds).expect_err("too fast");
    assert!(error.to_string().contains("c_miss came out as 0.300 ns"), "{error}");
}

#[test]
fn ranges_that_do_not_meet_are_named() {
    let first = profile(&rounds());
    let mut later = rounds();
    later.insert(Parameter::Miss, (0..11).map(|i| 150.0 + f64::from(i)).collect());
    let apart = disagreements(&first, &profile(&later));
    assert_eq!(apart.iter().map(|(p, _)| *p).collect::<Vec<_>>(), [Parameter::Miss]);
    assert!(disagreements(&first, &first).is_empty());
}

#[test]
#[ignore = "takes a quiet machine and a release build: two calibrations against each other"]
fn two_runs_agree_within_their_intervals() {
    let root = SysRoot::host();
    let run =
        |seed| calibrate(&root, &CalibrationRequest::full(seed), &mut |_, _| {}).expect("a calibration");
    let apart: Vec<_> = disagreements(&run(1), &run(2)).into_iter().filter(|(_, gap)| *gap > 0.1).collect();
    assert!(apart.len() <= 2, "{apart:?}");
}
