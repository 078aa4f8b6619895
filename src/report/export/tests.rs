//! Every format of one invented campaign, pinned.

use super::*;
use crate::analyze::analyze;
use crate::patch::{Format, read};
use crate::report::fixture::{EXPERIMENT, rich_campaign};
use crate::units::Percent;

fn with_export<T>(look: impl FnOnce(&Export<'_>) -> T) -> T {
    let results = tempfile::tempdir().expect("a folder");
    let experiment = EXPERIMENT.replace("blocks = 12", "blocks = 6");
    let folder = rich_campaign(results.path(), &experiment, Percent(-3.2));
    let (analysis, records) = (analyze(&folder).expect("analysed"), folder.records().expect("read"));
    look(&Export { analysis: &analysis, records: &records })
}

#[test]
fn every_format_is_pinned() {
    with_export(|export| {
        for format in FORMATS {
            let text = (format.render)(export).expect(format.name);
            // Formats of one line a value are pinned by their beginning.
            let shown = match format.name {
                "csv" => text.lines().take(12).collect::<Vec<_>>().join("\n"),
                "jsonl" => text.lines().take(2).collect::<Vec<_>>().join("\n"),
                _ => text,
            };
            insta::assert_snapshot!(format.name, shown);
        }
    });
}

#[test]
fn formats_have_names_and_files_of_their_own() {
    for pair in FORMATS.windows(2) {
        assert!(pair[0].name < pair[1].name && pair[0].file != pair[1].file);
    }
}

#[test]
fn csv_and_jsonl_hold_every_trial() {
    with_export(|export| {
        let values: usize = export.records.iter().map(|r| r.measurements.len().max(1)).sum();
        let csv = super::csv::render(export).expect("csv");
        let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
        assert_eq!(
            reader.records().map(|r| r.expect("a record").len()).collect::<Vec<_>>(),
            vec![14; values]
        );
        let jsonl = jsonl::render(export).expect("jsonl");
        assert_eq!(jsonl.lines().count(), export.records.len());
        for line in jsonl.lines() {
            serde_json::from_str::<serde_json::Value>(line).expect("JSON");
        }
    });
}

#[test]
fn our_own_reader_of_mails_reads_the_tables() {
    with_export(|export| {
        for (text, format) in [
            (lkp::render(export).expect("lkp"), Format::Lkp),
            (mmtests::render(export).expect("mmtests"), Format::Mmtests),
        ] {
            let mail = format!("Subject: [PATCH] mm: example\nFrom: A <a@example.org>\n\n{text}\n");
            let document = read(mail.as_bytes()).expect("a mail");
            let claims = document.claims.iter().filter(|c| c.format == format).count();
            assert!(claims >= 6, "{format:?}: {claims} claims of\n{text}");
        }
    });
}
