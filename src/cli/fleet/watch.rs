//! What a fleet does, on the submitting terminal.

use std::io::{BufRead, IsTerminal};
use std::path::Path;

use crate::fleet::{FleetWatch, Merged, Standing, Submission};

/// Lines on standard error; a question where there is somebody to ask.
#[derive(Debug)]
pub struct TerminalWatch<'a> {
    pub campaign: &'a Path,
}

/// Runs such as `0-5, 8`.
pub fn ranges(blocks: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for block in blocks {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *block => *last = *block,
            _ => parts.push((*block, *block)),
        }
    }
    let text = |(first, last): (u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    parts.into_iter().map(text).collect::<Vec<_>>().join(", ")
}

impl FleetWatch for TerminalWatch<'_> {
    fn submitted(&mut self, submission: &Submission) {
        let assignment = &submission.assignment;
        let job = submission.job.map_or("no job".to_owned(), |job| format!("job {job}"));
        eprintln!(
            "submitted: {job}, {} task(s) on {} ({}), blocks {}",
            assignment.blocks.len(),
            assignment.node,
            assignment.class,
            ranges(&assignment.blocks)
        );
    }

    fn merged(&mut self, merged: &Merged) {
        if !merged.blocks.is_empty() {
            eprintln!("merged: blocks {}", ranges(&merged.blocks));
        }
        if !merged.twice.is_empty() {
            eprintln!("run twice, counted once: blocks {}", ranges(&merged.twice));
        }
        for refused in &merged.refused {
            eprintln!("refused: block {}, {}: {}", refused.block, refused.path.display(), refused.why);
        }
    }

    fn standing(&mut self, standing: &Standing) {
        eprintln!("fleet: {}", standing.text());
    }

    fn remark(&mut self, text: &str) {
        eprintln!("run-bench: {text}");
    }

    fn cancels(&mut self, jobs: &[u64]) -> bool {
        let numbers = jobs.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        let cancels = !jobs.is_empty()
            && std::io::stdin().is_terminal()
            && std::io::stderr().is_terminal()
            && is_told_to_cancel();
        if cancels {
            eprintln!("run-bench: cancelled; each node restores itself");
        } else if !jobs.is_empty() {
            eprintln!("run-bench: left running; to cancel: scancel {numbers}");
        }
        let campaign = self.campaign.display();
        eprintln!(
            "run-bench: where it stands: run-bench status {campaign}; to go on: run-bench run {campaign}"
        );
        cancels
    }
}

fn is_told_to_cancel() -> bool {
    eprint!("\ntasks wait or run. Write c and Enter to cancel them; Enter alone leaves them running: ");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("c")
}

#[cfg(test)]
mod tests {
    #[test]
    fn blocks_are_shown_as_ranges() {
        assert_eq!(super::ranges(&[0, 1, 2, 5, 8, 9]), "0-2, 5, 8-9");
        assert_eq!(super::ranges(&[]), "");
    }
}
