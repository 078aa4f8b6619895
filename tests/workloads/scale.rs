//! will-it-scale's built-in cases.

use run_bench::config::workload::Driver;
use run_bench::config::workload::ScaleCase;
use run_bench::config::workload::ScaleMode;
use run_bench::config::workload::TaskCount;
use run_bench::config::workload::WillItScaleWorkload;
use run_bench::units::Nanos;
use run_bench::workload::WorkloadError;
use run_bench::workload::will_it_scale;

use crate::site::Site;
use crate::site::show;
use crate::site::value;

fn config(case: ScaleCase, mode: ScaleMode) -> WillItScaleWorkload {
    WillItScaleWorkload {
        case,
        mode,
        tasks: TaskCount::Number(2),
        duration: Nanos::from_millis(200),
        warm_up: Nanos::from_millis(50),
        driver: Driver::Builtin,
        folder: std::env::temp_dir(),
    }
}

#[tokio::test]
async fn every_case_counts_in_both_modes() {
    for case in [
        ScaleCase::Pread1,
        ScaleCase::Pread2,
        ScaleCase::PageFault1,
        ScaleCase::PageFault2,
        ScaleCase::PageFault3,
        ScaleCase::Malloc1,
    ] {
        for mode in [ScaleMode::Process, ScaleMode::Thread] {
            let mut site = Site::new();
            let mut config = config(case, mode);
            config.folder = site.data.path().to_owned();
            let outcome = will_it_scale::run(&config, &site.context()).await.expect("it runs");
            show(&outcome);
            let of_one = match mode {
                ScaleMode::Process => "will_it_scale.per_process_ops",
                ScaleMode::Thread => "will_it_scale.per_thread_ops",
            };
            let (one, all) = (value(&outcome, of_one), value(&outcome, "will_it_scale.workload"));
            assert!(one > 0.0 && (one * 2.0 - all).abs() < 1e-6 * all, "{outcome:#?}");
            let rules: Vec<&str> = outcome.violations.iter().map(|v| v.rule.as_str()).collect();
            // A loaded host may stretch so short an interval; nothing else may be wrong.
            assert!(rules.iter().all(|r| *r == "will_it_scale.duration"), "{outcome:#?}");
            assert_eq!(site.marks.phases().len(), 2);
            assert_eq!(site.data.path().read_dir().expect("a folder").count(), 0, "files are left");
            site.cancel = Default::default();
        }
    }
}

#[tokio::test]
async fn a_driver_that_cannot_prepare_says_why() {
    let site = Site::new();
    let mut config = config(ScaleCase::Pread1, ScaleMode::Process);
    config.folder = site.data.path().join("absent");
    let error = will_it_scale::run(&config, &site.context()).await.expect_err("no folder");
    let WorkloadError::Died { evidence, .. } = &error else { panic!("{error:?}") };
    assert!(evidence.contains("absent"), "{error}");
}

#[tokio::test]
async fn an_asked_for_program_is_not_replaced() {
    let mut site = Site::new();
    site.tools = run_bench::exec::Tools::in_folders([]);
    let mut config = config(ScaleCase::Pread1, ScaleMode::Thread);
    config.driver = Driver::Tool;
    let error = will_it_scale::run(&config, &site.context()).await.expect_err("no program");
    assert!(error.to_string().contains("pread1_threads"), "{error}");
}

#[tokio::test]
async fn cancelling_ends_every_task() {
    let site = Site::new();
    let mut config = config(ScaleCase::Pread2, ScaleMode::Process);
    config.duration = Nanos::from_seconds(60);
    config.folder = site.data.path().to_owned();
    let stop = async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        site.cancel.cancel();
        std::future::pending::<()>().await;
    };
    let context = site.context();
    let error = tokio::select! {
        outcome = will_it_scale::run(&config, &context) => outcome.expect_err("cancelled"),
        () = stop => unreachable!(),
    };
    assert!(matches!(error, WorkloadError::Cancelled), "{error:?}");
    assert_eq!(site.data.path().read_dir().expect("a folder").count(), 0, "the shared file is left");
}
