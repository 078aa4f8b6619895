//! Kernels as arms: what an image is, how one is built, where it is kept.

mod apply;
mod build;
mod cache;
mod diff;
mod elf;
mod error;
mod image;
mod layout;
mod mail;
mod overlay;
mod resolve;
mod source;

pub use build::{BuildRequest, BuildStep, build};
pub use cache::{BuiltKernel, CACHE_VARIABLE, CachedKernel, KernelCache};
pub use diff::{FileChange, Hunk, Line, parse as parse_diff};
pub(super) use elf::{elf_interpreter, elf_section};
pub use error::KernelError;
pub use image::{KernelImage, KernelKind};
pub use layout::Layout;
pub use resolve::{KernelName, KernelPlaces};
