//! Job parameters of the kernel test robot: `testcase: will-it-scale`,
//! `test machine: …`, `nr_task: 100%`, also as one line of names and one of values.

use crate::patch::lines::Line;

use super::flags;
use super::setting::Setting;
use super::typed::{Command, NetperfRun, WillItScaleRun, Workload};

const KEYS: &[&str] = &[
    "testcase",
    "test machine",
    "nr_task",
    "mode",
    "test",
    "cpufreq_governor",
    "compiler",
    "config",
    "base",
    "commit",
    "kconfig",
    "rootfs",
    "tbox_group",
    "runtime",
    "size",
    "nr_threads",
    "disk",
    "fs",
    "parameters",
    "url",
    "patch subject",
    "patch link",
];

/// Parameters collected from a message.
#[derive(Debug, Default, Clone)]
pub(crate) struct Job {
    fields: Vec<(String, String)>,
    names: Vec<String>,
}

impl Job {
    /// Takes a line that is a job parameter; true when it was one.
    pub(crate) fn take(&mut self, line: &Line<'_>) -> bool {
        let text = line.text.trim();
        if !self.names.is_empty() {
            let values: Vec<&str> = text.split('/').collect();
            let names = std::mem::take(&mut self.names);
            if values.len() == names.len() && !text.contains(' ') {
                for (name, value) in names.iter().zip(values) {
                    self.put(name, value);
                }
                return true;
            }
        }
        let slashed = text.strip_suffix(':').filter(|t| t.contains('/') && !t.contains(' ') && t.len() < 400);
        if let Some(names) = slashed {
            let names: Vec<String> = names.split('/').map(str::to_owned).collect();
            if names.iter().filter(|n| KEYS.contains(&n.as_str())).count() >= 2 {
                self.names = names;
                return true;
            }
        }
        let Some((name, value)) = text.split_once(':') else { return false };
        // The robot's old form was a sentence: `in testcase: …`, `on test machine: …`.
        let name =
            ["in testcase", "on test machine"].iter().find(|old| **old == name).map_or(name, |old| &old[3..]);
        // One word in common English is no sign of a job by itself.
        let started = !self.fields.is_empty() || matches!(name, "testcase" | "test machine" | "commit");
        if !KEYS.contains(&name) || !started || value.len() > 300 || value.trim().is_empty() {
            return KEYS.contains(&name) && started && value.trim().is_empty();
        }
        self.put(name, value.trim());
        true
    }

    fn put(&mut self, name: &str, value: &str) {
        if self.get(name).is_none() && self.fields.len() < 64 {
            self.fields.push((name.to_owned(), value.to_owned()));
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// The subject of the tested patch.
    pub(crate) fn patch_subject(&self) -> Option<&str> {
        self.get("patch subject")
    }

    /// The setting these parameters describe.
    pub(crate) fn setting(&self) -> Option<Setting> {
        let case = self.get("testcase")?;
        let text = |name: &str| self.get(name).map(str::to_owned);
        let workload = match case {
            "will-it-scale" => Workload::WillItScale(WillItScaleRun {
                test: text("test"),
                mode: text("mode"),
                tasks: text("nr_task"),
            }),
            "netperf" => Workload::Netperf(NetperfRun {
                test: text("test"),
                duration: self.get("runtime").and_then(flags::duration),
                pairs: self.get("nr_threads").and_then(|n| n.parse().ok()),
            }),
            other => Workload::Other { program: other.chars().take(60).collect() },
        };
        let commands =
            vec![Command { workload, unsupported: Vec::new(), replaced: Vec::new(), inherited: false }];
        let parameters =
            self.fields.iter().filter(|(name, _)| !matches!(name.as_str(), "url" | "patch link"));
        Some(Setting {
            machine: text("test machine").or_else(|| text("tbox_group")),
            kernel_base: text("base"),
            commands,
            parameters: parameters.map(|(name, value)| format!("{name}: {value}")).collect(),
            text: format!("testcase: {case}"),
            ..Setting::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::lines;

    #[test]
    fn parameters_in_both_forms() {
        let text = "testcase: will-it-scale\ntest machine: 96 threads\nparameters:\n\nnr_task: 50%\n\
            mode/test/testcase:\nthread/mmap1/will-it-scale\nhello: x";
        let mut job = Job::default();
        let stream = lines::streams(text).remove(0);
        let taken = stream.lines.iter().filter(|line| job.take(line)).count();
        assert_eq!(taken, 6);
        let setting = job.setting().expect("a setting");
        assert_eq!(setting.machine.as_deref(), Some("96 threads"));
        let Workload::WillItScale(run) = &setting.commands[0].workload else { panic!("{setting:?}") };
        assert_eq!((run.test.as_deref(), run.tasks.as_deref()), (Some("mmap1"), Some("50%")));
    }
}
