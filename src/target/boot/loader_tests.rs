//! Loaders of invented hosts.

use std::os::unix::fs::PermissionsExt;

use super::*;

/// As update-grub writes it, shortened.
const GRUB: &str = r#"
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
fi
function load_video {
  insmod all_video
}
menuentry 'Inventix' --class gnu-linux $menuentry_id_option 'gnulinux-simple-ab' {
	linux	/vmlinuz-9.9.9-known root=/dev/x ro quiet
}
submenu 'Advanced options' $menuentry_id_option 'gnulinux-advanced-ab' {
	menuentry 'Inventix, with Linux 9.9.9-a' $menuentry_id_option 'gnulinux-9.9.9-a-advanced-ab' {
		if [ x$grub_platform = xxen ]; then
			insmod xzio
		fi
		linux	/vmlinuz-9.9.9-a root=/dev/x ro quiet panic=10
		initrd	/initrd.img-9.9.9-a
	}
	menuentry 'Inventix, recovery' $menuentry_id_option 'gnulinux-9.9.9-b-recovery-ab' {
		linux	/vmlinuz-9.9.9-b root=/dev/x ro single panic=10
	}
	menuentry "By title alone" {
		linux	/vmlinuz-9.9.9-b root=/dev/x ro panic=10
	}
}
"#;

struct Host {
    _keep: tempfile::TempDir,
    root: SysRoot,
    tools: Tools,
}

fn host(files: &[(&str, &str)], programs: &[&str]) -> Host {
    let keep = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = keep.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let bin = keep.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for program in programs {
        std::fs::write(bin.join(program), "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(bin.join(program), PermissionsExt::from_mode(0o755)).unwrap();
    }
    Host { root: SysRoot::at(keep.path()), tools: Tools::in_folders([bin]), _keep: keep }
}

fn once(host: &Host, image: &str, release: &str, arguments: Option<&str>) -> Result<Vec<String>, BootError> {
    let loader = Loader::find(&host.root, &host.tools)?;
    let commands = loader.once(&host.root, Path::new(image), release, arguments)?;
    Ok(commands.into_iter().map(|words| words.join(" ")).collect())
}

#[test]
fn grub_boots_the_entry_of_the_image_once() {
    let host = host(&[("/boot/grub/grub.cfg", GRUB)], &["grub-reboot"]);
    assert_eq!(
        once(&host, "/boot/vmlinuz-9.9.9-a", "9.9.9-a", None).unwrap(),
        ["grub-reboot gnulinux-advanced-ab>gnulinux-9.9.9-a-advanced-ab", "systemctl reboot"]
    );
    let second = once(&host, "/boot/vmlinuz-9.9.9-b", "9.9.9-b", None).unwrap();
    assert_eq!(second[0], "grub-reboot gnulinux-advanced-ab>By title alone", "not the recovery entry");
}

#[test]
fn an_entry_that_would_stay_dead_is_refused() {
    let host = host(&[("/boot/grub/grub.cfg", GRUB)], &["grub-reboot"]);
    let error = once(&host, "/boot/vmlinuz-9.9.9-known", "9.9.9-known", None).unwrap_err().to_string();
    assert!(error.contains("gnulinux-simple-ab") && error.contains("panic=10"), "{error}");
    let error = once(&host, "/boot/vmlinuz-8", "8", None).unwrap_err().to_string();
    assert!(error.contains("no boot entry for /boot/vmlinuz-8"), "{error}");
}

#[test]
fn a_grub_that_does_not_know_grub_reboot_is_refused() {
    let text = GRUB.replace("next_entry", "other");
    let host = host(&[("/boot/grub/grub.cfg", &text)], &["grub-reboot"]);
    let error = once(&host, "/boot/vmlinuz-9.9.9-a", "9.9.9-a", None).unwrap_err().to_string();
    assert!(error.contains("GRUB_DEFAULT=saved"), "{error}");
}

#[test]
fn systemd_boot_is_found_by_release_or_image() {
    let a = "title A\nversion 9.9.9-a\nlinux /ab/9.9.9-a/linux\noptions root=/dev/x panic=10\n";
    let b = "title B\nlinux /vmlinuz-b\noptions root=/dev/x\n";
    let files = [("/boot/loader/entries/a.conf", a), ("/boot/loader/entries/b.conf", b)];
    let host = host(&files, &["bootctl", "grub-reboot"]);
    let commands = once(&host, "/boot/ab/9.9.9-a/linux", "9.9.9-a", None).unwrap();
    assert_eq!(commands, ["bootctl set-oneshot a.conf", "systemctl reboot"]);
    assert!(matches!(once(&host, "/boot/vmlinuz-b", "b", None), Err(BootError::NoFallback { .. })));
}

#[test]
fn kexec_brings_initrd_fallback_and_arguments() {
    let line = "BOOT_IMAGE=/vmlinuz-9 root=/dev/x ro\n";
    let host = host(&[("/proc/cmdline", line), ("/boot/initrd.img-9.9.9-a", "")], &["kexec"]);
    let commands = once(&host, "/boot/vmlinuz-9.9.9-a", "9.9.9-a", Some("mitigations=off")).unwrap();
    assert_eq!(
        commands,
        [
            "kexec --load /boot/vmlinuz-9.9.9-a --initrd=/boot/initrd.img-9.9.9-a \
             --command-line=root=/dev/x ro panic=10 mitigations=off",
            "systemctl kexec"
        ]
    );
}

#[test]
fn a_host_without_any_says_what_to_install() {
    let host = host(&[("/boot/grub/grub.cfg", GRUB)], &[]);
    assert!(once(&host, "/x", "x", None).unwrap_err().to_string().contains("kexec-tools"));
}
