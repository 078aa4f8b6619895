use proptest::prelude::*;

use super::*;
use crate::workload::captures;

const PROGRAM: &str = include_str!("../../../tests/fixtures/will_it_scale/pread2_processes.txt");
const TABLE: &str = include_str!("../../../tests/fixtures/will_it_scale/table.csv");
const ABSENT: &str = include_str!("../../../tests/fixtures/will_it_scale/absent.csv");

#[test]
fn a_program_gives_its_measured_seconds() {
    let output = parse_program(PROGRAM).unwrap();
    assert_eq!(output.description, "Same file pread to same offset");
    assert_eq!(output.average, 2_204_711);
    assert_eq!(output.seconds.len(), 3);
    assert_eq!(output.seconds[2], Second { min: 1_101_330, max: 1_103_981, total: 2_205_311 });
}

#[test]
fn a_program_that_ended_early_is_an_error() {
    let (cut, _) = PROGRAM.split_once("average").unwrap();
    assert_eq!(parse_program(cut), Err(ScaleParseError::Missing("average:")));
    assert_eq!(parse_program(""), Err(ScaleParseError::Missing("testcase:")));
    let bad = PROGRAM.replace("average:2204711", "average:-1");
    assert!(matches!(parse_program(&bad), Err(ScaleParseError::Number { .. })));
}

#[test]
fn a_table_gives_its_rows_and_minus_one_is_no_result() {
    let rows = parse_table(TABLE).unwrap();
    assert_eq!(rows.len(), 2);
    let expected = Row {
        tasks: 2,
        processes: 31_415,
        processes_idle_percent: 0.25,
        threads: 27_182,
        threads_idle_percent: 1.5,
    };
    assert_eq!(rows[1], expected);
    let failed = ScaleParseError::Failed { tasks: 1, column: "processes", value: -1 };
    assert_eq!(parse_table(ABSENT), Err(failed));
    assert_eq!(parse_table("tasks,processes\n0,0,100,0,100,0\n"), Err(ScaleParseError::NoRows));
    assert_eq!(parse_table(""), Err(ScaleParseError::NoRows));
}

#[test]
fn captured_tables_of_absent_programs_are_errors() {
    for (name, text) in captures::of("will-it-scale") {
        assert!(matches!(parse_table(&text), Err(ScaleParseError::Failed { value: -1, .. })), "{name}");
    }
}

proptest! {
    #[test]
    fn printed_programs_read_back(
        seconds in proptest::collection::vec((0u64..1 << 40, 0u64..1 << 40, 0u64..1 << 50), 0..8),
        average in 0u64..1 << 50,
    ) {
        let mut text = "testcase:x\nwarmup\nmin:1 max:2 total:3\nmeasurement\n".to_owned();
        for (min, max, total) in &seconds {
            text.push_str(&format!("min:{min} max:{max} total:{total}\n"));
        }
        text.push_str(&format!("average:{average}\n"));
        let output = parse_program(&text).unwrap();
        prop_assert_eq!(output.average, average);
        let read: Vec<_> = output.seconds.iter().map(|s| (s.min, s.max, s.total)).collect();
        prop_assert_eq!(read, seconds);
    }
}
