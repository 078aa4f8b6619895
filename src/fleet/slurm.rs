//! Slurm by its commands: argv out, lines in. Written for 22.05 and later.
//!
//! Assumed of a site: sbatch, squeue, sinfo, scontrol and scancel on the
//! submitting host, job arrays, and a folder that all nodes share. Accounting
//! (sacct) is used where it answers.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::error::FleetError;
use super::request::NOTICE;
use super::scheduler::{JobRequest, NodeLine, Scheduler, TaskLine};
use crate::exec::{self, Command, Ended};
use crate::units::Bytes;

/// slurmctld may be busy: its clients wait for it by themselves.
const PATIENCE: Duration = Duration::from_secs(120);
/// What sbatch says when the controller's configuration names no other limit.
const USUAL_LARGEST_ARRAY: u32 = 1001;

/// The commands of the Slurm that this host belongs to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Slurm;

impl Scheduler for Slurm {
    async fn nodes(&self, partition: Option<&str>) -> Result<Vec<NodeLine>, FleetError> {
        let mut argv = vec!["sinfo".to_owned(), "--noheader".to_owned(), "--Node".to_owned()];
        argv.push("--format=%N|%T|%f|%E".to_owned());
        argv.extend(partition.map(|p| format!("--partition={p}")));
        Ok(node_lines(&call(argv).await?))
    }

    async fn largest_array(&self) -> Result<u32, FleetError> {
        let text = call(["scontrol", "show", "config"].map(str::to_owned).to_vec()).await?;
        Ok(largest_array(&text))
    }

    async fn submit(&self, request: &JobRequest) -> Result<u64, FleetError> {
        let mut command = Command::new("sbatch").args(sbatch(request)).deadline(PATIENCE);
        command.working_directory = Some(request.folder.clone());
        let said = said_by(command).await?;
        let number = said.trim().split(';').next().unwrap_or_default().parse();
        number.map_err(|_| FleetError::Answer { command: "sbatch --parsable".to_owned(), said })
    }

    async fn tasks(&self, name: &str) -> Result<Vec<TaskLine>, FleetError> {
        let mut argv = ["squeue", "--noheader", "--array", "--states=all"].map(str::to_owned).to_vec();
        argv.extend([format!("--name={name}"), "--format=%F|%K|%T|%N|%r".to_owned()]);
        Ok(task_lines(&call(argv).await?))
    }

    async fn accounts(&self, jobs: &[u64]) -> Vec<TaskLine> {
        if jobs.is_empty() {
            return Vec::new();
        }
        let mut argv = ["sacct", "--noheader", "--parsable2", "--allocations"].map(str::to_owned).to_vec();
        argv.extend(["--format=JobID,State,NodeList".to_owned(), format!("--jobs={}", numbers(jobs))]);
        // Many sites keep no accounts: sacct then fails, and our own records have to do.
        call(argv).await.map(|text| account_lines(&text)).unwrap_or_default()
    }

    async fn cancel(&self, jobs: &[u64]) -> Result<(), FleetError> {
        if jobs.is_empty() {
            return Ok(());
        }
        let argv = std::iter::once("scancel".to_owned()).chain(jobs.iter().map(u64::to_string)).collect();
        call(argv).await.map(|_| ())
    }
}

fn numbers(jobs: &[u64]) -> String {
    jobs.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

async fn call(argv: Vec<String>) -> Result<String, FleetError> {
    let mut words = argv.into_iter();
    let program = words.next().unwrap_or_default();
    said_by(Command::new(program).args(words).deadline(PATIENCE)).await
}

async fn said_by(mut command: Command) -> Result<String, FleetError> {
    // Ten thousand tasks are half a megabyte of squeue.
    command.output_limit = Bytes::mib(64);
    let program = command.program();
    let shown: Vec<String> = command.argv.iter().map(|a| a.to_string_lossy().into_owned()).collect();
    let output = exec::run(&command, &CancellationToken::new())
        .await
        .map_err(|source| FleetError::NoSlurm { program, source })?;
    if output.ended == Ended::Exited(0) {
        return Ok(output.stdout.text());
    }
    let ended = match output.ended {
        Ended::Exited(code) => format!("status {code}"),
        other => format!("{other:?}"),
    };
    let said = output.stderr.text().trim().to_owned();
    Err(FleetError::Slurm { command: shown.join(" "), ended, said })
}

/// The arguments of sbatch. The script executes the words after it as they are.
fn sbatch(request: &JobRequest) -> Vec<std::ffi::OsString> {
    let mut argv: Vec<std::ffi::OsString> = vec![
        "--parsable".into(),
        format!("--job-name={}", request.name).into(),
        format!("--array=0-{}", request.tasks - 1).into(),
        "--nodes=1".into(),
        "--ntasks=1".into(),
        format!("--nodelist={}", request.node).into(),
        format!("--time={}", request.minutes).into(),
        // The host is restored within the notice; what comes after it is a kill.
        format!("--signal=B:TERM@{}", NOTICE.as_secs()).into(),
        "--requeue".into(),
        "--open-mode=append".into(),
        format!("--output={}/%A_%a.log", request.logs).into(),
        "--export=PATH,RUN_BENCH_TOOLS,RUN_BENCH_LOG".into(),
    ];
    argv.extend(request.partition.as_ref().map(|p| format!("--partition={p}").into()));
    if request.exclusive {
        argv.extend(["--exclusive".into(), "--mem=0".into()]);
    }
    argv.push(request.script.into());
    argv.extend(request.argv.iter().cloned());
    argv
}

/// Lines of `sinfo --Node`; a node stands once for each of its partitions.
fn node_lines(text: &str) -> Vec<NodeLine> {
    let mut nodes: Vec<NodeLine> = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(4, '|').map(str::trim);
        let (Some(name), Some(state)) = (fields.next(), fields.next()) else { continue };
        if name.is_empty() || nodes.iter().any(|n| n.name == name) {
            continue;
        }
        let features =
            fields.next().unwrap_or_default().split(',').filter(|f| !f.is_empty() && *f != "(null)");
        let features = features.map(str::to_owned).collect();
        let reason = fields.next().unwrap_or_default().to_owned();
        nodes.push(NodeLine { name: name.to_owned(), state: state.to_owned(), features, reason });
    }
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    nodes
}

fn task_lines(text: &str) -> Vec<TaskLine> {
    let line = |line: &str| {
        let mut fields = line.splitn(5, '|').map(str::trim);
        let job = fields.next()?.parse().ok()?;
        let task = fields.next()?.parse().ok()?;
        let state = fields.next()?.to_owned();
        let node = fields.next().filter(|n| !n.is_empty()).map(str::to_owned);
        Some(TaskLine { job, task, state, node, reason: fields.next().unwrap_or_default().to_owned() })
    };
    text.lines().filter_map(line).collect()
}

/// `12_3|NODE_FAIL|node1`, `12_4|CANCELLED by 0|node2`.
fn account_lines(text: &str) -> Vec<TaskLine> {
    let line = |line: &str| {
        let mut fields = line.splitn(3, '|').map(str::trim);
        let (job, task) = fields.next()?.split_once('_')?;
        let state = fields.next()?.split(' ').next()?.to_owned();
        let node = fields.next().filter(|n| !n.is_empty() && *n != "None assigned").map(str::to_owned);
        Some(TaskLine {
            job: job.parse().ok()?,
            task: task.parse().ok()?,
            state,
            node,
            reason: String::new(),
        })
    };
    text.lines().filter_map(line).collect()
}

fn largest_array(config: &str) -> u32 {
    let value =
        config.lines().find_map(|l| l.split_once('=').filter(|(key, _)| key.trim() == "MaxArraySize"));
    value.and_then(|(_, v)| v.trim().parse().ok()).unwrap_or(USUAL_LARGEST_ARRAY).max(2) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_text_stays_one_argument_of_the_program() {
        let request = JobRequest {
            name: "run-bench-x".to_owned(),
            tasks: 12,
            node: "n1".to_owned(),
            partition: Some("bench".to_owned()),
            exclusive: true,
            minutes: 30,
            folder: "/data/my results/$(reboot)".into(),
            script: "fleet/task.sh",
            logs: "fleet/logs",
            argv: vec!["/opt/run-bench".into(), "fleet-task".into(), "/data/my results/$(reboot)".into()],
        };
        let argv: Vec<String> = sbatch(&request).iter().map(|a| a.to_string_lossy().into_owned()).collect();
        let script = argv.iter().position(|a| a == "fleet/task.sh").expect("the script");
        assert_eq!(argv[script + 1..], ["/opt/run-bench", "fleet-task", "/data/my results/$(reboot)"]);
        assert!(argv[..script].iter().all(|a| a.starts_with("--") && !a.contains("results")), "{argv:?}");
        for option in
            ["--array=0-11", "--nodelist=n1", "--time=30", "--exclusive", "--mem=0", "--partition=bench"]
        {
            assert!(argv[..script].iter().any(|a| a == option), "{option}: {argv:?}");
        }
    }

    #[test]
    fn nodes_are_read_once_each_with_their_reason() {
        let text = "n2|down*|xeon|Not responding\nn1|idle|epyc,big|none\nn1|idle|epyc,big|none\n|x\n\
                    n3|drained|(null)|epilog error | by root\n";
        let nodes = node_lines(text);
        assert_eq!(nodes.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(), ["n1", "n2", "n3"]);
        assert_eq!(nodes[0].features, ["epyc", "big"]);
        assert!(nodes[0].is_usable() && !nodes[1].is_usable() && !nodes[2].is_usable());
        assert_eq!(nodes[0].seen(), "idle");
        assert_eq!(nodes[2].seen(), "drained, epilog error | by root");
        assert!(nodes[2].features.is_empty());
        let node = |state: &str| NodeLine { state: state.to_owned(), ..nodes[0].clone() };
        assert!(node("mixed~").is_usable() && !node("idle*").is_usable() && !node("maint").is_usable());
    }

    #[test]
    fn tasks_are_read_from_the_queue_and_from_accounts() {
        let text = "7|0|COMPLETED|n1|None\n7|1|PENDING||ReqNodeNotAvail, UnavailableNodes:n2\nx|y|z\n8|N/A|RUNNING|n1|None\n";
        let tasks = task_lines(text);
        assert_eq!(tasks.len(), 2, "what is no task of an array is passed over: {tasks:?}");
        assert!(!tasks[0].is_active() && tasks[1].is_waiting());
        assert_eq!(tasks[1].reason, "ReqNodeNotAvail, UnavailableNodes:n2");
        let accounts = account_lines(
            "7_0|NODE_FAIL|n1\n7_1|CANCELLED by 0|None assigned\n7_[2-5]|PENDING|\n9|FAILED|n1\n",
        );
        assert_eq!(accounts.len(), 2);
        assert_eq!((accounts[1].state.as_str(), accounts[1].node.as_deref()), ("CANCELLED", None));
        assert_eq!(accounts[0].ended(), "its node failed");
    }

    #[test]
    fn an_array_may_have_one_task_less_than_the_limit() {
        assert_eq!(largest_array("AccountingStorageType   = x\nMaxArraySize            = 5001\n"), 5000);
        assert_eq!(largest_array(""), 1000);
    }
}
