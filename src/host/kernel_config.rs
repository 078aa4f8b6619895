//! Kernel configurations: reading, a hash that ignores comments and order, and
//! the differences that confound a comparison.

use std::collections::BTreeMap;
use std::io::Read;

use crate::units::hex;
use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};

/// A configuration: symbol without `CONFIG_`, and its value as written. Symbols
/// that are not set are absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelConfig(BTreeMap<String, String>);

/// A symbol in which two configurations differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigDifference {
    pub symbol: String,
    /// `n` when not set.
    pub first: String,
    pub second: String,
}

/// Symbols that name the build and its tools but change no code.
const NAMES_OF_BUILDS: [&str; 9] = [
    "LOCALVERSION",
    "LOCALVERSION_AUTO",
    "BUILD_SALT",
    "CC_VERSION_TEXT",
    "DEFAULT_HOSTNAME",
    "SYSTEM_TRUSTED_KEYS",
    "MODULE_SIG_KEY",
    "PAHOLE_VERSION",
    "VERSION_SIGNATURE",
];

impl KernelConfig {
    /// Reads a `.config`; lines that are no symbol are passed over. As for the
    /// kernel's own tools, the last of two lines for a symbol counts.
    pub fn parse(text: &str) -> Self {
        let mut symbols = BTreeMap::new();
        for line in text.lines() {
            let line = line.trim();
            if let Some(symbol) = unset(line) {
                symbols.remove(symbol);
            } else if let Some((symbol, value)) = line.strip_prefix("CONFIG_").and_then(|l| l.split_once('='))
            {
                if value == "n" {
                    symbols.remove(symbol);
                } else {
                    symbols.insert(symbol.to_owned(), value.to_owned());
                }
            }
        }
        KernelConfig(symbols)
    }

    /// The value of a symbol, `n` when it is not set.
    pub fn value(&self, symbol: &str) -> &str {
        self.0.get(symbol).map_or("n", String::as_str)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// SHA-256 of the symbols and values in order, so that the same
    /// configuration has the same hash wherever its text was kept.
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        for (symbol, value) in &self.0 {
            hasher.update(format!("{symbol}={value}\n"));
        }
        hex(&hasher.finalize())
    }

    /// Where two configurations differ, names of builds left out.
    pub fn differences(&self, other: &KernelConfig) -> Vec<ConfigDifference> {
        let mut symbols: Vec<&String> = self.0.keys().chain(other.0.keys()).collect();
        symbols.sort();
        symbols.dedup();
        symbols
            .into_iter()
            .filter(|s| self.value(s) != other.value(s) && !NAMES_OF_BUILDS.contains(&s.as_str()))
            .map(|s| ConfigDifference {
                symbol: s.clone(),
                first: self.value(s).to_owned(),
                second: other.value(s).to_owned(),
            })
            .collect()
    }

    /// Symbols that a fragment asked for and that this configuration does not
    /// have so, such as for want of a dependency.
    pub fn missing(&self, fragment: &str) -> Vec<ConfigDifference> {
        let mut missing = Vec::new();
        for line in fragment.lines().map(str::trim) {
            let asked = match unset(line) {
                Some(symbol) => Some((symbol, "n")),
                None => line.strip_prefix("CONFIG_").and_then(|l| l.split_once('=')),
            };
            let Some((symbol, value)) = asked else { continue };
            if self.value(symbol) != value {
                missing.push(ConfigDifference {
                    symbol: symbol.to_owned(),
                    first: value.to_owned(),
                    second: self.value(symbol).to_owned(),
                });
            }
        }
        missing
    }
}

/// The symbol of a line such as `# CONFIG_NUMA is not set`.
fn unset(line: &str) -> Option<&str> {
    line.strip_prefix("# CONFIG_")?.strip_suffix(" is not set")
}

/// The text of `/proc/config.gz`.
pub fn unpack_gzip(bytes: &[u8]) -> std::io::Result<String> {
    let mut text = String::new();
    // A configuration is some 300 KB; a bomb is cut.
    GzDecoder::new(bytes).take(16 << 20).read_to_string(&mut text)?;
    Ok(text)
}

/// The configuration that `CONFIG_IKCONFIG` keeps inside a kernel.
pub fn embedded(kernel: &[u8]) -> Option<KernelConfig> {
    let start = find(kernel, b"IKCFG_ST")? + 8;
    let end = start + find(&kernel[start..], b"IKCFG_ED")?;
    let config = KernelConfig::parse(&unpack_gzip(&kernel[start..end]).ok()?);
    (!config.is_empty()).then_some(config)
}

/// Where `needle` first stands in `haystack`.
pub fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut at = 0;
    loop {
        at += haystack.get(at..)?.iter().position(|b| *b == first)?;
        if haystack[at..].starts_with(needle) {
            return Some(at);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const TEXT: &str = "#\n# Automatically generated\n#\nCONFIG_LRU_GEN=y\nCONFIG_HZ=250\n# CONFIG_NUMA is not set\nCONFIG_BRD=m\n";

    #[test]
    fn the_hash_is_of_the_content() {
        let config = KernelConfig::parse(TEXT);
        let shuffled = "CONFIG_BRD=m\nCONFIG_HZ=250\n\nCONFIG_LRU_GEN=y\nCONFIG_NUMA=n\n";
        assert_eq!(config.hash(), KernelConfig::parse(shuffled).hash());
        assert_ne!(config.hash(), KernelConfig::parse("CONFIG_HZ=250\n").hash());
        assert_eq!((config.value("HZ"), config.value("NUMA")), ("250", "n"));
    }

    #[test]
    fn differences_name_both_sides() {
        let other = KernelConfig::parse(&format!(
            "{TEXT}CONFIG_HZ=1000\nCONFIG_DEBUG_LIST=y\nCONFIG_BUILD_SALT=\"x\"\n"
        ));
        let found = KernelConfig::parse(TEXT).differences(&other);
        let lines: Vec<String> =
            found.iter().map(|d| format!("{} {} {}", d.symbol, d.first, d.second)).collect();
        assert_eq!(lines, ["DEBUG_LIST n y", "HZ 250 1000"]);
    }

    #[test]
    fn what_a_fragment_did_not_get_is_named() {
        let missing =
            KernelConfig::parse(TEXT).missing("CONFIG_BRD=y\nCONFIG_LRU_GEN=y\n# CONFIG_HZ is not set\n");
        let symbols: Vec<&str> = missing.iter().map(|d| d.symbol.as_str()).collect();
        assert_eq!(symbols, ["BRD", "HZ"]);
    }

    #[test]
    fn the_embedded_configuration_is_found() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(TEXT.as_bytes()).unwrap();
        let image = [b"IKC..IKCFG_ST".to_vec(), packed.finish().unwrap(), b"IKCFG_ED".to_vec()].concat();
        assert_eq!(embedded(&image), Some(KernelConfig::parse(TEXT)));
        assert_eq!(embedded(&image[..40]), None);
    }
}
