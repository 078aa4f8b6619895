//! Workloads run for real, for moments: the numbers add up, nothing is left behind.

mod memory;
mod net;
mod scale;
mod site;
