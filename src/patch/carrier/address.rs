//! Mail addresses are dropped on reading: nothing downstream ever holds one.

/// What stands where an address stood.
pub(crate) const DROPPED: &str = "(address)";

/// Replaces every `local@domain`, masked ones too, in one pass.
pub(crate) fn drop_addresses(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|b| *b == b'@') {
        let sign = at + found;
        let local = bytes[kept..sign].iter().rev().take_while(|b| is_local(**b)).take(256).count();
        let domain = bytes[sign + 1..].iter().take_while(|b| is_domain(**b)).take(256).count();
        at = sign + 1 + domain;
        if local == 0 || domain == 0 {
            continue;
        }
        let mut start = sign - local;
        let mut end = at;
        while end > sign && bytes[end - 1] == b'.' {
            end -= 1;
        }
        let angled = start > kept && bytes[start - 1] == b'<' && bytes.get(end) == Some(&b'>');
        if angled {
            start -= 1;
            end += 1;
        }
        out.push_str(&text[kept..start]);
        out.push_str(DROPPED);
        kept = end;
        at = at.max(end);
    }
    out.push_str(&text[kept..]);
    out
}

fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-' | b'=')
}

fn is_domain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_')
}

/// The display name of a `From:` value; `None` when it holds only an address.
pub(crate) fn display_name(from: &str) -> Option<String> {
    let name = from.split('<').next().unwrap_or(from).replace(DROPPED, " ");
    let name = name.trim().trim_matches(['"', '\'']).trim();
    let plain = !name.is_empty() && !name.contains('@') && name.len() <= 120;
    plain.then(|| name.to_owned())
}

/// The part of a message id that names no person: its leading digits, dots and dashes.
pub(crate) fn message_key(id: &str) -> Option<String> {
    let id = id.trim().trim_start_matches('<');
    let key: String =
        id.chars().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | '-')).take(60).collect();
    let key = key.trim_end_matches(['-', '.']);
    (key.len() >= 6).then(|| key.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_go_and_numbers_stay() {
        for (text, expected) in [
            ("Kai Example <kai@example.org> wrote 44.5", "Kai Example (address) wrote 44.5"),
            ("kai@...mple.org, x@xxxxx.", "(address), (address)."),
            ("@@ -1,2 +3,4 @@ int f", "@@ -1,2 +3,4 @@ int f"),
            ("a @ b user@ @host", "a @ b user@ @host"),
            ("https://lore/all/2023.1-10-a.b@example/", "https://lore/all/(address)/"),
        ] {
            assert_eq!(drop_addresses(text), expected);
        }
    }

    #[test]
    fn names_and_keys_without_addresses() {
        assert_eq!(display_name("\"Exa, Mple\" <a@b.c>").as_deref(), Some("Exa, Mple"));
        assert_eq!(display_name("a@b.c"), None);
        assert_eq!(message_key("<20240101183321.19984-4-kai@b>").as_deref(), Some("20240101183321.19984-4"));
        assert_eq!(message_key("<CAMx@b>"), None);
    }

    proptest::proptest! {
        #[test]
        fn no_address_is_left(text in "\\PC{0,60}", local in "[a-z.]{1,9}", domain in "[a-z.]{1,9}") {
            let dropped = drop_addresses(&format!("{text} <{local}@x{domain}> {text}"));
            let needle = format!("{local}@x");
            proptest::prop_assert!(!dropped.contains(&needle), "{}", dropped);
        }
    }
}
