//! Which kernel and which machine this is, from the running system alone.

use sha2::{Digest, Sha256};

use crate::host::SysRoot;
use crate::store::KernelIdentity;
use crate::units::hex;

/// The kernel that runs now.
pub fn kernel_identity(root: &SysRoot) -> KernelIdentity {
    KernelIdentity::running(root)
}

/// A name that stays the same over boots: hashed, so that it tells nothing else.
pub fn stable_host_name(root: &SysRoot) -> String {
    let id = root.value("/etc/machine-id").filter(|id| !id.is_empty());
    let id = id.or_else(|| root.value("/sys/class/dmi/id/product_uuid"));
    let model = root.read("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("model name"))?;
        line.split_once(':').map(|(_, model)| model.trim().to_owned())
    });
    let model = model.unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    match id {
        Some(id) => format!("{model} ({})", &hex(&Sha256::digest(id.trim().as_bytes()))[..8]),
        None => model,
    }
}
