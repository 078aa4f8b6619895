use std::path::Path;

use super::*;
use crate::config::load::parse;

fn plan(memory: &str, swap: &str, rest: &str) -> Plan {
    let text = format!(
        "schema = 1\ntitle = \"t\"\n[memcg]\nlimit = \"4GiB\"\n[swap]\nkind = \"brd\"\nsize = \"{swap}\"\n\
         [workload.memcached]\nmemory = \"{memory}\"\nthreads = 4\n{rest}\n[workload.memcached.load]\n\
         keys = 16_000_000\nvalue = \"1KiB\"\nclients = 2\nthreads = 4\n[[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n\
         [analysis]\nprimary = \"memcached.ops_per_sec\"\n"
    );
    Plan::new(parse(Path::new("t.toml"), &text).unwrap())
}

fn machine(gib: u64) -> Machine {
    Machine { cpus: 4, memory_available: Bytes::gib(gib), disk_available: Some(Bytes::gib(1)) }
}

fn keys(sums: &Arithmetic) -> Vec<&str> {
    sums.problems.iter().map(|p| p.key.as_str()).collect()
}

#[test]
fn the_published_set_up_evicts_and_the_sum_says_so() {
    let sums = check(&plan("16GiB", "16GiB", ""), &machine(64));
    assert_eq!(keys(&sums), ["workload.memcached.memory"]);
    let sum = &sums.problems[0].message;
    assert!(sum.contains("-m 16GiB holds") && sum.contains("17.6"), "{sum}");
    assert_eq!(
        keys(&check(&plan("16GiB", "16GiB", "allow-evictions = true"), &machine(64))),
        Vec::<&str>::new()
    );
    assert_eq!(keys(&check(&plan("18GiB", "16GiB", ""), &machine(64))), Vec::<&str>::new());
}

#[test]
fn too_little_swap_and_too_little_memory_are_different_problems() {
    let sums = check(&plan("18GiB", "8GiB", ""), &machine(64));
    assert_eq!(keys(&sums), ["memcg"]);
    assert!(sums.problems[0].message.contains("do not fit into 12GiB"), "{:?}", sums.problems);
    let sums = check(&plan("18GiB", "16GiB", ""), &machine(8));
    assert_eq!(keys(&sums), [MACHINE_KEY]);
    assert!(sums.problems[0].message.contains("--scale auto"), "{:?}", sums.problems);
}

#[test]
fn the_lines_are_sums_that_can_be_checked() {
    let lines = check(&plan("18GiB", "16GiB", ""), &machine(64)).lines;
    insta::assert_snapshot!(lines.join("\n"), @r"
    memcached: 16000000 keys with values of 1KiB are items of 1099B in chunks of 1184B, 885 to a slab of 1MiB: 17.66GiB
    memcached: -m 18GiB holds 16312320 such items, all of them
    memcg: limit 4GiB + swap 16GiB = 20GiB for slabs 17.66GiB + hash table 128MiB = 17.78GiB, 4.45 times the limit
    memcached: limit 4GiB + swap device in memory 13.66GiB + no files in memory 0B + 256MiB of our own = 17.91GiB, of 64GiB available
    ");
}

#[test]
fn every_workload_of_files_and_probes_has_its_sum() {
    let text = "schema = 1\ntitle = \"t\"\n[memcg]\nlimit = \"128MiB\"\n[workload.reclaim-probe]\n\
                population = \"dirty-anon\"\nsize = \"256MiB\"\nreclaim = \"64MiB\"\n[workload.file-read]\ntasks = 1\n\
                size = \"2GiB\"\nduration = \"2s\"\n[workload.usemem]\nprocesses = 2\nsize = \"100MiB\"\n\
                [[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\nmemcg = { limit = \"512MiB\" }\n[analysis]\n\
                primary = \"usemem.bytes_per_sec\"\n";
    let sums = check(&Plan::new(parse(Path::new("t.toml"), text).unwrap()), &machine(64));
    // usemem and the probe do not fit the first arm, the probe has no swap in either, the file has no disk.
    assert_eq!(keys(&sums), ["memcg", "memcg", "memcg", "memcg of arm \"b\"", MACHINE_KEY]);
}
