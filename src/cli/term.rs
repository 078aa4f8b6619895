//! Progress on standard error: a bar on a terminal, lines otherwise.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

use super::out::plain;
use crate::campaign::{Progress, ProgressEvent};
use crate::store::TrialStatus;

/// Shows a campaign's progress.
#[derive(Debug)]
pub struct TerminalProgress {
    bar: Option<ProgressBar>,
    total: usize,
    done: usize,
}

impl TerminalProgress {
    pub fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} trials, {msg}")
                .expect("the template is a constant that a test renders");
            ProgressBar::new(0).with_style(style)
        });
        TerminalProgress { bar, total: 0, done: 0 }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(plain(text)),
            None => eprintln!("{text}"),
        }
    }
}

impl Progress for TerminalProgress {
    fn event(&mut self, event: ProgressEvent<'_>) {
        match event {
            ProgressEvent::Planned { trials, done } => {
                (self.total, self.done) = (trials, done);
                if let Some(bar) = &self.bar {
                    bar.set_length(trials as u64);
                    bar.set_position(done as u64);
                }
            }
            ProgressEvent::TrialStarted { id, discarded, remaining } => {
                let what = if discarded { " (warm-up, discarded)" } else { "" };
                match &self.bar {
                    Some(bar) => bar.set_message(format!("about {remaining} left: {id}{what}")),
                    None => {
                        eprint!("[{}/{}] {id}{what}, about {remaining} left ... ", self.done + 1, self.total)
                    }
                }
            }
            ProgressEvent::TrialEnded { id, status, headline } => {
                // A trial that will be repeated brings the end no nearer.
                let counts = status == TrialStatus::Valid;
                self.done += usize::from(counts);
                if let Some(bar) = &self.bar {
                    bar.set_position(self.done as u64);
                    if status != TrialStatus::Valid {
                        bar.println(format!("{id}: {}", word(status)));
                    }
                } else {
                    eprintln!("{}{}", word(status), headline.map(|h| format!(", {h}")).unwrap_or_default());
                }
            }
            ProgressEvent::BlockEnded { .. } => {}
            ProgressEvent::Stopped { reason } => {
                if let Some(bar) = &self.bar {
                    bar.finish_and_clear();
                }
                self.line(&format!("campaign stopped: {}", reason.text()));
            }
        }
    }
}

fn word(status: TrialStatus) -> &'static str {
    match status {
        TrialStatus::Valid => "valid",
        TrialStatus::Invalid => "INVALID",
        TrialStatus::Failed => "FAILED",
        TrialStatus::Unsupported => "unsupported",
        TrialStatus::Interrupted => "interrupted",
        TrialStatus::Lost => "LOST (its process was killed)",
    }
}
