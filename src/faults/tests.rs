//! Each row of the matrix, without privileges.

use super::*;

fn hold(number: usize) {
    let row = &ROWS[number - 1];
    assert_eq!(row.number as usize, number);
    let result = row.run(false);
    assert!(result.passed, "{}: {:#?}", row.fault, result.broken);
    assert!(result.held > 0 && result.restored != Some(false), "{result:?}");
}

macro_rules! rows {
    ($($name:ident $number:literal)*) => {
        $(#[test]
        fn $name() {
            hold($number);
        })*
        const TESTED: &[usize] = &[$($number),*];
    };
}

rows! {
    no_swap_accounting 1
    cgroup_layouts 2
    delegation 3
    busy_cgroups 4
    zram_trouble 5
    foreign_ramdisks 6
    swapoff_fails 7
    too_little_memory 8
    out_of_memory 9
    differing_arms 10
    disturbances 11
    full_disk 12
    missing_rights 13
    wrong_tools 14
    broken_json 15
    old_names 16
    lying_tools 17
    hanging_tools 18
    foreign_servers 19
    server_counters 20
    bad_experiments 21
    bad_mails 22
    kills_at_every_step 23
    wrong_boots 24
    bad_numbers 25
}

#[test]
fn every_row_has_its_test() {
    assert_eq!(TESTED, (1..=ROWS.len()).collect::<Vec<_>>());
}

#[test]
fn the_named_tests_exist() {
    let texts = [
        include_str!("../host/real_tests.rs"),
        include_str!("../../tests/cli/faults.rs"),
        include_str!("../../tests/memcached.rs"),
        include_str!("../../tests/uml.rs"),
    ];
    for row in &ROWS {
        if let Real::Test(name) = row.real {
            assert!(texts.iter().any(|text| text.contains(&format!("fn {name}("))), "{name}");
        }
    }
}
