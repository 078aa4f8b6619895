//! Pairing, comparison, verdict, claim check.
