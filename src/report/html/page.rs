//! The page and what is filled into it.

use askama::Template;

use super::table::Table;
use super::{facts, fleet, table, trials};
use crate::analyze::{CampaignAnalysis, ClaimVerdict, Verdict};
use crate::config::StopRule;
use crate::input;
use crate::report::chart::{Chart, Gallery, dark_rules, font_faces, svg_for_page};
use crate::report::error::ReportError;
use crate::report::{mail, words};
use crate::store::{CampaignFolder, TrialRecord};

/// A verdict on top of the page.
struct VerdictBlock {
    class: &'static str,
    says: String,
    number: String,
    lines: Vec<String>,
}

/// A drawn chart.
pub(super) struct Figure {
    pub name: String,
    pub svg: String,
}

#[derive(Template)]
#[template(path = "page.html", config = "src/report/html/askama.toml")]
struct Page {
    title: String,
    campaign: String,
    folder: String,
    host: String,
    kernel: String,
    created: String,
    version: String,
    style: String,
    script: &'static str,
    verdicts: Vec<VerdictBlock>,
    warnings: Vec<String>,
    trials_line: String,
    sections: Vec<(&'static str, String)>,
    charts: Vec<Figure>,
    refused: Vec<(String, String)>,
    tables: Vec<Table>,
    changes: Vec<String>,
    experiment: String,
    mail: String,
    alpha: f64,
    margin: String,
    stop: &'static str,
    seed: u64,
}

/// Renders the page of a campaign.
pub fn page(
    analysis: &CampaignAnalysis,
    folder: &CampaignFolder,
    records: &[TrialRecord],
    gallery: &Gallery,
) -> Result<String, ReportError> {
    let mut tables = table::arms(analysis);
    tables.extend(fleet::fleet(analysis));
    tables.extend(table::exploratory(analysis));
    tables.extend(facts::noise(analysis));
    tables.extend(table::counters(analysis));
    tables.extend(facts::differences(analysis));
    tables.push(facts::host(analysis, records));
    tables.push(trials::trials(analysis, folder, records));
    let mut sections = vec![("charts", "Charts".to_owned())];
    sections.extend(tables.iter().map(|t| (t.id, t.title.clone())));
    sections.push(("experiment", "Experiment".to_owned()));
    let manifest = &analysis.manifest;
    let page = Page {
        title: analysis.title.clone(),
        campaign: analysis.campaign.clone(),
        folder: folder.path().display().to_string(),
        host: manifest.host.clone(),
        kernel: manifest.kernel.release.clone(),
        created: manifest.created.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        version: version(analysis),
        style: page_style(),
        script: include_str!("page.js"),
        verdicts: verdicts(analysis),
        warnings: warnings(analysis),
        trials_line: words::trials(analysis),
        sections,
        charts: figures(gallery)?,
        refused: gallery.refused.clone(),
        tables,
        changes: analysis.changes.clone(),
        experiment: input::read_text(&folder.experiment_path(), input::SECTIONS).unwrap_or_default(),
        mail: mail::mail(analysis),
        alpha: analysis.question.alpha,
        margin: format!("{:.2}%", analysis.question.margin.0),
        stop: match analysis.question.stop {
            StopRule::Fixed => "a fixed number of blocks",
            StopRule::GroupSequential => "group-sequential looks at 6, 12 and 18 blocks",
            StopRule::Anytime => "an anytime-valid e-process",
        },
        seed: manifest.seed,
    };
    page.render().map_err(ReportError::Page)
}

/// Font, layout and colours of every page.
pub(super) fn page_style() -> String {
    format!(
        "{}{}@media(prefers-color-scheme:dark){{{}}}",
        font_faces(),
        include_str!("page.css"),
        dark_rules()
    )
}

/// The charts as SVG.
pub(super) fn figures(gallery: &Gallery) -> Result<Vec<Figure>, ReportError> {
    let draw = |chart: &Chart| {
        let svg = svg_for_page(&chart.picture, &chart.title)
            .map_err(|source| ReportError::Chart { name: chart.name.clone(), source })?;
        Ok(Figure { name: chart.name.clone(), svg })
    };
    gallery.charts.iter().map(draw).collect()
}

fn version(analysis: &CampaignAnalysis) -> String {
    let version = &analysis.manifest.run_bench;
    version.commit.as_ref().map_or(version.version.clone(), |c| format!("{} ({c})", version.version))
}

fn verdicts(analysis: &CampaignAnalysis) -> Vec<VerdictBlock> {
    let mut blocks: Vec<VerdictBlock> = analysis
        .deciding()
        .map(|comparison| {
            let layout = if comparison.within_layout_noise() { ", within layout noise" } else { "" };
            let number = words::raw(comparison).map_or(String::new(), |(raw, interval)| {
                let interval = interval.map_or("no interval yet".to_owned(), words::interval);
                format!("{} {interval}, {}", words::change(raw), words::basis(comparison))
            });
            let floor = words::floor(analysis, comparison).map(|f| format!("Noise floor: {f}"));
            let mut lines = vec![capital(&comparison.reason)];
            lines.extend(words::resolution(comparison).map(|r| capital(&r)));
            lines.extend(floor);
            VerdictBlock {
                class: match comparison.verdict {
                    Verdict::Better => "better",
                    Verdict::Worse => "worse",
                    _ => "",
                },
                says: format!("{}{layout}", words::headline(comparison)),
                number,
                lines: lines.into_iter().filter(|l| !l.is_empty()).map(|l| format!("{l}.")).collect(),
            }
        })
        .collect();
    if let Some(claim) = &analysis.claim {
        let mut lines = vec![format!("{}.", capital(&claim.reason))];
        lines.extend(claim.differences.iter().map(|d| format!("Differs: {d}.")));
        blocks.push(VerdictBlock {
            class: match claim.verdict {
                ClaimVerdict::Reproduced => "reproduced",
                ClaimVerdict::Refuted => "refuted",
                _ => "",
            },
            says: format!("Claim of {}: {}", words::change(claim.claimed), claim.verdict.text()),
            number: capital(&words::claim_row(claim)),
            lines,
        });
    }
    if let Some(forecast) = &analysis.forecast {
        let lines = words::forecast_lines(forecast);
        blocks.push(VerdictBlock {
            class: "",
            says: "What the model said before the first trial".to_owned(),
            number: capital(&words::forecast_row(forecast)),
            lines: lines.iter().map(|line| format!("{}.", capital(line))).collect(),
        });
    }
    blocks
}

fn warnings(analysis: &CampaignAnalysis) -> Vec<String> {
    let mut warnings: Vec<String> = analysis
        .functional_only
        .iter()
        .map(|reason| format!("No statement about time may rest on this run: {reason}."))
        .collect();
    let serious =
        ["control-moved", "floor-wider-than-change", "confounder", "layout-noise", "boot", "one-sided"];
    warnings.extend(
        analysis
            .noise
            .iter()
            .filter(|n| serious.contains(&n.kind.as_str()))
            .map(|n| format!("{}.", capital(&n.message))),
    );
    warnings
}

/// A sentence that begins with a capital letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
