//! What the microbenchmarks need from the machine: memory with a chosen page
//! size, prefetch for writing, page protection. The only `unsafe` of this module.

#![expect(unsafe_code, reason = "mappings and prefetch; each block says why it is sound")]

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::AtomicU64;

use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags};

/// One cache line with the fields of `struct page` that reclaim touches: flags,
/// list links and reference count share the line. Valid for any bytes.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Record {
    pub flags: AtomicU64,
    /// Towards the tail: the older neighbour.
    pub next: u32,
    /// Towards the head of the list: what a scan from the tail looks at next.
    pub prev: u32,
    pub index: u64,
    pub private: u64,
    pub mapping: AtomicU64,
    pub refcount: AtomicU32,
    pub order: u32,
    pub memcg: u64,
    pub spare: u64,
}

const _: () = assert!(size_of::<Record>() == 64);

/// Which pages back a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageSize {
    /// 4 KiB.
    Small,
    /// 2 MiB, as far as the kernel gives them.
    Huge,
}

const HUGE: usize = 2 << 20;

/// Private anonymous memory, zeroed.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<c_void>,
    mapped: usize,
    /// Where the usable part begins: aligned to a huge page.
    start: usize,
    length: usize,
}

// SAFETY: the mapping is owned memory without interior aliases; access goes
// through `&self` and `&mut self`.
unsafe impl Send for Mapping {}
// SAFETY: shared access is read only, or through atomics.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub fn new(length: usize, pages: PageSize) -> io::Result<Self> {
        let length = length.max(4096).next_multiple_of(4096);
        let mapped = length + HUGE;
        // SAFETY: a new private mapping at an address that the kernel chooses.
        let base = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                mapped,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        }?;
        let base = NonNull::new(base).ok_or_else(|| io::Error::other("a mapping at address zero"))?;
        let start = (base.as_ptr() as usize).next_multiple_of(HUGE) - base.as_ptr() as usize;
        let mapping = Mapping { base, mapped, start, length };
        let advice = match pages {
            PageSize::Small => Advice::LinuxNoHugepage,
            PageSize::Huge => Advice::LinuxHugepage,
        };
        // A kernel without huge pages refuses; the mapping serves all the same.
        let _ = mapping.advise(advice);
        Ok(mapping)
    }

    fn pointer(&self) -> *mut u8 {
        // SAFETY: `start` is below the mapped length.
        unsafe { self.base.as_ptr().cast::<u8>().add(self.start) }
    }

    fn advise(&self, advice: Advice) -> io::Result<()> {
        // SAFETY: the range is this mapping's own; only advice that keeps contents
        // or, by `discard`, is made under exclusive access.
        unsafe { rustix::mm::madvise(self.pointer().cast(), self.length, advice) }?;
        Ok(())
    }

    /// Gives the pages back; the next touch of each faults and finds zeros.
    pub fn discard(&mut self) -> io::Result<()> {
        self.advise(Advice::LinuxDontNeed)
    }

    /// Makes the first page read-only and writable again: two changes of a page
    /// table entry, one of which needs a flush. The contents stay.
    pub fn protect_and_restore(&mut self) -> io::Result<()> {
        for flags in [MprotectFlags::READ, MprotectFlags::READ | MprotectFlags::WRITE] {
            // SAFETY: exclusive access; the page is writable again before it is used.
            unsafe { rustix::mm::mprotect(self.pointer().cast(), 4096, flags) }?;
        }
        Ok(())
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `length` bytes of initialised (zeroed) memory, owned by the mapping.
        unsafe { std::slice::from_raw_parts(self.pointer(), self.length) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, under exclusive access.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(), self.length) }
    }

    pub fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: aligned to a page, any bytes are valid, exclusive access.
        unsafe { std::slice::from_raw_parts_mut(self.pointer().cast(), self.length / 8) }
    }

    pub fn records(&self) -> &[Record] {
        // SAFETY: aligned to a page, and any bytes are valid records.
        unsafe { std::slice::from_raw_parts(self.pointer().cast(), self.length / 64) }
    }

    pub fn records_mut(&mut self) -> &mut [Record] {
        // SAFETY: as in `records`, under exclusive access.
        unsafe { std::slice::from_raw_parts_mut(self.pointer().cast(), self.length / 64) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: no reference outlives the mapping; the range is the one mapped.
        let unmapped = unsafe { rustix::mm::munmap(self.base.as_ptr(), self.mapped) };
        debug_assert!(unmapped.is_ok());
    }
}

/// `prefetchw` of the line that holds `target`; nothing where the processor's
/// instruction is not known.
#[inline(always)]
pub fn prefetch_for_write<T>(target: &T) {
    let pointer = std::ptr::from_ref(target);
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a prefetch never faults and changes no state that Rust sees.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(pointer.cast()) }
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: as above.
        unsafe {
            std::arch::asm!("prfm pstl1keep, [{0}]", in(reg) pointer, options(nostack, preserves_flags))
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    std::hint::black_box(pointer);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_zero_aligned_and_give_pages_back() {
        for pages in [PageSize::Small, PageSize::Huge] {
            let mut mapping = Mapping::new(3 << 20, pages).expect("memory");
            assert_eq!(mapping.records().len(), (3 << 20) / 64);
            assert_eq!(mapping.bytes().as_ptr() as usize % HUGE, 0);
            mapping.records_mut()[7].prev = 9;
            prefetch_for_write(&mapping.records()[7]);
            mapping.protect_and_restore().expect("protection");
            assert_eq!(mapping.records()[7].prev, 9);
            mapping.discard().expect("discarded");
            assert!(mapping.bytes().iter().all(|byte| *byte == 0));
        }
    }
}
