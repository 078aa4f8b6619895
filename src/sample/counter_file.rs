//! A counter file that stays open.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::source::{Source, SourceFormat};

/// Larger files than this are not counter files.
const LARGEST: usize = 1 << 20;

/// An open source and its buffer.
#[derive(Debug)]
pub(super) struct CounterFile {
    source: Source,
    file: File,
    buffer: Vec<u8>,
}

impl CounterFile {
    /// Opens the source; `None` where the kernel does not have it.
    pub(super) fn open(source: &Source) -> Option<Self> {
        let file = File::open(&source.path).ok()?;
        Some(CounterFile { source: source.clone(), file, buffer: vec![0; 16 << 10] })
    }

    /// Reads all its counters into `values`, as `source.name`.
    pub(super) fn read(&mut self, values: &mut BTreeMap<String, u64>) -> io::Result<()> {
        let length = self.fill()?;
        let text = std::str::from_utf8(&self.buffer[..length]).map_err(io::Error::other)?;
        each_counter(&self.source, text, |name, value| {
            values.insert(format!("{}.{name}", self.source.name), value);
        });
        Ok(())
    }

    fn fill(&mut self) -> io::Result<usize> {
        let mut length = 0;
        loop {
            if length == self.buffer.len() {
                if length >= LARGEST {
                    return Err(io::Error::other("larger than any counter file"));
                }
                self.buffer.resize(length * 2, 0);
            }
            match self.file.read_at(&mut self.buffer[length..], length as u64)? {
                0 => return Ok(length),
                read => length += read,
            }
        }
    }
}

/// Calls `found` for each counter that the source keeps.
fn each_counter(source: &Source, text: &str, mut found: impl FnMut(&str, u64)) {
    match source.format {
        SourceFormat::Keyed => {
            for line in text.lines() {
                if let Some((name, value)) = line.split_once(' ')
                    && source.keeps(name)
                    && let Ok(value) = value.trim().parse()
                {
                    found(name, value);
                }
            }
        }
        SourceFormat::Single => {
            if let Ok(value) = text.trim().parse() {
                found("value", value);
            }
        }
        SourceFormat::Pressure => {
            for line in text.lines() {
                let kind = line.split(' ').next().unwrap_or_default();
                let total = line.split(' ').find_map(|field| field.strip_prefix("total="));
                if let Some(Ok(microseconds)) = total.map(str::parse) {
                    found(&format!("{kind}_total_us"), microseconds);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(format: SourceFormat, keep: &'static [&'static str], text: &str) -> Vec<(String, u64)> {
        let source = Source { name: "x", path: "/x".into(), format, keep };
        let mut found = Vec::new();
        each_counter(&source, text, |name, value| found.push((name.to_owned(), value)));
        found
    }

    #[test]
    fn keyed_lines_are_filtered_and_malformed_ones_passed_over() {
        let text = "pgscan_direct 12\npgsteal_anon 9\nbroken\nnr_free_pages x\nother 3\n";
        let found = counters(SourceFormat::Keyed, &["pg"], text);
        assert_eq!(found, [("pgscan_direct".to_owned(), 12), ("pgsteal_anon".to_owned(), 9)]);
    }

    #[test]
    fn pressure_gives_stall_time() {
        let text = "some avg10=1.00 avg60=0.50 avg300=0.10 total=1234\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=56\n";
        let found = counters(SourceFormat::Pressure, &[], text);
        assert_eq!(found, [("some_total_us".to_owned(), 1234), ("full_total_us".to_owned(), 56)]);
    }

    #[test]
    fn an_open_file_is_read_again_from_its_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("memory.stat");
        std::fs::write(&path, "anon 1\n").expect("written");
        let source =
            Source { name: "memory_stat", path: path.clone(), format: SourceFormat::Keyed, keep: &[""] };
        let mut file = CounterFile::open(&source).expect("there");
        let mut values = BTreeMap::new();
        file.read(&mut values).expect("readable");
        assert_eq!(values["memory_stat.anon"], 1);
        // Written in place, as the kernel's files change.
        std::fs::write(&path, "anon 2\n").expect("written");
        file.read(&mut values).expect("readable");
        assert_eq!(values["memory_stat.anon"], 2);
    }
}
