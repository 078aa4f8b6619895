//! The sampler: kernel counters at a fixed rate, with its own cost.
