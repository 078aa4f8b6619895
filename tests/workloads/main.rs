//! Workloads run for real, for moments: the numbers add up, nothing is left behind.

mod files;
mod memory;
mod net;
mod probe;
mod repeat;
mod scale;
mod site;
