//! A stream by its name in text, such as `zipf:0.99` or `memtier:P:P`: what a
//! user writes in a line, made into accesses over a number of pages.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::fio::ZipfHash;
use super::guard::guards;
use super::slab::SlabLayout;
use super::{
    FioEngine, FioError, FioPattern, FioStream, FioWorkload, KeyOrder, MemcachedStream, MemcachedWorkload,
    Pattern, PreadStream, SyntheticStream, SyntheticWorkload, UsememStream,
};
use crate::model::access::{Access, AccessKind, Region, RegionKind, Stream};
use crate::units::{Bytes, Pages};

const MEMTIER_VALUE: Bytes = Bytes::kib(1);
const MEMTIER_CONNECTIONS: u16 = 32;
const MEMTIER_PIPELINE: u32 = 8;
const SLAB_PAGES: u32 = 256;

/// What [`StreamSpec`] reads, for help texts.
pub const SPEC_FORMS: [(&str, &str); 11] = [
    ("cyclic", "from the first page to the last, again and again"),
    ("sequential", "every page once, from first to last"),
    ("uniform", "all pages alike"),
    ("zipf:S", "by rank to the power -S, ranks in random order"),
    ("mixed:S", "half anonymous memory, written, and half a file, read; zipf over both"),
    ("moving:N", "a zipf set that moves on N times by its own size"),
    ("fio-zipf:T[:JOBS]", "fio's own zipf generator, a file for each job (read by system calls)"),
    ("memtier:P:P|R:R", "memcached's slabs under memtier's SETs of 1 KiB, 32 connections"),
    ("usemem[:TASKS]", "tasks that write their memory from first to last"),
    ("pread2[:TASKS]", "will-it-scale's tasks on one page of a tmpfs file"),
    ("guard:NAME", "a guard workload; --limit is the memory it is made for"),
];

/// A stream by name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StreamSpec {
    Cyclic,
    Sequential,
    Uniform,
    Zipf { exponent: f64 },
    Mixed { exponent: f64 },
    Moving { phases: u32 },
    FioZipf { theta: f64, jobs: u32 },
    Memtier { order: KeyOrder },
    Usemem { tasks: u16 },
    Pread2 { tasks: u16 },
    Guard { name: &'static str },
}

/// A text that is no stream, or a stream that cannot be made.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SpecError {
    #[error("{text:?} is no stream that can be simulated; write one of {known}")]
    Unknown { text: String, known: String },
    #[error("{pages} pages are too few for {spec}, which needs at least {least}; raise --pages")]
    TooFew { spec: String, pages: u32, least: u32 },
    #[error(transparent)]
    Fio(#[from] FioError),
}

/// Everything that makes a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StreamRequest {
    pub spec: StreamSpec,
    /// What backs the pages, where the stream does not say itself.
    pub kind: RegionKind,
    pub pages: u32,
    pub accesses: u64,
    pub write_percent: u32,
    pub seed: u64,
    /// The memory that guard workloads are made for.
    pub memory: Pages,
}

impl StreamRequest {
    /// The stream, cut off after the accesses asked for.
    pub fn build(&self) -> Result<Box<dyn Stream>, SpecError> {
        let all = self.pages.max(1);
        let least = self.spec.least_pages();
        if self.pages < least {
            return Err(SpecError::TooFew { spec: self.spec.to_string(), pages: self.pages, least });
        }
        let stream: Box<dyn Stream> = match self.spec {
            StreamSpec::Cyclic => self.synthetic(Pattern::Cyclic, self.accesses),
            StreamSpec::Sequential => self.synthetic(Pattern::Cyclic, u64::from(all).min(self.accesses)),
            StreamSpec::Uniform => self.synthetic(Pattern::Uniform, self.accesses),
            StreamSpec::Zipf { exponent } => self.synthetic(Pattern::Zipf { exponent }, self.accesses),
            StreamSpec::Mixed { exponent } => Box::new(Written { stream: self.mixed(exponent) }),
            StreamSpec::Moving { phases } => {
                let each = self.accesses.div_ceil(u64::from(phases));
                let moving = SyntheticWorkload::moving(self.kind, all / phases, phases, each, self.seed);
                self.of_workload(moving)
            }
            StreamSpec::FioZipf { theta, jobs } => Box::new(FioStream::new(self.fio(theta, jobs))?),
            StreamSpec::Memtier { order } => {
                let stream = MemcachedStream::new(self.memcached(order));
                Box::new(stream.ok_or(SpecError::TooFew {
                    spec: self.spec.to_string(),
                    pages: self.pages,
                    least: 2 * SLAB_PAGES,
                })?)
            }
            StreamSpec::Usemem { tasks } => {
                let passes = self.accesses.div_ceil(u64::from(all));
                Box::new(UsememStream::new(tasks, all / u32::from(tasks), passes as u32))
            }
            StreamSpec::Pread2 { tasks } => Box::new(PreadStream::new(tasks, self.accesses)),
            StreamSpec::Guard { name } => {
                let rounds = self.accesses.div_ceil(self.memory.0.max(1)).max(1);
                let found = guards(self.memory, rounds, self.seed).into_iter().find(|g| g.name == name);
                Box::new(SyntheticStream::new(found.expect("a guard's name").workload))
            }
        };
        Ok(Box::new(Limited { stream, left: self.accesses }))
    }

    fn synthetic(&self, pattern: Pattern, accesses: u64) -> Box<dyn Stream> {
        self.of_workload(SyntheticWorkload::single(self.kind, self.pages, pattern, accesses, self.seed))
    }

    fn of_workload(&self, workload: SyntheticWorkload) -> Box<dyn Stream> {
        let write_percent = self.write_percent;
        Box::new(SyntheticStream::new(SyntheticWorkload { write_percent, ..workload }))
    }

    fn mixed(&self, exponent: f64) -> Box<dyn Stream> {
        let half = self.pages / 2;
        let pattern = Pattern::Zipf { exponent };
        let one = SyntheticWorkload::single(RegionKind::Anon, 2 * half, pattern, self.accesses, self.seed);
        let regions = vec![Region::new(0, half, RegionKind::Anon), Region::new(half, half, RegionKind::File)];
        self.of_workload(SyntheticWorkload { regions, ..one })
    }

    fn fio(&self, theta: f64, jobs: u32) -> FioWorkload {
        let mapped = self.kind == RegionKind::MappedFile;
        FioWorkload {
            files: jobs,
            blocks: self.pages / jobs,
            block_pages: 1,
            pattern: FioPattern::Zipf { theta, hash: ZipfHash::Since2016 },
            engine: if mapped { FioEngine::Mmap } else { FioEngine::Syscall },
            write_percent: self.write_percent,
            operations: self.accesses,
            seed: self.seed,
        }
    }

    /// As many keys as fill the slabs that fit the pages.
    fn memcached(&self, order: KeyOrder) -> MemcachedWorkload {
        let slabs = u64::from(self.pages / SLAB_PAGES);
        let per_slab = SlabLayout::of(1 << 24, MEMTIER_VALUE).map_or(0, |layout| layout.chunks_per_slab());
        MemcachedWorkload {
            keys: (slabs * per_slab).saturating_sub(1) as u32,
            value: MEMTIER_VALUE,
            memory: Bytes(slabs << 20),
            connections: MEMTIER_CONNECTIONS,
            pipeline: MEMTIER_PIPELINE,
            order,
            ratio: (1, 0),
            // More than enough: an operation makes at least one access.
            operations: self.accesses,
            seed: self.seed,
        }
    }
}

impl StreamSpec {
    /// What its pages are, where the stream itself says.
    pub fn own_kind(self) -> Option<RegionKind> {
        match self {
            StreamSpec::Mixed { .. }
            | StreamSpec::Memtier { .. }
            | StreamSpec::Usemem { .. }
            | StreamSpec::Guard { .. } => Some(RegionKind::Anon),
            StreamSpec::Pread2 { .. } => Some(RegionKind::Shmem),
            _ => None,
        }
    }

    /// What its pages are where nobody says.
    pub fn usual_kind(self) -> RegionKind {
        match self {
            StreamSpec::FioZipf { .. } => RegionKind::File,
            _ => self.own_kind().unwrap_or(RegionKind::Anon),
        }
    }

    fn least_pages(self) -> u32 {
        match self {
            StreamSpec::Mixed { .. } => 2,
            StreamSpec::Moving { phases } => phases,
            StreamSpec::FioZipf { jobs, .. } => 2 * jobs,
            StreamSpec::Usemem { tasks } => u32::from(tasks),
            _ => 1,
        }
    }
}

impl fmt::Display for StreamSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamSpec::Cyclic => f.write_str("cyclic"),
            StreamSpec::Sequential => f.write_str("sequential"),
            StreamSpec::Uniform => f.write_str("uniform"),
            StreamSpec::Zipf { exponent } => write!(f, "zipf:{exponent}"),
            StreamSpec::Mixed { exponent } => write!(f, "mixed:{exponent}"),
            StreamSpec::Moving { phases } => write!(f, "moving:{phases}"),
            StreamSpec::FioZipf { theta, jobs } => write!(f, "fio-zipf:{theta}:{jobs}"),
            StreamSpec::Memtier { order: KeyOrder::Parallel } => f.write_str("memtier:P:P"),
            StreamSpec::Memtier { order: KeyOrder::Random } => f.write_str("memtier:R:R"),
            StreamSpec::Usemem { tasks } => write!(f, "usemem:{tasks}"),
            StreamSpec::Pread2 { tasks } => write!(f, "pread2:{tasks}"),
            StreamSpec::Guard { name } => write!(f, "guard:{name}"),
        }
    }
}

impl FromStr for StreamSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let unknown = || {
            let guards: Vec<String> =
                guards(Pages(10), 1, 0).iter().map(|g| format!("guard:{}", g.name)).collect();
            let forms = SPEC_FORMS.iter().map(|(form, _)| (*form).to_owned());
            let forms = forms.filter(|form| !form.starts_with("guard")).chain(guards);
            SpecError::Unknown { text: text.to_owned(), known: forms.collect::<Vec<_>>().join(", ") }
        };
        let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        parse(name, rest).ok_or_else(unknown)
    }
}

fn parse(name: &str, rest: Option<&str>) -> Option<StreamSpec> {
    let positive = |text: &str| text.parse::<f64>().ok().filter(|v| *v > 0.0 && *v < 20.0);
    let whole = |text: &str| text.parse::<u16>().ok().filter(|n| *n > 0);
    Some(match (name, rest) {
        ("cyclic", None) => StreamSpec::Cyclic,
        ("sequential", None) => StreamSpec::Sequential,
        ("uniform", None) => StreamSpec::Uniform,
        ("zipf", Some(rest)) => StreamSpec::Zipf { exponent: positive(rest)? },
        ("mixed", Some(rest)) => StreamSpec::Mixed { exponent: positive(rest)? },
        ("moving", Some(rest)) => StreamSpec::Moving { phases: whole(rest)?.into() },
        ("fio-zipf", Some(rest)) => {
            let (theta, jobs) = rest.split_once(':').unwrap_or((rest, "1"));
            StreamSpec::FioZipf { theta: positive(theta)?, jobs: whole(jobs)?.into() }
        }
        ("memtier", None | Some("P:P")) => StreamSpec::Memtier { order: KeyOrder::Parallel },
        ("memtier", Some("R:R")) => StreamSpec::Memtier { order: KeyOrder::Random },
        ("usemem", rest) => StreamSpec::Usemem { tasks: whole(rest.unwrap_or("1"))? },
        ("pread2", rest) => StreamSpec::Pread2 { tasks: whole(rest.unwrap_or("104"))? },
        ("guard", Some(rest)) => {
            let name = guards(Pages(10), 1, 0).iter().map(|g| g.name).find(|name| *name == rest)?;
            StreamSpec::Guard { name }
        }
        _ => return None,
    })
}

/// A stream whose loads from memory are stores.
struct Written {
    stream: Box<dyn Stream>,
}

impl Stream for Written {
    fn regions(&self) -> &[Region] {
        self.stream.regions()
    }

    fn next_batch(&mut self, out: &mut Vec<Access>) -> usize {
        let before = out.len();
        let count = self.stream.next_batch(out);
        for access in out[before..].iter_mut().filter(|access| access.kind == AccessKind::MapRead) {
            access.kind = AccessKind::MapWrite;
        }
        count
    }
}

/// A stream that ends after so many accesses.
pub struct Limited {
    pub stream: Box<dyn Stream>,
    pub left: u64,
}

impl Stream for Limited {
    fn regions(&self) -> &[Region] {
        self.stream.regions()
    }

    fn next_batch(&mut self, out: &mut Vec<Access>) -> usize {
        if self.left == 0 {
            return 0;
        }
        let before = out.len();
        self.stream.next_batch(out);
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        out.truncate(before.saturating_add(most));
        let count = out.len() - before;
        self.left -= count as u64;
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str, accesses: u64) -> StreamRequest {
        let spec: StreamSpec = text.parse().expect("a stream");
        let kind = spec.usual_kind();
        StreamRequest { spec, kind, pages: 2048, accesses, write_percent: 0, seed: 5, memory: Pages(500) }
    }

    #[test]
    fn every_form_reads_back_and_gives_what_was_asked_for() {
        for text in [
            "cyclic",
            "uniform",
            "zipf:0.99",
            "moving:4",
            "mixed:0.9",
            "fio-zipf:0.5:16",
            "memtier:P:P",
            "memtier:R:R",
            "usemem:3",
            "pread2:104",
            "guard:cyclic-1.1",
            "guard:mixed-anon-file",
        ] {
            let request = request(text, 10_000);
            assert_eq!(request.spec.to_string(), text);
            let mut stream = request.build().expect("a stream");
            let mut out = Vec::new();
            while stream.next_batch(&mut out) > 0 {}
            // The mixed guard has a pass of its own length.
            let expected = if text == "guard:mixed-anon-file" { 8000 } else { 10_000 };
            assert_eq!(out.len(), expected, "{text}");
            let regions = stream.regions();
            let last = regions.last().expect("a region").end();
            assert!(out.iter().all(|a| a.page < last), "{text}");
            if let Some(kind) = request.spec.own_kind() {
                assert!(
                    text.starts_with("guard")
                        || text.starts_with("mixed")
                        || regions.iter().all(|r| r.kind == kind),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn a_sequential_pass_ends_by_itself() {
        let mut stream = request("sequential", 10_000).build().expect("a stream");
        let mut out = Vec::new();
        while stream.next_batch(&mut out) > 0 {}
        assert_eq!((out.len(), out[0].page, out[2047].page), (2048, 0, 2047));
    }

    #[test]
    fn memtier_fills_the_slabs_that_fit() {
        let stream = request("memtier", 1).build().expect("a stream");
        assert_eq!(stream.regions()[0].pages, 2048);
    }

    #[test]
    fn what_is_no_stream_is_told_with_what_is() {
        for text in ["zipf", "zipf:-1", "zipf:x", "memtier:Q:Q", "guard:x", "usemem:0", "cyclic:1", ""] {
            let error = text.parse::<StreamSpec>().expect_err(text).to_string();
            assert!(error.contains("zipf:S") && error.contains("guard:zipf-0.99"), "{error}");
        }
        let few = StreamRequest { pages: 16, ..request("fio-zipf:0.5:16", 1) }.build().err();
        assert!(few.expect("too few").to_string().contains("at least 32"));
        assert!(StreamRequest { pages: 200, ..request("memtier", 1) }.build().is_err());
    }
}
