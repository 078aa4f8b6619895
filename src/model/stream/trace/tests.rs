use proptest::prelude::*;

use super::*;
use crate::model::access::Stream;

fn all(
    records: impl Iterator<Item = Result<TraceRecord, TraceError>>,
) -> Result<Vec<TraceRecord>, TraceError> {
    records.collect()
}

fn encode(time: u32, object: u64, size: u32, next: i64) -> Vec<u8> {
    let mut bytes = time.to_le_bytes().to_vec();
    bytes.extend(object.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend(next.to_le_bytes());
    bytes
}

#[test]
fn text_lines_are_objects_and_operations() {
    let trace = b"# pages\n7\n0x10 w\n\nlilac read\r\n7 W";
    let records = all(text(trace)).expect("well formed");
    assert_eq!(records.len(), 4);
    assert_eq!(records[0], TraceRecord::read(7));
    assert_eq!((records[1].object, records[1].write), (16, true));
    assert!(!records[2].write && records[2].object > 1 << 32);
    assert!(records[3].write);
}

#[test]
fn text_errors_name_the_line() {
    let error = all(text(b"1\n2 walk\n")).expect_err("no operation");
    assert_eq!(
        error.to_string(),
        "line 2: \"walk\" is not a read or write, such as r, w, get, set; the access cannot be told; \
         correct the line or give the format"
    );
    assert!(matches!(all(text(b"1 r 3")), Err(TraceError::Field { line: 1, .. })));
    assert_eq!(all(text(b"1\n\xff\xfe")), Err(TraceError::NotText { line: 2 }));
    assert!(matches!(
        all(text(&[0x28, 0xb5, 0x2f, 0xfd, 0])),
        Err(TraceError::Compressed { format: "zstd", .. })
    ));
}

#[test]
fn csv_columns_are_counted_from_one() {
    let layout = CsvLayout {
        object: 2,
        time: Some(1),
        size: Some(3),
        operation: Some(4),
        header: true,
        delimiter: ',',
    };
    let trace = b"time,key,size,op\n12.5,\"fern\",5000,get\n13, 44 ,1,set\n\n";
    let records = all(csv(trace, layout)).expect("well formed");
    assert_eq!((records[0].time, records[0].size, records[0].write), (Some(12), Some(5000), false));
    assert_eq!((records[1].object, records[1].write), (44, true));
    let missing = all(csv(b"1,2\n3\n", CsvLayout { object: 2, ..CsvLayout::default() }));
    assert_eq!(missing, Err(TraceError::MissingField { line: 2, fields: 1, wanted: 2 }));
    let no_size = all(csv(b"1,big\n", CsvLayout { size: Some(2), ..CsvLayout::default() }));
    assert!(matches!(no_size, Err(TraceError::Field { line: 1, .. })));
}

#[test]
fn oracle_records_are_24_bytes() {
    let mut trace = encode(10, 99, 4097, 2);
    trace.extend(encode(11, 5, 1, -1));
    trace.extend(encode(12, 99, 4097, i64::MAX));
    let records = all(oracle_general(&trace)).expect("well formed");
    let next: Vec<Option<u64>> = records.iter().map(|r| r.next_access).collect();
    assert_eq!(next, [Some(2), None, None]);
    assert_eq!((records[0].time, records[0].object, records[0].size), (Some(10), 99, Some(4097)));

    trace.push(0);
    assert_eq!(all(oracle_general(&trace)), Err(TraceError::CutOff { bytes: 73, offset: 72 }));
    let wrong = encode(1, 2, 3, 0);
    assert_eq!(all(oracle_general(&wrong)), Err(TraceError::NextAccess { offset: 0, own: 0, next: 0 }));
    assert_eq!(all(oracle_general(&[])), Ok(Vec::new()));
    assert!(matches!(all(oracle_general(&[0x1f, 0x8b, 8, 0])), Err(TraceError::Compressed { .. })));
}

#[test]
fn objects_become_dense_pages() {
    let mut trace = encode(10, 99, 4097, 2);
    trace.extend(encode(11, 5, 0, -1));
    trace.extend(encode(12, 99, 9000, -1));
    let pages = |paging| {
        let recorded = record(oracle_general(&trace), RegionKind::File, paging).expect("well formed");
        let pages: Vec<u32> = recorded.accesses().iter().map(|a| a.page).collect();
        (pages, recorded.regions()[0].pages)
    };
    assert_eq!(pages(Paging::ObjectIsPage), (vec![0, 1, 0], 2));
    assert_eq!(pages(Paging::BySize), (vec![0, 1, 2, 0, 1], 3));
    let anon = record(text(b"4\n4\n"), RegionKind::Anon, Paging::default()).expect("well formed");
    let kinds: Vec<AccessKind> = anon.accesses().iter().map(|a| a.kind).collect();
    assert_eq!(kinds, [AccessKind::MapWrite, AccessKind::MapRead]);
    let empty = record(text(b"# nothing\n"), RegionKind::Anon, Paging::default()).expect("empty");
    assert!(empty.regions().is_empty() && empty.accesses().is_empty());
    assert!(record(text(b"1 x"), RegionKind::Anon, Paging::default()).is_err());
}

proptest! {
    #[test]
    fn no_bytes_make_a_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        text(&bytes).for_each(drop);
        csv(&bytes, CsvLayout::default()).for_each(drop);
        oracle_general(&bytes).for_each(drop);
    }

    #[test]
    fn formats_agree(objects in prop::collection::vec(0u64..30, 0..60)) {
        let lines: String = objects.iter().map(|o| format!("{o}\n")).collect();
        let binary: Vec<u8> = objects.iter().flat_map(|&o| encode(0, o, 1, -1)).collect();
        let from_text = record(text(lines.as_bytes()), RegionKind::Anon, Paging::BySize).expect("numbers");
        let from_csv = record(csv(lines.as_bytes(), CsvLayout::default()), RegionKind::Anon, Paging::BySize)
            .expect("numbers");
        let from_binary = record(oracle_general(&binary), RegionKind::Anon, Paging::BySize).expect("records");
        prop_assert_eq!(from_text.accesses(), from_csv.accesses());
        prop_assert_eq!(from_text.accesses(), from_binary.accesses());
    }
}
