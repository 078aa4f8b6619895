//! The `run-bench` command: parse, dispatch, exit code.

fn main() -> std::process::ExitCode {
    run_bench::cli::main()
}
