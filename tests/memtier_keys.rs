//! The built-in loader asks for the same keys, with the same values, as the
//! real memtier_benchmark: both are recorded by a stub server.

use std::io::Read;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;
use std::thread;

use run_bench::config::workload::KeyPattern;
use run_bench::config::workload::Protocol;
use run_bench::config::workload::ValueBytes;
use run_bench::exec::ToolName;
use run_bench::exec::Tools;
use run_bench::units::Bytes;
use run_bench::workload::memcached::loader::Endpoint;
use run_bench::workload::memcached::loader::LoaderSpec;
use run_bench::workload::memcached::loader::Requests;

/// One request as the stub saw it: opcode, key, value.
type Request = (u8, String, Vec<u8>);

/// Answers every SET with success and every GET with a miss, until the peer closes.
fn serve(mut stream: UnixStream) -> Vec<Request> {
    let mut seen = Vec::new();
    let mut header = [0; 24];
    while stream.read_exact(&mut header).is_ok() {
        assert_eq!(header[0], 0x80, "binary protocol");
        let key_length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        let extras = usize::from(header[4]);
        let length = u32::from_be_bytes([header[8], header[9], header[10], header[11]]) as usize;
        let mut body = vec![0; length];
        stream.read_exact(&mut body).expect("a whole request");
        let key = String::from_utf8(body[extras..extras + key_length].to_vec()).expect("a text key");
        seen.push((header[1], key, body[extras + key_length..].to_vec()));
        let mut answer = [0; 24];
        answer[0] = 0x81;
        answer[1] = header[1];
        answer[7] = u8::from(header[1] == 0);
        stream.write_all(&answer).expect("an answer is taken");
    }
    seen
}

/// Runs `load` against a stub at `socket`; returns what each connection asked, sorted.
fn record(socket: &Path, connections: usize, load: impl FnOnce()) -> Vec<Vec<Request>> {
    let listener = UnixListener::bind(socket).expect("a socket");
    let server = thread::spawn(move || {
        let serving: Vec<_> = (0..connections)
            .map(|_| {
                let (stream, _) = listener.accept().expect("a connection");
                thread::spawn(move || serve(stream))
            })
            .collect();
        serving.into_iter().map(|s| s.join().expect("a served connection")).collect::<Vec<_>>()
    });
    load();
    let mut all = server.join().expect("the stub");
    std::fs::remove_file(socket).expect("our socket");
    all.sort();
    all
}

fn base(socket: &Path) -> LoaderSpec {
    LoaderSpec {
        endpoint: Endpoint::Unix(socket.to_path_buf()),
        protocol: Protocol::Binary,
        threads: 2,
        clients: 2,
        pipeline: 3,
        requests: Requests::Each(500),
        repeat: 1,
        ratio: (1, 0),
        key_prefix: "memtier-".to_owned(),
        key_minimum: 1,
        key_maximum: 997,
        set_pattern: KeyPattern::Parallel,
        get_pattern: KeyPattern::Parallel,
        zipf_exponent: 1.0,
        value: Bytes(17),
        values: ValueBytes::Constant,
        seed: 0,
        distinct_client_seed: false,
    }
}

fn letter(pattern: KeyPattern) -> &'static str {
    match pattern {
        KeyPattern::Parallel => "P",
        KeyPattern::Sequential => "S",
        KeyPattern::Random => "R",
        KeyPattern::Gaussian => "G",
        KeyPattern::Zipf => "Z",
    }
}

fn memtier(path: &Path, spec: &LoaderSpec) {
    let Endpoint::Unix(socket) = &spec.endpoint else { panic!("a unix socket") };
    let requests = match spec.requests {
        Requests::Each(count) => count.to_string(),
        Requests::AllKeys => "allkeys".to_owned(),
        Requests::For(_) => panic!("counted requests"),
    };
    let mut command = Command::new(path);
    command.arg("-S").arg(socket).args(["-P", "memcache_binary", "--hide-histogram"]);
    for (name, value) in [
        ("-t", spec.threads.to_string()),
        ("-c", spec.clients.to_string()),
        ("--pipeline", spec.pipeline.to_string()),
        ("-n", requests),
        ("-x", spec.repeat.to_string()),
        ("--ratio", format!("{}:{}", spec.ratio.0, spec.ratio.1)),
        ("--key-maximum", spec.key_maximum.to_string()),
        ("--key-pattern", format!("{}:{}", letter(spec.set_pattern), letter(spec.get_pattern))),
        ("-d", spec.value.0.to_string()),
    ] {
        command.arg(name).arg(value);
    }
    // 0 is its default, and refused when given.
    if spec.key_minimum > 0 {
        command.arg("--key-minimum").arg(spec.key_minimum.to_string());
    }
    if spec.set_pattern == KeyPattern::Zipf || spec.get_pattern == KeyPattern::Zipf {
        command.arg("--key-zipf-exp").arg(spec.zipf_exponent.to_string());
    }
    if spec.values == ValueBytes::Random {
        command.arg("-R");
    }
    if spec.distinct_client_seed {
        command.arg("--distinct-client-seed");
    }
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("memtier runs");
    assert!(status.success(), "{command:?}");
}

/// Every pattern and option that decides a key.
fn cases(socket: &Path) -> Vec<(&'static str, LoaderSpec)> {
    use KeyPattern::{Gaussian, Parallel, Random, Sequential, Zipf};
    let with = |set, get, ratio| LoaderSpec { set_pattern: set, get_pattern: get, ratio, ..base(socket) };
    let zipf = |exponent| LoaderSpec { zipf_exponent: exponent, ..with(Zipf, Zipf, (1, 2)) };
    vec![
        ("parallel", with(Parallel, Parallel, (1, 0))),
        (
            "parallel, all keys",
            LoaderSpec { requests: Requests::AllKeys, ..with(Parallel, Parallel, (1, 3)) },
        ),
        ("parallel, repeated", LoaderSpec { repeat: 3, ..with(Parallel, Parallel, (1, 0)) }),
        ("sequential", with(Sequential, Sequential, (2, 3))),
        (
            "sequential, all keys",
            LoaderSpec { requests: Requests::AllKeys, ..with(Sequential, Sequential, (1, 0)) },
        ),
        ("from zero", LoaderSpec { key_minimum: 0, ..with(Sequential, Random, (1, 1)) }),
        ("random", with(Random, Random, (1, 10))),
        ("random, own seeds", LoaderSpec { distinct_client_seed: true, ..with(Random, Random, (1, 1)) }),
        (
            "random, repeated",
            LoaderSpec { distinct_client_seed: true, repeat: 2, ..with(Random, Random, (1, 1)) },
        ),
        ("random values", LoaderSpec { values: ValueBytes::Random, ..with(Random, Random, (3, 1)) }),
        ("gaussian", LoaderSpec { distinct_client_seed: true, ..with(Gaussian, Gaussian, (1, 10)) }),
        ("gaussian and random", with(Gaussian, Random, (1, 1))),
        ("zipf 1", zipf(1.0)),
        ("zipf 0.8", zipf(0.8)),
        ("zipf 2.5, own seeds", LoaderSpec { distinct_client_seed: true, ..zipf(2.5) }),
        ("large range", LoaderSpec { key_maximum: 40_000_000_000, ..with(Random, Zipf, (1, 1)) }),
    ]
}

#[test]
#[ignore = "needs memtier_benchmark in PATH or RUN_BENCH_TOOLS; says so where it is absent"]
fn the_keys_are_those_of_memtier() {
    let Ok(path) = Tools::from_environment().find(ToolName::Memtier) else {
        eprintln!("skipped: there is no memtier_benchmark in PATH or RUN_BENCH_TOOLS");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("stub");
    for (name, spec) in cases(&socket) {
        let connections = (spec.total_clients() * u64::from(spec.repeat)) as usize;
        let theirs = record(&socket, connections, || memtier(&path, &spec));
        let ours = record(&socket, connections, || {
            run_bench::workload::memcached::loader::drive(&spec, |_, _| {}).expect("the load ends");
        });
        let count: usize = ours.iter().map(Vec::len).sum();
        assert!(count > 500, "{name}: {count} requests");
        for (at, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            assert_eq!(ours.len(), theirs.len(), "{name}: connection {at}");
            let differs = ours.iter().zip(theirs).position(|(o, t)| o != t);
            assert_eq!(
                differs,
                None,
                "{name}: connection {at}: {:?}",
                differs.map(|d| (&ours[d], &theirs[d]))
            );
        }
        println!("{name}: {count} requests on {connections} connections agree");
    }
}
