//! A mail's workloads as workloads of ours. What the mail leaves open is
//! assumed, and every assumption is said.

use crate::config::Workload as Ours;
use crate::config::workload::{
    AccessOrder, CommandWorkload, Driver, FioWorkload, LoadSection, MemcachedWorkload, NetperfTest,
    NetperfWorkload, Protocol, ScaleCase, ScaleMode, Socket, TaskCount, UsememWorkload, ValueBytes,
    WillItScaleWorkload,
};
use crate::patch::{
    FioJob, KernelBuild, MemcachedServer, MemtierLoad, NetperfRun, UsememRun, WillItScaleRun, Workload,
};
use crate::units::{Bytes, Nanos, Percent};

/// A slab of memcached holds about this much more than the value.
const SLAB_SHARE: f64 = 1.15;

/// A workload of ours with what had to be assumed.
#[derive(Debug, Clone)]
pub(super) struct Translated {
    pub workload: Ours,
    pub assumed: Vec<String>,
}

/// The workload of ours for the commands of a setting; an error names the reason.
pub(super) fn translate(workloads: &[&Workload]) -> Result<Translated, String> {
    let mut assumed = Vec::new();
    let mut server: Option<&MemcachedServer> = None;
    let mut load: Option<&MemtierLoad> = None;
    let mut other = None;
    for workload in workloads {
        match workload {
            Workload::Memcached(found) => server = Some(found),
            Workload::Memtier(found) => load = Some(found),
            found => other = Some(*found),
        }
    }
    if server.is_some() || load.is_some() {
        let workload = memcached(server, load, &mut assumed);
        return Ok(Translated { workload: Ours::Memcached(workload), assumed });
    }
    let workload = match other {
        Some(Workload::Fio(job)) => Ours::Fio(fio(job, &mut assumed)?),
        Some(Workload::Netperf(run)) => Ours::Netperf(netperf(run, &mut assumed)?),
        Some(Workload::WillItScale(run)) => Ours::WillItScale(will_it_scale(run, &mut assumed)?),
        Some(Workload::Usemem(run)) => Ours::Usemem(usemem(run, &mut assumed)),
        Some(Workload::KernelBuild(build)) => Ours::Command(kernel_build(build, &mut assumed)),
        Some(found @ (Workload::Sysbench(_) | Workload::Other { .. })) => return Err(no_twin(found.name())),
        _ => return Err("the mail gives no command line for it".to_owned()),
    };
    Ok(Translated { workload, assumed })
}

fn no_twin(program: &str) -> String {
    let known = program.chars().filter(|c| !c.is_control()).collect::<String>();
    format!(
        "no workload of ours stands for {known}; [workload.command] runs any program of yours and takes metrics from its output"
    )
}

/// A stated value, or ours with a sentence about it.
fn or_assume<T: std::fmt::Display>(stated: Option<T>, ours: T, what: &str, assumed: &mut Vec<String>) -> T {
    stated.unwrap_or_else(|| {
        assumed.push(format!("{what} is not stated; {ours} is taken"));
        ours
    })
}

fn memcached(
    server: Option<&MemcachedServer>,
    load: Option<&MemtierLoad>,
    assumed: &mut Vec<String>,
) -> MemcachedWorkload {
    if server.is_none() {
        assumed.push("the server's command line is not stated; its options are taken from ours".to_owned());
    }
    if load.is_none() {
        assumed.push("the load is not stated; memtier's defaults and 1 million keys are taken".to_owned());
    }
    let default_server = MemcachedServer::default();
    let default_load = MemtierLoad::default();
    let (server, load) = (server.unwrap_or(&default_server), load.unwrap_or(&default_load));
    let section = load_section(load, server, assumed);
    let memory = or_assume(server.memory, Bytes::gib(1), "the server's memory (-m)", assumed);
    let needed = Bytes(section.key_count().saturating_mul(section.value.0)).scale(SLAB_SHARE);
    let evicts = needed > memory;
    if evicts {
        assumed.push(format!(
            "{} keys of {} need about {needed}, more than the server's {memory}: it evicts in the author's set-up too, so evictions are allowed",
            section.key_count(),
            section.value
        ));
    }
    let connections = u32::try_from(section.connections() + 64).unwrap_or(u32::MAX);
    MemcachedWorkload {
        memory,
        threads: or_assume(server.threads, 4, "the server's threads (-t)", assumed),
        socket: if server.unix_socket { Socket::Unix } else { Socket::Tcp },
        max_connections: server.connections.unwrap_or(1024).max(connections),
        allow_evictions: evicts,
        load: section,
    }
}

fn load_section(load: &MemtierLoad, server: &MemcachedServer, assumed: &mut Vec<String>) -> LoadSection {
    let protocol = load.protocol.as_deref().or(server.protocol.as_deref()).unwrap_or("binary");
    let requests = load.requests.as_deref().and_then(|r| r.parse().ok()).filter(|n| *n > 0);
    if load.requests.is_none() && load.test_time.is_none() {
        assumed.push("requests (-n) are not stated; every connection takes its share of all keys".to_owned());
    }
    if !load.random_data {
        assumed.push(
            "memtier sends constant bytes unless told otherwise; that compresses away on zram".to_owned(),
        );
    }
    LoadSection {
        driver: Driver::Auto,
        protocol: if protocol.contains("text") || protocol == "ascii" {
            Protocol::Text
        } else {
            Protocol::Binary
        },
        keys: or_assume(load.key_maximum, 1_000_000, "the number of keys (--key-maximum)", assumed),
        key_minimum: load.key_minimum.unwrap_or(1),
        value: or_assume(load.value, Bytes(32), "the size of values (-d)", assumed),
        values: if load.random_data { ValueBytes::Random } else { ValueBytes::Constant },
        pattern: load.key_pattern.clone().unwrap_or_else(|| "R:R".to_owned()),
        ratio: load.ratio.clone().unwrap_or_else(|| "1:10".to_owned()),
        zipf_exponent: 1.0,
        clients: or_assume(load.clients, 50, "connections of a thread (-c)", assumed),
        threads: or_assume(load.threads, 4, "the load's threads (-t)", assumed),
        pipeline: load.pipeline.unwrap_or(1),
        repeat: load.repeats.unwrap_or(1),
        requests,
        duration: load.test_time,
        fill: false,
    }
}

fn fio(job: &FioJob, assumed: &mut Vec<String>) -> Result<FioWorkload, String> {
    let depth = job.depth.unwrap_or(1);
    let distribution = job.distribution.as_deref().unwrap_or("random").parse()?;
    Ok(FioWorkload {
        jobs: or_assume(job.jobs, 1, "the number of jobs (numjobs)", assumed),
        size: or_assume(job.size, Bytes::gib(1), "the file size", assumed),
        engine: job.engine.clone().unwrap_or_else(|| "psync".to_owned()),
        depth,
        batch_submit: job.batch_submit.unwrap_or(1),
        batch_complete: job.batch_complete.unwrap_or(1),
        rw: job.pattern.clone().unwrap_or_else(|| "read".to_owned()),
        read_share: Percent(job.read_share.map_or(50.0, f64::from)),
        distribution,
        block: job.block.unwrap_or(Bytes::kib(4)),
        direct: job.direct.unwrap_or(false),
        norandommap: job.no_random_map,
        ramp: job.ramp.unwrap_or_default(),
        runtime: or_assume(job.runtime, Nanos::from_seconds(60), "the run time", assumed),
        file_system: {
            assumed.push(
                "the file system under fio's files is not stated; ext4 on a ramdisk is taken".to_owned(),
            );
            "ext4".to_owned()
        },
    })
}

fn netperf(run: &NetperfRun, assumed: &mut Vec<String>) -> Result<NetperfWorkload, String> {
    let test = match run.test.as_deref() {
        Some("SCTP_STREAM_MANY") => NetperfTest::SctpStreamMany,
        Some("SCTP_STREAM") => NetperfTest::SctpStream,
        Some("TCP_STREAM" | "TCP_STREAM_MANY" | "TCP_MAERTS") => NetperfTest::TcpStream,
        Some("TCP_RR" | "TCP_RR_MANY") => NetperfTest::TcpRr,
        Some("UDP_RR" | "UDP_RR_MANY") => NetperfTest::UdpRr,
        Some(other) => return Err(format!("netperf's test {other} is not one we run")),
        None => return Err("the mail does not name netperf's test".to_owned()),
    };
    Ok(NetperfWorkload {
        test,
        pairs: or_assume(run.pairs, 1, "the number of pairs", assumed),
        duration: or_assume(run.duration, Nanos::from_seconds(60), "the duration (-l)", assumed),
        message: None,
        driver: Driver::Auto,
        pin: false,
    })
}

fn will_it_scale(run: &WillItScaleRun, assumed: &mut Vec<String>) -> Result<WillItScaleWorkload, String> {
    let case = match run.test.as_deref() {
        Some("pread1") => ScaleCase::Pread1,
        Some("pread2") => ScaleCase::Pread2,
        Some("page_fault1") => ScaleCase::PageFault1,
        Some("page_fault2") => ScaleCase::PageFault2,
        Some("page_fault3") => ScaleCase::PageFault3,
        Some("malloc1") => ScaleCase::Malloc1,
        Some(other) => return Err(format!("will-it-scale's case {other} has no twin here")),
        None => return Err("the mail does not name will-it-scale's case".to_owned()),
    };
    let tasks = run.tasks.as_deref().and_then(|t| t.parse::<TaskCount>().ok());
    if tasks.is_none() {
        assumed.push("the number of tasks is not stated; one for each processor is taken".to_owned());
    }
    assumed.push("the duration is not stated; 30s is taken".to_owned());
    Ok(WillItScaleWorkload {
        case,
        mode: if run.mode.as_deref() == Some("thread") { ScaleMode::Thread } else { ScaleMode::Process },
        tasks: tasks.unwrap_or(TaskCount::SharePercent(100)),
        duration: Nanos::from_seconds(30),
        warm_up: Nanos::from_seconds(1),
        driver: Driver::Auto,
        folder: std::path::PathBuf::from("/dev/shm"),
    })
}

fn usemem(run: &UsememRun, assumed: &mut Vec<String>) -> UsememWorkload {
    UsememWorkload {
        processes: or_assume(run.processes.or(run.threads), 1, "the number of processes", assumed),
        size: or_assume(run.size, Bytes::gib(1), "the memory of a process", assumed),
        order: if run.random { AccessOrder::Random } else { AccessOrder::Sequential },
        passes: run.repeats.unwrap_or(1).max(1),
    }
}

/// Only the number of jobs comes from the mail; nothing of its text is run.
fn kernel_build(build: &KernelBuild, assumed: &mut Vec<String>) -> CommandWorkload {
    let jobs = or_assume(build.jobs, 4, "the number of jobs (make -j)", assumed);
    assumed.push("the built tree and its configuration are not stated; set working-directory and run make defconfig in it".to_owned());
    CommandWorkload {
        argv: vec!["make".to_owned(), format!("-j{jobs}")],
        prepare: vec!["make".to_owned(), "clean".to_owned()],
        working_directory: None,
        deadline: Nanos::from_seconds(7200),
        metrics: Vec::new(),
    }
}
