//! Every shipped experiment becomes a stream, or says why not.

use std::path::Path;

use super::*;
use crate::config;
use crate::config::Plan;
use crate::model::access::Stream;

fn plan(name: &str) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs").join(name);
    Plan::new(config::load(&path).expect("a shipped experiment"))
}

fn stream(name: &str) -> Result<WorkloadStream, NotModelled> {
    workload_stream(&plan(name).workloads[0].workload, 40_000, 1)
}

fn drain(stream: &mut dyn Stream) -> u64 {
    let (mut count, mut buffer) = (0, Vec::new());
    while stream.next_batch(&mut buffer) > 0 {
        count += buffer.len() as u64;
        buffer.clear();
    }
    count
}

#[test]
fn fio_and_pread2_run_for_so_many_accesses() {
    for name in ["lru-gen-fio.toml", "mglru-pread2.toml", "quick-file.toml"] {
        let mut made = stream(name).expect(name);
        assert_eq!(drain(made.stream.as_mut()), 40_000, "{name}");
        assert_eq!(made.phases[0].accesses, Some(10_000), "{name}");
        assert_eq!(made.phases[1].accesses, None, "{name}");
    }
}

#[test]
fn memcached_fills_and_then_overwrites() {
    let mut made = stream("quick.toml").expect("a stream");
    let fill = made.phases[0].accesses.expect("a length");
    assert_eq!((made.phases.len(), made.phases[0].name.as_str()), (2, "fill"));
    // 100,000 sets, then 50,000 that also unlink the old item.
    let share = fill as f64 / drain(made.stream.as_mut()) as f64;
    assert!((0.35..0.6).contains(&share), "{share}");
}

#[test]
fn what_has_no_stream_says_what_to_do() {
    for name in ["pcp-sctp.toml", "reclaim-probe.toml", "kbuild.toml"] {
        let message = stream(name).err().expect(name).to_string();
        assert!(message.contains("cannot be simulated; "), "{name}: {message}");
    }
}
