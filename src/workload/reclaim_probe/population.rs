//! What the cgroup is filled with, and in which frames it lies.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::path::PathBuf;

use rand::RngExt;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::Advice as FileAdvice;

use crate::config::workload::Population;
use crate::host::syscall::Advice;
use crate::host::syscall::Backing;
use crate::host::syscall::Mapping;
use crate::units::PAGE_SIZE;
use crate::units::Pages;
use crate::workload::builtin::DriverFault;

const PAGE: usize = PAGE_SIZE as usize;
const LINE: usize = 64;
/// Clears the accessed bits of this process's pages: "1" is for all of them.
const CLEAR_REFS: &str = "/proc/self/clear_refs";
/// The frame number in an entry of `/proc/self/pagemap`, and its mark of presence.
const FRAME: u64 = (1 << 55) - 1;
const PRESENT: u64 = 1 << 63;

/// How a population is built.
#[derive(Debug, Clone)]
pub(super) struct Recipe {
    pub(super) kind: Population,
    pub(super) pages: Pages,
    /// The file of the file kinds.
    pub(super) file: PathBuf,
    /// Share of pages touched again.
    pub(super) referenced: f64,
    pub(super) seed: u64,
}

/// A population; freed when dropped.
#[derive(Debug)]
pub(super) struct Filled {
    memory: Option<Mapping>,
    file: Option<File>,
}

impl Drop for Filled {
    fn drop(&mut self) {
        self.memory = None;
        if let Some(file) = &self.file {
            // Advice only; what stays is dropped again before the next fill.
            let _ = rustix::fs::fadvise(file, 0, None, FileAdvice::DontNeed);
        }
    }
}

impl Recipe {
    /// Fills the cgroup of this process, page after page.
    pub(super) fn fill(&self) -> Result<Filled, DriverFault> {
        let filled = match self.kind {
            Population::CleanFile => self.read_file()?,
            Population::DirtyAnon => self.write_anon()?,
            Population::MappedFile => self.map_file()?,
        };
        Ok(filled)
    }

    fn open(&self) -> Result<File, DriverFault> {
        let file = File::open(&self.file).map_err(DriverFault::file("open", &self.file))?;
        for advice in [FileAdvice::DontNeed, FileAdvice::Random] {
            rustix::fs::fadvise(&file, 0, None, advice).map_err(DriverFault::call("advise on the file"))?;
        }
        Ok(file)
    }

    fn read_file(&self) -> Result<Filled, DriverFault> {
        let file = self.open()?;
        let mut page = [0; PAGE];
        let mut read = |number: u64| {
            file.read_exact_at(&mut page, number * PAGE_SIZE).map_err(DriverFault::file("read", &self.file))
        };
        (0..self.pages.0).try_for_each(&mut read)?;
        self.again().try_for_each(&mut read)?;
        Ok(Filled { memory: None, file: Some(file) })
    }

    fn write_anon(&self) -> Result<Filled, DriverFault> {
        let memory = Mapping::new(self.pages.to_bytes(), Backing::Anonymous)
            .map_err(DriverFault::call("map the population"))?;
        memory
            .advise(0, memory.length(), Advice::NoHugePage)
            .map_err(DriverFault::call("keep the population in small pages"))?;
        let mut value = self.seed | 1;
        for line in (0..memory.length()).step_by(LINE) {
            // No page is zero or like another: the kernel treats such pages apart.
            value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            memory.store(line, value);
        }
        clear_references()?;
        for number in self.again() {
            memory.store(number as usize * PAGE, value);
        }
        Ok(Filled { memory: Some(memory), file: None })
    }

    fn map_file(&self) -> Result<Filled, DriverFault> {
        let file = self.open()?;
        let memory = Mapping::new(self.pages.to_bytes(), Backing::ReadOnlyFile(&file))
            .map_err(DriverFault::call("map the file"))?;
        memory
            .advise(0, memory.length(), Advice::Random)
            .map_err(DriverFault::call("advise on the mapping"))?;
        for offset in (0..memory.length()).step_by(PAGE) {
            memory.load(offset);
        }
        clear_references()?;
        for number in self.again() {
            memory.load(number as usize * PAGE);
        }
        Ok(Filled { memory: Some(memory), file: Some(file) })
    }

    /// The pages that are touched again, in ascending order.
    fn again(&self) -> impl Iterator<Item = u64> + use<> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let share = self.referenced;
        (0..self.pages.0).filter(move |_| rng.random_bool(share))
    }
}

/// A first touch leaves the accessed bit set; the population begins without.
fn clear_references() -> Result<(), DriverFault> {
    std::fs::write(CLEAR_REFS, "1").map_err(DriverFault::file("write", Path::new(CLEAR_REFS)))
}

impl Filled {
    /// The share of pages whose predecessor on the list lies in the frame before it;
    /// none where frame numbers are hidden (they need CAP_SYS_ADMIN).
    pub(super) fn adjacent_share(&self, pages: Pages) -> Result<Option<f64>, DriverFault> {
        let mapped;
        let memory = match (&self.memory, &self.file) {
            (Some(memory), _) => memory,
            (None, Some(file)) => {
                mapped = Mapping::new(pages.to_bytes(), Backing::ReadOnlyFile(file))
                    .map_err(DriverFault::call("map the file"))?;
                for offset in (0..mapped.length()).step_by(PAGE) {
                    mapped.load(offset);
                }
                &mapped
            }
            (None, None) => return Ok(None),
        };
        let path = Path::new("/proc/self/pagemap");
        let pagemap = File::open(path).map_err(DriverFault::file("open", path))?;
        let mut entries = vec![0; pages.0 as usize * 8];
        let start = (memory.address() / PAGE * 8) as u64;
        pagemap.read_exact_at(&mut entries, start).map_err(DriverFault::file("read", path))?;
        let entries = entries.chunks_exact(8).map(|b| u64::from_ne_bytes(b.try_into().expect("8 bytes")));
        let frames: Vec<u64> = entries.filter(|e| e & PRESENT != 0).map(|e| e & FRAME).collect();
        if frames.len() < 2 || frames.iter().all(|frame| *frame == 0) {
            return Ok(None);
        }
        let adjacent = frames.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        Ok(Some(adjacent as f64 / (frames.len() - 1) as f64))
    }
}
