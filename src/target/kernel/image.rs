//! What a kernel image is: its kind, its banner, its build id, its configuration.
//!
//! A UML kernel is an ELF program. An x86-64 `bzImage` carries its release in
//! the boot header (`Documentation/arch/x86/boot.rst`) and a compressed ELF
//! kernel as payload.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::elf::{Elf, MACHINE_X86_64};
use super::error::KernelError;
use crate::exec;
use crate::exec::Command;
use crate::host::kernel_config;
use crate::host::kernel_config::KernelConfig;
use crate::input;
use crate::units::Bytes;

/// How a kernel is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelKind {
    /// User-Mode Linux: a program of this host.
    Uml,
    /// A `bzImage` for a virtual or a real x86-64 machine.
    X86,
}

/// A kernel image and all that its file says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelImage {
    pub path: PathBuf,
    pub kind: KernelKind,
    /// As `uname -r` will say.
    pub release: String,
    /// As `uname -v` will say.
    pub version: String,
    /// Known when the kernel inside could be unpacked.
    pub build_id: Option<String>,
    /// From the image itself or from the `config-RELEASE` beside it.
    pub config: Option<KernelConfig>,
}

/// A kernel with all its debug information is smaller.
const LARGEST_IMAGE: Bytes = Bytes::gib(4);
/// What is packed inside an image, unpacked.
const LARGEST_PAYLOAD: u64 = 1 << 30;
const LONGEST: Duration = Duration::from_secs(60);

impl KernelImage {
    /// Reads an image.
    pub async fn read(path: &Path) -> Result<Self, KernelError> {
        let path = std::path::absolute(path).map_err(KernelError::io("find", path))?;
        let bytes = input::read(&path, LARGEST_IMAGE).map_err(KernelError::io("read", &path))?;
        let refuse = |seen: &str| KernelError::Image { path: path.clone(), seen: seen.to_owned() };
        if bytes.starts_with(b"\x7fELF") {
            let elf =
                Elf::parse(&bytes).ok_or_else(|| refuse("an ELF file that is damaged or not 64-bit"))?;
            if elf.machine() != MACHINE_X86_64 {
                return Err(refuse(&format!("an ELF file for machine type {}", elf.machine())));
            }
            if !is_program(&elf, &bytes) {
                return Err(refuse("a bare vmlinux, which no target boots; give its bzImage"));
            }
            let (release, version) = banner(&bytes).ok_or_else(|| refuse("a program that is no kernel"))?;
            let (build_id, config) = (elf.build_id(), kernel_config::embedded(&bytes));
            let config = config.or_else(|| config_beside(&path, &release));
            return Ok(KernelImage { path, kind: KernelKind::Uml, release, version, build_id, config });
        }
        if bytes.get(0x38..0x3c) == Some(b"ARM\x64") {
            return Err(refuse("an arm64 kernel image"));
        }
        let (release, version) =
            boot_header(&bytes).ok_or_else(|| refuse("neither a bzImage nor a UML kernel"))?;
        let inner = unpack_payload(&bytes).await;
        let build_id = inner.as_deref().and_then(Elf::parse).and_then(|elf| elf.build_id());
        let config =
            inner.as_deref().and_then(kernel_config::embedded).or_else(|| config_beside(&path, &release));
        Ok(KernelImage { path, kind: KernelKind::X86, release, version, build_id, config })
    }
}

/// Whether it runs as a program of this host, as UML does and vmlinux does not.
fn is_program(elf: &Elf<'_>, bytes: &[u8]) -> bool {
    // A statically linked UML has no interpreter; its own help text gives it away.
    elf.interpreter().is_some() || kernel_config::find(bytes, b"User Mode Linux").is_some()
}

/// Release and version in `Linux version R (builder) (compiler) #V`. Kernels also
/// hold a banner without its number, which the last link step replaces.
fn banner(bytes: &[u8]) -> Option<(String, String)> {
    let mark = b"Linux version ";
    let mut rest = bytes;
    loop {
        rest = &rest[kernel_config::find(rest, mark)? + mark.len()..];
        let end = rest.iter().take(600).position(|b| matches!(b, b'\n' | 0));
        let line = end.and_then(|end| std::str::from_utf8(&rest[..end]).ok());
        if let Some(line) = line.filter(|l| l.starts_with(|c: char| c.is_ascii_digit()))
            && let Some((release, _)) = line.split_once(' ')
            && let Some(at) = line.rfind(") #")
            && line[at + 3..].starts_with(|c: char| c.is_ascii_digit())
        {
            return Some((release.to_owned(), line[at + 2..].trim_end().to_owned()));
        }
    }
}

/// Release and version from the boot header of a `bzImage`.
fn boot_header(bytes: &[u8]) -> Option<(String, String)> {
    if bytes.get(0x202..0x206)? != b"HdrS" {
        return None;
    }
    let at = 0x200 + usize::from(u16::from_le_bytes([*bytes.get(0x20e)?, *bytes.get(0x20f)?]));
    let text = bytes.get(at..)?;
    let text = std::str::from_utf8(text.split(|b| *b == 0).next()?).ok()?;
    let (release, rest) = text.split_once(' ')?;
    let version = rest.find('#').map_or("", |at| &rest[at..]);
    Some((release.to_owned(), version.to_owned()))
}

/// The ELF kernel inside a `bzImage`; none when its packer is not installed.
async fn unpack_payload(bytes: &[u8]) -> Option<Vec<u8>> {
    let field = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    let start = (usize::from(*bytes.get(0x1f1)?) + 1) * 512 + field(0x248)?;
    let payload = bytes.get(start..start.checked_add(field(0x24c)?)?)?;
    let command = match payload {
        [0x1f, 0x8b, ..] => {
            let mut out = Vec::new();
            // The size appended to the stream ends it with an error.
            let _ = GzDecoder::new(payload).take(LARGEST_PAYLOAD).read_to_end(&mut out);
            return Some(out);
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Command::new("zstd").args(["-d", "-c", "-q"]),
        [0xfd, b'7', b'z', b'X', ..] => Command::new("xz").args(["--single-stream", "-d", "-c", "-q"]),
        [0x02, 0x21, 0x4c, 0x18, ..] => Command::new("lz4").args(["-d", "-c", "-q"]),
        _ => return None,
    };
    let command = Command {
        stdin: Some(payload.to_vec()),
        // Half of it is kept whole from the start, and no kernel is that large.
        output_limit: Bytes::gib(2),
        ..command.deadline(LONGEST)
    };
    let output = exec::run(&command, &CancellationToken::new()).await.ok()?;
    let out = output.stdout.bytes();
    out.starts_with(b"\x7fELF").then_some(out)
}

/// `config-RELEASE` or `config` in the image's folder.
fn config_beside(image: &Path, release: &str) -> Option<KernelConfig> {
    let folder = image.parent()?;
    let names = [format!("config-{release}"), "config".to_owned()];
    let text = names.iter().find_map(|name| std::fs::read_to_string(folder.join(name)).ok())?;
    let config = KernelConfig::parse(&text);
    (!config.is_empty()).then_some(config)
}

#[cfg(test)]
#[path = "image_tests.rs"]
mod tests;
