//! `run-bench doctor`: what this host can run, and how to get the rest.

use super::arguments::DoctorArguments;
use super::exit::Exit;

pub fn main(_arguments: &DoctorArguments) -> anyhow::Result<Exit> {
    Ok(Exit::Good)
}
