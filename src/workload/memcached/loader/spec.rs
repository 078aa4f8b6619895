//! What the built-in loader is asked to do: memtier's options, as a file.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use super::keys::KeyRange;
use crate::config::workload::KeyPattern;
use crate::config::workload::Protocol;
use crate::config::workload::ValueBytes;
use crate::units::Bytes;
use crate::units::Nanos;

/// Where the server listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Endpoint {
    Unix(PathBuf),
    Tcp(SocketAddr),
}

/// How long a run lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Requests {
    /// As many for each client.
    Each(u64),
    /// memtier's `allkeys`.
    AllKeys,
    /// Until the time is up.
    For(Nanos),
}

/// The loader's task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LoaderSpec {
    pub endpoint: Endpoint,
    pub protocol: Protocol,
    pub threads: u32,
    /// Connections of each thread.
    pub clients: u32,
    pub pipeline: u32,
    pub requests: Requests,
    /// memtier's `-x`.
    pub repeat: u32,
    /// SETs and GETs of a round.
    pub ratio: (u32, u32),
    pub key_prefix: String,
    pub key_minimum: u64,
    pub key_maximum: u64,
    pub set_pattern: KeyPattern,
    pub get_pattern: KeyPattern,
    pub zipf_exponent: f64,
    pub value: Bytes,
    pub values: ValueBytes,
    /// Seed of the clients' generators; 0 is memtier's own default.
    pub seed: u32,
    /// memtier's `--distinct-client-seed`; without it all clients draw the same keys.
    pub distinct_client_seed: bool,
}

/// memcached's own bound on the length of a key.
const LONGEST_KEY: usize = 250;
/// Digits of the largest key number.
const DIGITS: usize = 20;

impl LoaderSpec {
    /// Refuses what cannot be driven, saying what to change.
    pub fn validate(&self) -> Result<(), String> {
        let positive = [
            ("threads", u64::from(self.threads)),
            ("clients", self.clients.into()),
            ("pipeline", self.pipeline.into()),
            ("repeat", self.repeat.into()),
            ("value", self.value.0),
        ];
        if let Some((name, _)) = positive.iter().find(|(_, number)| *number == 0) {
            return Err(format!("{name} is 0, so there would be nothing to do; write 1 or more"));
        }
        if self.ratio.0.checked_add(self.ratio.1).is_none_or(|sum| sum == 0) {
            return Err(format!("the ratio {}:{} names no operation", self.ratio.0, self.ratio.1));
        }
        if self.value > Bytes::gib(1) {
            return Err(format!("a value of {} is more than memcached can store", self.value));
        }
        let key_length = self.key_prefix.len() + DIGITS;
        let plain = self.key_prefix.bytes().all(|byte| byte.is_ascii_graphic());
        if key_length > LONGEST_KEY || !plain {
            return Err(format!(
                "the key prefix {:?} gives keys that memcached refuses: at most {LONGEST_KEY} bytes without spaces",
                self.key_prefix
            ));
        }
        self.validate_range()
    }

    fn validate_range(&self) -> Result<(), String> {
        let (minimum, maximum) = (self.key_minimum, self.key_maximum);
        if minimum > maximum || maximum >= 1 << 62 {
            return Err(format!("the key range {minimum} to {maximum} is empty or beyond 62 bits"));
        }
        let parallel = [self.set_pattern, self.get_pattern].map(|p| p == KeyPattern::Parallel);
        if parallel[0] != parallel[1] {
            return Err("the pattern P for one side only leaves clients outside the filled range; \
                        use P:P or none"
                .to_owned());
        }
        let share = (maximum - minimum) / self.total_clients() + 1;
        let last = share.checked_mul(self.total_clients() - 1).and_then(|first| first.checked_add(minimum));
        if parallel[0] && last.is_none_or(|first| first > maximum) {
            return Err(format!(
                "the keys {minimum} to {maximum} cannot be divided between {} clients: with {share} keys each the \
                 last would lie beyond the range; use fewer clients or more keys",
                self.total_clients()
            ));
        }
        Ok(())
    }

    /// Clients of all threads.
    pub fn total_clients(&self) -> u64 {
        u64::from(self.threads) * u64::from(self.clients)
    }

    /// Requests of each client in one run; none when time decides.
    pub fn requests_per_client(&self) -> Option<u64> {
        let distance = self.key_maximum - self.key_minimum;
        match self.requests {
            Requests::Each(count) => Some(count),
            Requests::AllKeys if self.set_pattern == KeyPattern::Parallel => {
                Some(distance / self.total_clients() + 1)
            }
            Requests::AllKeys => Some(distance),
            Requests::For(_) => None,
        }
    }

    pub(super) fn value_size(&self) -> usize {
        usize::try_from(self.value.0).expect("the bound on values fits")
    }

    pub(super) fn key_range(&self) -> KeyRange {
        KeyRange {
            minimum: self.key_minimum,
            maximum: self.key_maximum,
            set: self.set_pattern,
            get: self.get_pattern,
            zipf_exponent: self.zipf_exponent,
        }
    }

    /// The seed of client `index`, all threads and runs counted in one row.
    pub(super) fn client_seed(&self, index: u64) -> u32 {
        // A run has far fewer than 2^32 clients; the modulus only keeps the sum defined.
        if self.distinct_client_seed { self.seed.wrapping_add(index as u32) } else { self.seed }
    }
}

impl LoaderSpec {
    /// A small task for tests and for `selftest faults`; its socket does not exist.
    pub(crate) fn example() -> Self {
        LoaderSpec {
            endpoint: Endpoint::Unix("/nonexistent/socket".into()),
            protocol: Protocol::Binary,
            threads: 2,
            clients: 3,
            pipeline: 4,
            requests: Requests::AllKeys,
            repeat: 1,
            ratio: (1, 0),
            key_prefix: "memtier-".to_owned(),
            key_minimum: 1,
            key_maximum: 600,
            set_pattern: KeyPattern::Parallel,
            get_pattern: KeyPattern::Parallel,
            zipf_exponent: 1.0,
            value: Bytes(100),
            values: ValueBytes::Constant,
            seed: 0,
            distinct_client_seed: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_are_divided_as_memtier_divides_them() {
        let mut spec = LoaderSpec::example();
        assert_eq!(spec.requests_per_client(), Some(100));
        spec.key_maximum = 601;
        assert_eq!(spec.requests_per_client(), Some(101));
        (spec.set_pattern, spec.get_pattern) = (KeyPattern::Random, KeyPattern::Random);
        assert_eq!(spec.requests_per_client(), Some(600));
    }

    #[test]
    fn what_cannot_be_driven_is_refused() {
        let example = LoaderSpec::example;
        assert_eq!(example().validate(), Ok(()));
        for (bad, words) in [
            (LoaderSpec { threads: 0, ..example() }, "threads is 0"),
            (LoaderSpec { value: Bytes(0), ..example() }, "value is 0"),
            (LoaderSpec { ratio: (0, 0), ..example() }, "no operation"),
            (LoaderSpec { ratio: (u32::MAX, 1), ..example() }, "no operation"),
            (LoaderSpec { key_prefix: "a b".to_owned(), ..example() }, "without spaces"),
            (LoaderSpec { key_prefix: "k".repeat(240), ..example() }, "at most 250"),
            (LoaderSpec { key_minimum: 601, ..example() }, "empty"),
            (LoaderSpec { get_pattern: KeyPattern::Random, ..example() }, "P:P or none"),
            (LoaderSpec { key_maximum: 5, ..example() }, "cannot be divided"),
            // Ten keys for six clients: two each, so the last would begin at 11.
            (LoaderSpec { key_maximum: 10, ..example() }, "cannot be divided"),
        ] {
            let text = bad.validate().expect_err(words);
            assert!(text.contains(words), "{text}");
        }
    }
}
