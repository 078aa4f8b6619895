//! `--mrc`: misses and refaults over memory sizes, as CSV and charts.

use anyhow::Context;

use super::arguments::CurveArguments;
use super::source::Source;
use crate::model::curve::{
    CurveRow, MissCounter, ReclaimPolicy, Recording, geometric_sizes, miss_ratio_curves,
};
use crate::model::yardstick::Yardstick;
use crate::report::chart::{curve_charts, png_file, svg_file};
use crate::store::write_atomically;
use crate::units::Pages;

/// Plain policies beside the kernel's.
const YARDSTICKS: [Yardstick; 4] = [Yardstick::Fifo, Yardstick::Lru, Yardstick::Clock, Yardstick::Belady];
/// The smallest size, as a part of the pages touched.
const SMALLEST: u64 = 64;
/// Below this a memcg holds little but the batches.
const LEAST_PAGES: u64 = 256;

/// Writes the curve of one source; the first goes to standard output with its header.
pub fn main(
    arguments: &CurveArguments,
    source: &Source<'_>,
    (threads, index): (usize, usize),
) -> anyhow::Result<()> {
    let (mut stream, _) = (source.make)()?;
    let recording = Recording::of(stream.as_mut(), usize::MAX);
    let touched = recording.first_touches().max(1);
    let smallest = (touched / SMALLEST).max(LEAST_PAGES.min(touched));
    let sizes = geometric_sizes(Pages(smallest), Pages(touched), arguments.points as usize);
    let kernels: Vec<ReclaimPolicy> = source
        .cases
        .iter()
        .map(|case| ReclaimPolicy { name: case.name.clone(), configuration: case.configuration.clone() })
        .collect();
    let policies: Vec<&dyn MissCounter> = kernels
        .iter()
        .map(|kernel| kernel as &dyn MissCounter)
        .chain(YARDSTICKS.iter().map(|yardstick| yardstick as &dyn MissCounter))
        .collect();
    let rows = miss_ratio_curves(&recording, &policies, &sizes, threads);
    let text = csv_text(&rows)?;
    match &arguments.out {
        None => {
            // Several workloads make one table: the title tells them apart on standard error.
            eprintln!("run-bench: {}", source.title);
            say!(
                "{}",
                if index == 0 { text } else { text.split_once('\n').map_or("", |(_, rows)| rows).to_owned() }
            );
        }
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("failed to create {}", folder.display()))?;
            let csv = folder.join(format!("{}-mrc.csv", source.name));
            write_atomically(&csv, text.as_bytes())?;
            sayln!("{}", csv.display());
            for chart in curve_charts(&rows, &source.title)? {
                for (extension, bytes) in [
                    ("svg", svg_file(&chart.picture, &chart.title)?.into_bytes()),
                    ("png", png_file(&chart.picture)?),
                ] {
                    let path = folder.join(format!("{}-{}.{extension}", source.name, chart.name));
                    write_atomically(&path, &bytes)?;
                    sayln!("{}", path.display());
                }
            }
        }
    }
    Ok(())
}

fn csv_text(rows: &[CurveRow]) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(CurveRow::HEADER)?;
    for row in rows {
        writer.write_record(row.fields())?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
