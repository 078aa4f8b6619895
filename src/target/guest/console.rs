//! What a guest's console says about how far it came and what stopped it.

use super::protocol;
use super::protocol::Stage;

/// A line of the kernel that says why a guest is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    pub kind: AlarmKind,
    /// The line, without its time stamp.
    pub line: String,
}

/// What kind of trouble, the gravest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AlarmKind {
    /// `WARNING:`; the guest goes on and the trial counts, but it is told.
    Warning,
    /// A task or processor that makes no progress.
    Stall,
    /// The kernel's own out-of-memory killer struck outside a memory cgroup, or the
    /// host had no more memory or mappings for it.
    OutOfMemory,
    /// An oops, a bug or a memory error.
    Oops,
    Panic,
}

/// Phrases of the kernel's messages and what they mean.
const PHRASES: [(&str, AlarmKind); 17] = [
    ("Kernel panic - not syncing", AlarmKind::Panic),
    ("Oops:", AlarmKind::Oops),
    ("BUG: unable to handle", AlarmKind::Oops),
    ("BUG: kernel NULL pointer", AlarmKind::Oops),
    ("kernel BUG at", AlarmKind::Oops),
    ("general protection fault", AlarmKind::Oops),
    ("BUG: KASAN", AlarmKind::Oops),
    ("BUG: Bad page state", AlarmKind::Oops),
    ("Kernel mode fault at", AlarmKind::Oops),
    ("soft lockup", AlarmKind::Stall),
    ("hard LOCKUP", AlarmKind::Stall),
    ("rcu_sched self-detected stall", AlarmKind::Stall),
    ("rcu: INFO: rcu", AlarmKind::Stall),
    ("blocked for more than", AlarmKind::Stall),
    ("Out of memory: Kill", AlarmKind::OutOfMemory),
    // A process there maps more single pages than the host's vm.max_map_count.
    ("UML ran out of memory on the host side", AlarmKind::OutOfMemory),
    ("WARNING: ", AlarmKind::Warning),
];

/// What was read from a console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    pub stage: Stage,
    /// The first line of the gravest kind.
    pub alarm: Option<Alarm>,
}

/// Reads a console's text; marks of other boots do not count.
pub fn read(text: &str, nonce: &str) -> Reading {
    let mut reading = Reading { stage: Stage::Launched, alarm: None };
    let reached = |reading: &mut Reading, stage| reading.stage = reading.stage.max(stage);
    for line in text.split(['\n', '\r']) {
        if line.contains("Linux version ") {
            reached(&mut reading, Stage::Kernel);
        }
        for stage in Stage::MARKED {
            if line.contains(&protocol::mark(nonce, stage)) {
                reached(&mut reading, stage);
            }
        }
        let Some((_, kind)) = PHRASES.iter().find(|(phrase, _)| line.contains(phrase)) else { continue };
        if reading.alarm.as_ref().is_none_or(|alarm| alarm.kind < *kind) {
            reading.alarm = Some(Alarm { kind: *kind, line: without_time(line) });
        }
    }
    reading
}

/// A kernel line without its `[    1.234567] `, and not longer than a message may be.
fn without_time(line: &str) -> String {
    let rest = match line.trim_start().strip_prefix('[').and_then(|l| l.split_once("] ")) {
        Some((time, rest)) if time.trim().chars().all(|c| c.is_ascii_digit() || c == '.') => rest,
        _ => line,
    };
    rest.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(up_to: Stage) -> String {
        let lines = Stage::MARKED.iter().filter(|s| **s <= up_to).map(|s| protocol::mark("n1", *s));
        format!("[    0.000000] Linux version 9.9.9\n{}\r\n", lines.collect::<Vec<_>>().join("\r\n"))
    }

    #[test]
    fn the_last_mark_is_the_stage() {
        for stage in Stage::MARKED {
            assert_eq!(read(&marks(stage), "n1"), Reading { stage, alarm: None });
        }
        assert_eq!(read(&marks(Stage::Delivered), "n2").stage, Stage::Kernel, "another boot's marks");
        assert_eq!(read("SeaBIOS\n", "n1").stage, Stage::Launched);
    }

    #[test]
    fn the_gravest_line_is_the_reason() {
        let text = format!(
            "{}[    4.000001] WARNING: CPU: 0 PID: 1 at mm/invented.c:1\n\
             [    5.000001] BUG: kernel NULL pointer dereference, address: 0000000000000008\n\
             [    5.000002] Oops: 0000 [#1]\n\
             [    5.000003] Kernel panic - not syncing: Fatal exception\n",
            marks(Stage::Job)
        );
        let reading = read(&text, "n1");
        let line = "Kernel panic - not syncing: Fatal exception".to_owned();
        assert_eq!(reading.alarm, Some(Alarm { kind: AlarmKind::Panic, line }));
        assert_eq!(reading.stage, Stage::Job);
    }

    #[test]
    fn a_kill_inside_a_memory_cgroup_is_no_alarm() {
        let text = "Memory cgroup out of memory: Killed process 12 (x)\n";
        assert_eq!(read(text, "n1").alarm, None);
        let text = "Out of memory: Killed process 12 (x)\n";
        assert_eq!(read(text, "n1").alarm.map(|a| a.kind), Some(AlarmKind::OutOfMemory));
    }

    #[test]
    fn control_characters_do_not_reach_messages() {
        let alarm = read("\x1b[31mKernel panic - not syncing: \x07x", "n1").alarm.unwrap();
        assert_eq!(alarm.line, "[31mKernel panic - not syncing: x");
    }
}
