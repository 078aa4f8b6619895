//! Kernels as arms: what an image is, how one is built, where it is kept.

mod config;
mod elf;
mod error;
mod image;

pub use config::{ConfigDifference, KernelConfig, unpack_gzip};
pub use elf::build_id_in_notes;
pub use error::KernelError;
pub use image::{KernelImage, KernelKind};
