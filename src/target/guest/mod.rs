//! Guest kernels: the protocol, init on the inside, supervision on the outside.

mod console;
mod init;
mod loopback;
mod mounts;
mod parcel;
mod protocol;
mod run;
mod supervise;

pub use console::{Alarm, AlarmKind};
pub use init::{NAME, arguments, main};
pub use mounts::PROGRAM;
#[cfg(test)]
pub(super) use parcel::Packer;
pub use parcel::{ParcelError, file as parcel_file, unpack};
#[cfg(test)]
pub(super) use protocol::END;
pub use protocol::{
    Carrier, Job, JobEnd, Module, OUT, PARCEL, REQUEST, Request, SCHEMA, STDERR, STDOUT, Stage,
};
pub use run::{Boot, Delivery, Launch, run};
pub use supervise::{Cause, GuestEnd, GuestFailure, Killed, Limits};
