//! Campaigns on an invented host that restarts when it is told to.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::store::TrialOutcome;
use crate::target::kernel::KernelKind;
use crate::target::seal::tests::spec;

/// Stands for `run-bench`: leaves a record that was made beforehand, as the kernel would tell.
const PROGRAM: &str = r#"#!/bin/sh
root=ROOT
while [ $# -gt 0 ]; do [ "$1" = --out ] && out=$2; shift; done
sed "s/RELEASE/$(cat $root/proc/sys/kernel/osrelease)/" $root/record.json > "$out/record.json"
"#;

struct Host {
    keep: tempfile::TempDir,
    places: BootPlaces,
    boots: u32,
}

impl Host {
    fn new() -> Self {
        let keep = tempfile::tempdir().unwrap();
        let path = |name: &str| keep.path().join(name);
        for folder in ["bin", "boot/grub", "proc/sys/kernel/random"] {
            std::fs::create_dir_all(path(folder)).unwrap();
        }
        let entries: String = ["a", "b"]
            .map(|k| format!("menuentry 'K' --id '{k}' {{\nlinux /vmlinuz-9.9.9-{k} panic=10\n}}\n"))
            .concat();
        std::fs::write(path("boot/grub/grub.cfg"), format!("next_entry\n{entries}")).unwrap();
        let log = path("commands");
        let script = format!("#!/bin/sh\necho \"${{0##*/}} $*\" >> {}\n", log.display());
        let program = PROGRAM.replace("ROOT", &keep.path().display().to_string());
        for (name, text) in [
            ("grub-reboot", &script),
            ("grub-editenv", &script),
            ("systemctl", &script),
            ("run-bench", &program),
        ] {
            std::fs::write(path("bin").join(name), text).unwrap();
            std::fs::set_permissions(path("bin").join(name), PermissionsExt::from_mode(0o755)).unwrap();
        }
        let places = BootPlaces {
            root: SysRoot::at(keep.path()),
            tools: Tools::in_folders([path("bin")]),
            program: path("bin/run-bench"),
        };
        let mut host = Host { places, keep, boots: 0 };
        host.boot("9.9.9-good");
        host.prepare_record();
        host
    }

    /// What the trial's process leaves, with the release to be filled in.
    fn prepare_record(&self) {
        let folder = TrialFolder::at(&self.keep.path().join("model")).unwrap();
        seal::write_failure(&folder, &spec("n"), "host", TrialOutcome::Valid, &Stamp::default()).unwrap();
        let mut record = folder.record().unwrap();
        record.kernel.release = "RELEASE".to_owned();
        folder.write_record(&record).unwrap();
        std::fs::rename(folder.path().join("record.json"), self.keep.path().join("record.json")).unwrap();
    }

    /// The host wakes up with this kernel.
    fn boot(&mut self, release: &str) {
        self.boots += 1;
        let kernel = self.keep.path().join("proc/sys/kernel");
        std::fs::write(kernel.join("osrelease"), release).unwrap();
        std::fs::write(kernel.join("random/boot_id"), format!("boot-{}", self.boots)).unwrap();
    }

    fn target(&self, arm: &str) -> BootTarget {
        let image = KernelImage {
            path: format!("/boot/vmlinuz-9.9.9-{arm}").into(),
            kind: KernelKind::X86,
            release: format!("9.9.9-{arm}"),
            version: String::new(),
            build_id: None,
            config: None,
        };
        BootTarget::new(image, &TargetSection::default(), None, self.places.clone()).unwrap()
    }

    /// What `run-bench run` does for the trial that is next.
    async fn trial(&self, arm: &str, number: u32) -> Result<TrialStatus, TargetError> {
        let mut spec = spec("n");
        (spec.id.arm, spec.id.position) = (arm.to_owned(), number);
        let path = self.keep.path().join("campaign/trials").join(spec.id.to_string());
        let folder = TrialFolder::at(&path).unwrap();
        let host = HostTarget::with_executable(self.places.program.clone());
        self.target(arm).run_trial(&host, &spec, &folder, &CancellationToken::new()).await
    }

    /// The commands since the last call.
    fn commands(&self) -> Vec<String> {
        let path = self.keep.path().join("commands");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let _ = std::fs::remove_file(path);
        text.lines().map(str::to_owned).collect()
    }

    fn unit(&self) -> bool {
        self.places.root.exists("/etc/systemd/system/run-bench-resume.service")
    }
}

#[tokio::test]
async fn two_kernels_take_turns_over_reboots() {
    let mut host = Host::new();
    for (number, arm) in ["a", "b", "b", "a"].into_iter().enumerate() {
        let number = number as u32;
        assert_eq!(host.trial(arm, number).await.unwrap(), TrialStatus::Interrupted);
        assert_eq!(host.commands(), [format!("grub-reboot {arm}"), "systemctl reboot".to_owned()]);
        host.places.settle().unwrap();
        assert!(host.unit(), "the next boot resumes");
        host.boot(&format!("9.9.9-{arm}"));
        assert_eq!(host.trial(arm, number).await.unwrap(), TrialStatus::Valid);
        assert!(host.commands().is_empty());
    }
    let state = host.places.load().unwrap().unwrap();
    assert_eq!(state.known_good, "9.9.9-good");
    assert_eq!(state.log.iter().filter(|line| line.starts_with("ran ")).count(), 4, "{:?}", state.log);
    host.places.settle().unwrap();
    assert!(!host.unit() && host.places.load().unwrap().is_none());
}

#[tokio::test]
async fn a_kernel_that_panics_at_boot_ends_the_campaign_and_nothing_resumes() {
    let mut host = Host::new();
    let error = loop {
        match host.trial("a", 0).await {
            // One-shot: the host comes back with its default.
            Ok(status) => assert_eq!(status, TrialStatus::Interrupted),
            Err(error) => break error.to_string(),
        }
        host.boot("9.9.9-good");
        assert!(host.boots < 20);
    };
    assert!(error.contains("9.9.9-a") && error.contains("3 boots"), "{error}");
    assert!(!host.unit() && host.places.load().unwrap().is_none());
}

#[tokio::test]
async fn a_trial_that_takes_the_kernel_down_gets_a_new_boot() {
    let mut host = Host::new();
    host.trial("a", 0).await.unwrap();
    host.boot("9.9.9-a");
    // As the process leaves it that dies with the kernel: begun, not ended.
    let mut state = host.places.load().unwrap().unwrap();
    state.arrive(&KernelIdentity::running(&host.places.root));
    state.begin_trial();
    host.places.save(&state).unwrap();
    host.boot("9.9.9-good");
    host.commands();
    assert_eq!(host.trial("a", 0).await.unwrap(), TrialStatus::Interrupted);
    assert_eq!(host.commands()[0], "grub-reboot a");
    host.boot("9.9.9-a");
    assert_eq!(host.trial("a", 0).await.unwrap(), TrialStatus::Valid);
}

#[tokio::test]
async fn a_restart_that_is_refused_leaves_nothing_armed() {
    let host = Host::new();
    let program = host.keep.path().join("bin/systemctl");
    std::fs::write(&program, "#!/bin/sh\necho 'no such luck' >&2; exit 1\n").unwrap();
    let error = host.trial("a", 0).await.unwrap_err().to_string();
    assert!(error.contains("systemctl failed: no such luck"), "{error}");
    assert!(!host.unit() && host.places.load().unwrap().is_none());
    assert_eq!(host.commands(), ["grub-reboot a", "grub-editenv - unset next_entry"]);
}

#[tokio::test]
async fn clean_takes_back_what_a_killed_campaign_armed() {
    let host = Host::new();
    assert!(!host.places.clean().await.unwrap(), "nothing is armed yet");
    host.trial("a", 0).await.unwrap();
    assert!(host.unit());
    host.commands();
    assert!(host.places.clean().await.unwrap());
    assert_eq!(host.commands(), ["grub-editenv - unset next_entry"]);
    assert!(!host.unit() && host.places.load().unwrap().is_none());
}

#[tokio::test]
async fn the_state_of_another_campaign_is_not_touched() {
    let host = Host::new();
    let running = KernelIdentity::running(&host.places.root);
    host.places.save(&BootState::new("/elsewhere".into(), &running)).unwrap();
    let error = host.trial("a", 0).await.unwrap_err().to_string();
    assert!(error.contains("/elsewhere"), "{error}");
    assert!(host.places.load().unwrap().is_some());
}
