//! Fake guests: shell scripts that print what a console would.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::super::parcel::Packer;
use super::super::protocol;
use super::super::protocol::{JobEnd, SCHEMA};
use super::super::run::{Boot, Launch, run};
use super::*;

const SHORT: Limits = Limits {
    boot: Duration::from_secs(5),
    job: Duration::from_secs(5),
    power_off: Duration::from_millis(300),
    dying: Duration::from_millis(300),
};

/// A script with `mark STAGE` and `deliver` at its disposal.
async fn boot(script: &str, limits: Limits) -> Boot {
    let folder = tempfile::tempdir().unwrap();
    parcel_of(folder.path(), "n1");
    let program = folder.path().join("guest");
    let text = format!(
        "#!/bin/sh\nmark() {{ echo \"run-bench guest n1 $1\"; }}\n\
         deliver() {{ mv {0}/ready {0}/parcel; mark delivered; }}\n\
         echo '[    0.000000] Linux version 9.9.9-invented'\n{script}\n",
        folder.path().display()
    );
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = Command::new(&program);
    command.output_limit = crate::units::Bytes::kib(256);
    let launch = Launch { command, nonce: "n1".to_owned(), limits, parcel: folder.path().join("parcel") };
    run(&launch, &CancellationToken::new()).await.unwrap()
}

/// A parcel that the script moves to where it is looked for.
fn parcel_of(folder: &Path, nonce: &str) {
    let end = JobEnd {
        schema: SCHEMA,
        nonce: nonce.to_owned(),
        exit: Some(0),
        problem: None,
        init_at: Nanos(1),
        job_at: Nanos(2),
        ended_at: Nanos(3),
    };
    let mut packer = Packer::default();
    packer.file(protocol::END, serde_json::to_vec(&end).unwrap());
    packer.deliver(nonce, &folder.join("ready")).unwrap();
}

fn failure(boot: Boot) -> (Stage, String) {
    let failure = boot.delivery.expect_err("no delivery");
    (failure.stage, failure.to_string())
}

#[tokio::test]
async fn a_guest_that_does_its_work_delivers() {
    let boot = boot("mark init; mark ready; mark job; mark ended; deliver", SHORT).await;
    assert_eq!(boot.delivery.unwrap().end.job_at, Nanos(2));
    assert!(boot.remarks.is_empty(), "{:?}", boot.remarks);
}

#[tokio::test]
async fn a_panic_at_boot_is_told_as_one() {
    let (stage, text) =
        failure(boot("echo '[    0.5] Kernel panic - not syncing: VFS: no root'; exit 134", SHORT).await);
    assert_eq!(stage, Stage::Kernel);
    assert!(text.contains("while its kernel booted: Kernel panic - not syncing: VFS: no root"), "{text}");
}

#[tokio::test]
async fn a_panic_in_mid_trial_that_does_not_end_is_ended() {
    let script = "mark init; mark ready; mark job; echo 'Kernel panic - not syncing: x'; exec sleep 60";
    let (stage, text) = failure(boot(script, SHORT).await);
    assert_eq!(stage, Stage::Job);
    assert!(text.contains("while the trial ran: Kernel panic"), "{text}");
}

#[tokio::test]
async fn a_panic_at_power_off_costs_no_results() {
    let script = "mark init; mark job; mark ended; deliver; echo 'Kernel panic - not syncing: late'; exit 1";
    let boot = boot(script, SHORT).await;
    assert!(boot.delivery.is_ok());
    assert!(boot.remarks[0].contains("at power-off, with the results delivered"), "{:?}", boot.remarks);
}

#[tokio::test]
async fn a_hang_at_power_off_costs_no_results() {
    let boot = boot("mark init; mark job; mark ended; deliver; exec sleep 60", SHORT).await;
    assert!(boot.delivery.is_ok());
    assert!(boot.remarks[0].contains("hung at power-off"), "{:?}", boot.remarks);
}

#[tokio::test]
async fn a_hang_is_told_with_its_stage() {
    let limits = Limits { boot: Duration::from_millis(300), ..SHORT };
    let (stage, text) = failure(boot("mark init; exec sleep 60", limits).await);
    assert_eq!((stage, text.contains("hung while its init set things up")), (Stage::Init, true), "{text}");
    let limits = Limits { job: Duration::from_millis(300), ..SHORT };
    let (stage, text) = failure(boot("mark init; mark ready; mark job; exec sleep 60", limits).await);
    assert_eq!((stage, text.contains("hung while the trial ran")), (Stage::Job, true), "{text}");
}

#[tokio::test]
async fn a_flooding_console_is_bounded_and_still_read() {
    let script = "mark init; mark ready; mark job; yes 'a line of noise on the console' | head -c 20000000; mark ended; deliver";
    let boot = boot(script, Limits { job: Duration::from_secs(60), ..SHORT }).await;
    assert!(boot.delivery.is_ok(), "{:?}", boot.delivery);
    assert!(boot.guest.console.bytes().len() < 300_000);
    assert!(boot.guest.console.dropped() > 19_000_000);
}

#[tokio::test]
async fn status_0_without_a_delivery_is_no_success() {
    let (stage, text) = failure(boot("mark init; mark ready; mark job; exit 0", SHORT).await);
    assert_eq!((stage, text.contains("said nothing")), (Stage::Job, true), "{text}");
    let script = "mark init; mark ready; mark job; mark ended; mark delivered";
    let (stage, text) = failure(boot(script, SHORT).await);
    assert_eq!(stage, Stage::Delivered);
    assert!(text.contains("delivered nothing"), "{text}");
}

#[tokio::test]
async fn a_full_shared_folder_is_told_in_inits_own_words() {
    let script = "mark init; mark ready; mark job; mark ended; \
                  echo 'run-bench guest failed: cannot deliver the results: No space left on device'";
    let (stage, text) = failure(boot(script, SHORT).await);
    assert_eq!(stage, Stage::Ended);
    assert!(text.ends_with("No space left on device"), "{text}");
}

#[tokio::test]
async fn a_machine_that_does_not_start_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("guest");
    std::fs::write(&program, "#!/bin/sh\necho 'cannot allocate guest memory' >&2; exit 1\n").unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let command = Command::new(&program);
    let launch =
        Launch { command, nonce: "n1".to_owned(), limits: SHORT, parcel: folder.path().join("parcel") };
    let (stage, text) = failure(run(&launch, &CancellationToken::new()).await.unwrap());
    assert_eq!(stage, Stage::Launched);
    assert!(text.contains("status 1") && text.contains("cannot allocate guest memory"), "{text}");
}

#[tokio::test]
async fn a_cancelled_guest_is_ended_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("sleep").arg("60");
    command.working_directory = Some(folder.path().to_owned());
    let launch =
        Launch { command, nonce: "n1".to_owned(), limits: SHORT, parcel: folder.path().join("parcel") };
    let cancel = CancellationToken::new();
    cancel.cancel();
    let boot = run(&launch, &cancel).await.unwrap();
    assert_eq!(boot.delivery.expect_err("none").cause, Cause::Cancelled);
}
