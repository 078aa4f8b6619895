//! A mail's claims and workloads into an experiment.
