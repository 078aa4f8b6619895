//! Delimited text with the object in a named column.

use super::{TraceError, TraceRecord, is_write, lines, object_number, quoted};

/// Which column holds what, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CsvLayout {
    pub object: usize,
    pub time: Option<usize>,
    pub size: Option<usize>,
    pub operation: Option<usize>,
    pub delimiter: char,
    /// The first line names the columns.
    pub header: bool,
}

impl Default for CsvLayout {
    /// The objects alone, or in the first column.
    fn default() -> Self {
        CsvLayout { object: 1, time: None, size: None, operation: None, delimiter: ',', header: false }
    }
}

/// The requests of a CSV trace. Quotes around a field are taken off; a
/// delimiter inside quotes is not supported, as no trace format uses one.
pub fn csv(bytes: &[u8], layout: CsvLayout) -> impl Iterator<Item = Result<TraceRecord, TraceError>> {
    let skipped = u64::from(layout.header);
    lines(bytes).filter_map(move |line| match line {
        Ok((number, text)) if number <= skipped || text.trim().is_empty() => None,
        Ok((number, text)) => Some(parse(number, text, &layout)),
        Err(error) => Some(Err(error)),
    })
}

fn parse(line: u64, text: &str, layout: &CsvLayout) -> Result<TraceRecord, TraceError> {
    let fields: Vec<&str> = text.split(layout.delimiter).map(|f| f.trim().trim_matches('"')).collect();
    let field = |column: usize| {
        let missing = || TraceError::MissingField { line, fields: fields.len(), wanted: column };
        column.checked_sub(1).and_then(|at| fields.get(at)).copied().ok_or_else(missing)
    };
    let number = |column: usize, wanted| {
        let seen = field(column)?;
        // Times may carry a fraction; whole units are enough.
        let whole = seen.split_once('.').map_or(seen, |(whole, _)| whole);
        whole.parse::<u64>().map_err(|_| TraceError::Field { line, seen: quoted(seen), wanted })
    };
    let size = layout.size.map(|column| number(column, "a size in bytes")).transpose()?;
    Ok(TraceRecord {
        time: layout.time.map(|column| number(column, "a time")).transpose()?,
        object: object_number(field(layout.object)?),
        size: size.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX)),
        write: layout.operation.map(|column| is_write(field(column)?, line)).transpose()?.unwrap_or(false),
        next_access: None,
    })
}
