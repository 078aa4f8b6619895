//! Images made by hand, and the real ones of this machine where there are any.

use super::*;

const BANNER: &[u8] =
    b"\0Linux version %s\0Linux version 9.9.9-inv (me@here) (cc) # \n\0Linux version 9.9.9-inv (me@here) (cc (Invented 1) 2.0, ld 3) #7 SMP Mon Jan 1\n\0";

/// A `bzImage` with the given payload.
fn bz_image(payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 0x400];
    bytes[0x1f1] = 1;
    bytes[0x202..0x206].copy_from_slice(b"HdrS");
    bytes[0x20e..0x210].copy_from_slice(&0x100u16.to_le_bytes());
    let version = b"9.9.9-inv (me@here) #7 SMP Mon Jan 1\0";
    bytes[0x300..0x300 + version.len()].copy_from_slice(version);
    bytes[0x24c..0x250].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

async fn read(bytes: &[u8]) -> Result<KernelImage, KernelError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vmlinuz");
    std::fs::write(&path, bytes).unwrap();
    std::fs::write(folder.path().join("config-9.9.9-inv"), "CONFIG_HZ=250\n").unwrap();
    KernelImage::read(&path).await
}

#[test]
fn the_banner_is_told_from_its_format() {
    let expected = Some(("9.9.9-inv".to_owned(), "#7 SMP Mon Jan 1".to_owned()));
    assert_eq!(banner(BANNER), expected);
    assert_eq!(banner(b"Linux version of nothing"), None);
}

#[tokio::test]
async fn a_boot_header_is_read_and_the_config_beside_it() {
    let image = read(&bz_image(b"packed in a way we do not know")).await.unwrap();
    assert_eq!((image.kind, image.release.as_str()), (KernelKind::X86, "9.9.9-inv"));
    assert_eq!(image.version, "#7 SMP Mon Jan 1");
    assert_eq!(image.build_id, None);
    assert_eq!(image.config.unwrap().value("HZ"), "250");
}

#[tokio::test]
async fn images_for_others_are_refused_by_what_they_are() {
    let mut arm = vec![0; 64];
    arm[0x38..0x3c].copy_from_slice(b"ARM\x64");
    let mut elf = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let own_is_no_kernel = read(b"#!/bin/sh\n").await.unwrap_err();
    assert!(
        own_is_no_kernel.to_string().contains("neither a bzImage nor a UML kernel"),
        "{own_is_no_kernel}"
    );
    assert!(read(&arm).await.unwrap_err().to_string().contains("arm64"));
    elf[18] = 183;
    assert!(read(&elf).await.unwrap_err().to_string().contains("machine type 183"));
    assert!(read(&elf[..40]).await.unwrap_err().to_string().contains("damaged"));
}
