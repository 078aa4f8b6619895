//! QEMU guests: any `bzImage` on an initramfs of this host's own programs; with
//! KVM where it works, else emulated and good for functional checks only.

mod initramfs;
mod kvm;
mod module;
mod qemu;
mod target;

pub use qemu::Accelerator;
pub use target::VmTarget;
