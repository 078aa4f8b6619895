//! Brings the loopback device up, by one rtnetlink message (`RTM_NEWLINK`).

use std::io;

use rustix::net::{AddressFamily, SocketType};

const NEW_LINK: u16 = 16;
const ERROR: u16 = 2;
/// A request that is to be acknowledged.
const FLAGS: u16 = 1 | 4;
/// The first device of every network name space.
const LOOPBACK: u32 = 1;
const UP: u32 = 1;

/// Sets the flag `IFF_UP`; the kernel then gives the device 127.0.0.1 by itself.
pub(super) fn bring_up() -> io::Result<()> {
    // Protocol 0 of this family is NETLINK_ROUTE.
    let socket = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    rustix::io::write(&socket, &request())?;
    let mut answer = [0; 512];
    let length = rustix::io::read(&socket, &mut answer)?;
    acknowledged(&answer[..length])
}

/// `struct nlmsghdr` and `struct ifinfomsg`.
fn request() -> Vec<u8> {
    let mut message = Vec::new();
    message.extend(32u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(FLAGS.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([0; 4]);
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message
}

/// Reads the acknowledgement, `struct nlmsgerr`.
fn acknowledged(answer: &[u8]) -> io::Result<()> {
    let kind = answer.get(4..6).map(|b| u16::from_ne_bytes([b[0], b[1]]));
    let code = answer.get(16..20).map(|b| i32::from_ne_bytes([b[0], b[1], b[2], b[3]]));
    match (kind, code) {
        (Some(ERROR), Some(0)) => Ok(()),
        (Some(ERROR), Some(code)) => Err(io::Error::from_raw_os_error(-code)),
        _ => Err(io::Error::other("the kernel's answer is no acknowledgement")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read() {
        let mut answer = vec![0; 36];
        answer[4..6].copy_from_slice(&ERROR.to_ne_bytes());
        assert!(acknowledged(&answer).is_ok());
        answer[16..20].copy_from_slice(&(-1i32).to_ne_bytes());
        assert_eq!(acknowledged(&answer).unwrap_err().raw_os_error(), Some(1));
        assert!(acknowledged(&answer[..10]).is_err());
    }

    #[test]
    fn a_device_that_is_up_can_be_brought_up() {
        assert_eq!(request().len(), 32);
        // Without the privilege the kernel still answers, with EPERM.
        match bring_up() {
            Ok(()) => {}
            Err(error) => assert_eq!(error.raw_os_error(), Some(1), "{error}"),
        }
    }
}
