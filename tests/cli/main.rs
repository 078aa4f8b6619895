//! The command line as a user meets it: texts, exit codes, and that the host
//! is as it was.

mod campaigns;
mod faults;
mod history;
mod hostile;
mod isolation;
mod matrix;
mod support;
mod texts;
