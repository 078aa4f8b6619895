//! Microbenchmarks and native twins that fill a machine profile.
