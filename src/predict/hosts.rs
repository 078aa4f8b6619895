//! Profiles that ship with the program, and which of them a mail's machine is.

use std::path::Path;

use crate::calibrate::{CalibrateError, Profile};

use super::error::PredictError;

/// Name, text, and words that a description of the machine holds.
const SHIPPED: [(&str, &str, &[&str]); 5] = [
    ("epyc-7k62", include_str!("../../configs/hosts/epyc-7k62.toml"), &["7k62"]),
    ("i7-9700", include_str!("../../configs/hosts/i7-9700.toml"), &["i7-9700"]),
    ("skylake-2s-104t", include_str!("../../configs/hosts/skylake-2s-104t.toml"), &["skylake", "104"]),
    ("intel-2s-128t", include_str!("../../configs/hosts/intel-2s-128t.toml"), &["intel", "128"]),
    ("amd-2s-768t", include_str!("../../configs/hosts/amd-2s-768t.toml"), &["768"]),
];

/// The shipped profile of this name.
pub fn shipped(name: &str) -> Option<Result<Profile, CalibrateError>> {
    let found = SHIPPED.iter().find(|(known, ..)| *known == name)?;
    Some(Profile::parse(Path::new(found.0), found.1))
}

/// The shipped profile that a description such as "AMD EPYC 7K62" names.
pub fn described(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    let found = SHIPPED.iter().find(|(_, _, words)| words.iter().all(|word| text.contains(word)));
    found.map(|(name, ..)| *name)
}

/// A shipped profile by name, or one of a file.
pub fn load(name: &str) -> Result<Profile, PredictError> {
    if let Some(profile) = shipped(name) {
        return Ok(profile?);
    }
    if Path::new(name).exists() {
        return Ok(Profile::load(Path::new(name))?);
    }
    let known = SHIPPED.map(|(known, ..)| known).join(", ");
    Err(PredictError::Host { name: name.to_owned(), known })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::{Basis, Parameter};

    #[test]
    fn every_shipped_profile_is_complete_and_names_its_sources() {
        for (name, ..) in SHIPPED {
            let profile = shipped(name).expect("listed").expect("valid");
            for parameter in Parameter::ALL {
                let entry = profile.entry(*parameter);
                assert!(
                    entry.basis != Basis::Measured && entry.source.is_some(),
                    "{name}: {}",
                    parameter.name()
                );
            }
        }
    }

    #[test]
    fn machines_of_mails_are_found() {
        assert_eq!(described("AMD EPYC 7K62"), Some("epyc-7k62"));
        assert_eq!(described("104 threads 2 sockets (Skylake), 192G"), Some("skylake-2s-104t"));
        assert_eq!(described("2-socket Intel server, 128 logical CPUs"), Some("intel-2s-128t"));
        assert_eq!(described("a laptop"), None);
    }
}
