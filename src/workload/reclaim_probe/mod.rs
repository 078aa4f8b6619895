//! The reclaim probe: fill a cgroup with pages of one kind, then time how long
//! the kernel takes to reclaim some of them.
//!
//! The pages' frames, their order on the list and the share touched again are
//! chosen; everything else is left out, which makes this the sharpest instrument
//! for a change of the reclaim path. Reported is the median over the repetitions
//! of time per reclaimed page, by the clock and by the processor time of the
//! reclaiming thread, which other load on the host does not stretch; every
//! repetition is kept.
//!
//! **What it does not show.** Whether the right pages were chosen: it knows no
//! refaults, so a change that reclaims faster and chooses worse looks better here.
//! Contention: one processor reclaims, nobody allocates, kswapd sleeps. Aging under
//! load: accessed bits are set by one touch, not by a running program. On v1, and
//! on v2 without `memory.reclaim`, the limit is lowered instead, which reclaims in
//! many small rounds with their own set-up cost: compare only equal methods. A
//! delta here says that the path got cheaper, and by how much per page; how much a
//! workload gains is that times its pages reclaimed per operation.

mod ballast;
mod controller;
mod population;
mod probe;
#[cfg(test)]
mod tests;
mod vmstat;

use std::collections::BTreeMap;
use std::time::Duration;

pub use probe::{DRIVER, main};

use self::probe::Answer;
use self::probe::Repetition;
use self::probe::Request;
use super::Context;
use super::Outcome;
use super::WorkloadError;
use super::builtin;
use super::builtin::Call;
use super::file_system;
use super::layout;
use super::layout::DataFile;
use crate::config::workload::ListOrder;
use crate::config::workload::Population;
use crate::config::workload::ReclaimProbeWorkload;
use crate::metric::measurement;
use crate::store::Violation;
use crate::units::PAGE_SIZE;

const RAW: &str = "reclaim-probe.json";
const DATA: &str = "reclaim-probe.data";
/// Filling and reclaiming at their slowest, for the deadline.
const SLOWEST: u64 = 8 << 20;
/// Pages that the kernel charges ahead on each processor (MEMCG_CHARGE_BATCH).
const CHARGED_AHEAD: u64 = 64;

/// Fills and times, in the trial's cgroup.
pub async fn run(config: &ReclaimProbeWorkload, ctx: &Context<'_>) -> Result<Outcome, WorkloadError> {
    let (controller, method) = controller::find(&ctx.confined).ok_or_else(|| {
        WorkloadError::Refused(
            "the reclaim probe reclaims from a memory cgroup, and this trial has none: add a [memcg] section"
                .to_owned(),
        )
    })?;
    let place = file_system::for_files(ctx)?;
    let folder = place.path();
    let file = DataFile { path: folder.join(DATA), size: config.size.to_pages().to_bytes() };
    if config.population != Population::DirtyAnon {
        ctx.marks.enter("lay-out");
        layout::prepare(vec![file.clone()], ctx.seed, ctx.cancel).await?;
    }
    let request = Request {
        join: ctx.confined.clone(),
        controller,
        method,
        population: config.population,
        size: config.size,
        reclaim: config.reclaim,
        order: config.order,
        referenced: config.referenced.as_share(),
        repetitions: config.repetitions,
        file: file.path,
        seed: ctx.seed,
    };
    let work = u128::from(config.size.0) * 4 * u128::from(config.repetitions + 1) / u128::from(SLOWEST);
    let deadline = Duration::from_secs(60 + u64::try_from(work).unwrap_or(u64::MAX / 4));
    // It joins the cgroup by itself, once it has taken memory that is not to be charged there.
    let call = Call { driver: DRIVER, role: None, deadline, prefix: &[] };
    ctx.marks.enter("measure");
    let called = builtin::call::<_, Answer>(ctx, call, &request).await;
    ctx.marks.leave();
    let (answer, output) = called?;
    ctx.keep(RAW, &output.stdout.text())?;
    let mut parameters = parameters(config, &answer);
    parameters.insert("method".to_owned(), method.name().to_owned());
    if config.population != Population::DirtyAnon {
        parameters.insert("file_system".to_owned(), file_system::name(folder));
    }
    summarise(config, &answer, parameters)
}

fn summarise(
    config: &ReclaimProbeWorkload,
    answer: &Answer,
    parameters: BTreeMap<String, String>,
) -> Result<Outcome, WorkloadError> {
    let each = |value: fn(&Repetition) -> f64| median(answer.repetitions.iter().map(value).collect());
    if answer.repetitions.iter().any(|r| r.stolen == 0 || r.scanned == 0) {
        let reason = "no page was reclaimed in a repetition: dirty anon needs swap with room, mapped and clean files \
                      need pages that are not in use elsewhere";
        return Err(WorkloadError::Refused(reason.to_owned()));
    }
    let per_page = || answer.repetitions.iter().map(|r| r.nanos.0 as f64 / r.stolen as f64).collect();
    Ok(Outcome {
        measurements: vec![
            measurement("reclaim_probe.ns_per_page", each(|r| r.nanos.0 as f64 / r.stolen as f64)),
            measurement("reclaim_probe.low_ns_per_page", low_decile(per_page())),
            measurement("reclaim_probe.cpu_ns_per_page", each(|r| r.processor.0 as f64 / r.stolen as f64)),
            measurement("reclaim_probe.ns_per_scan", each(|r| r.nanos.0 as f64 / r.scanned as f64)),
            measurement("reclaim_probe.efficiency", each(|r| r.stolen as f64 / r.scanned as f64)),
        ],
        violations: violations(config, answer),
        driver: builtin::identity(DRIVER),
        parameters,
        raw: vec![RAW.to_owned()],
    })
}

fn violations(config: &ReclaimProbeWorkload, answer: &Answer) -> Vec<Violation> {
    let mut found = Vec::new();
    let asked = config.reclaim.0 / PAGE_SIZE;
    for (repetition, number) in answer.repetitions.iter().zip(1u32..) {
        let evidence = format!("repetition {number}: {repetition:?}");
        if repetition.stolen < asked / 10 * 9 {
            let message = format!(
                "{} pages were reclaimed of {asked} asked for, so the rest of the time went into pages that could \
                 not be; lower the share referenced, or add swap",
                repetition.stolen
            );
            found.push(Violation::new("reclaim_probe.fell_short", message, evidence.clone()));
        }
        let dropped = repetition.usage_before.saturating_sub(repetition.usage_after) / PAGE_SIZE;
        let tolerance = repetition.stolen / 50 + CHARGED_AHEAD * u64::from(answer.cpus + 1);
        if repetition.stolen.abs_diff(dropped) > tolerance {
            let message = format!(
                "{} pages were reclaimed on the host while the cgroup's usage fell by {dropped} pages: another \
                 cgroup reclaimed, or memory was freed by other means; look for reclaimers on this host",
                repetition.stolen
            );
            found.push(Violation::new("reclaim_probe.foreign_reclaim", message, evidence));
        }
    }
    found
}

fn parameters(config: &ReclaimProbeWorkload, answer: &Answer) -> BTreeMap<String, String> {
    let population = match config.population {
        Population::CleanFile => "clean-file",
        Population::DirtyAnon => "dirty-anon",
        Population::MappedFile => "mapped-file",
    };
    let order = match config.order {
        ListOrder::Memory => "memory",
        ListOrder::Shuffled => "shuffled",
    };
    let per_page = |time: fn(&Repetition) -> u64| {
        let each = answer.repetitions.iter();
        let texts: Vec<String> =
            each.map(|r| format!("{:.2}", time(r) as f64 / r.stolen.max(1) as f64)).collect();
        texts.join(" ")
    };
    let adjacent = answer.adjacent_share.map_or("unknown".to_owned(), |share| format!("{share:.4}"));
    [
        ("population", population.to_owned()),
        ("order", order.to_owned()),
        ("size", config.size.to_string()),
        ("reclaim", config.reclaim.to_string()),
        ("referenced", format!("{}%", config.referenced.0)),
        ("repetitions", config.repetitions.to_string()),
        ("adjacent_share", adjacent),
        ("ns_per_page", per_page(|r| r.nanos.0)),
        ("cpu_ns_per_page", per_page(|r| r.processor.0)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// The value that a tenth of the repetitions stay at or below: others on a host can only add time,
/// so it moves less with what they do than the median does.
fn low_decile(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len().div_ceil(10) - 1]
}

/// The middle value; of an even number, the mean of the two.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) {
        f64::midpoint(values[middle - 1], values[middle])
    } else {
        values[middle]
    }
}
