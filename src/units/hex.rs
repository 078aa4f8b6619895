//! Bytes as text.

/// Two lower-case digits a byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_keep_their_zeros() {
        assert_eq!(hex(&[0, 0x0f, 0xa5]), "000fa5");
    }
}
