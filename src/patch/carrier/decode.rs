//! Transfer encodings, charsets, format=flowed and markup. Every decoder is
//! linear and turns damage into replacement characters instead of failing.

/// Decodes quoted-printable. `flattened` text has lost its newlines: there a
/// bare `=` before a space is a soft break. Soft breaks are removed before any
/// quote marks are looked at, since they may split a number.
pub(crate) fn quoted_printable(text: &[u8], flattened: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        if byte != b'=' {
            out.push(byte);
            at += 1;
            continue;
        }
        if let Some(value) = hex_pair(text.get(at + 1..at + 3)) {
            out.push(value);
            at += 3;
            continue;
        }
        let blanks =
            text[at + 1..].iter().take_while(|b| matches!(**b, b' ' | b'\t' | b'\r')).take(80).count();
        match text.get(at + 1 + blanks) {
            Some(b'\n') => at += 2 + blanks,
            None => at += 1 + blanks,
            _ if flattened && text.get(at + 1) == Some(&b' ') => at += 2,
            _ => {
                out.push(b'=');
                at += 1;
            }
        }
    }
    out
}

fn hex_pair(pair: Option<&[u8]>) -> Option<u8> {
    let [high, low] = pair? else { return None };
    let digit = |b: u8| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok());
    Some(digit(*high)? << 4 | digit(*low)?)
}

/// Decodes base64, skipping what is not in its alphabet.
pub(crate) fn base64(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0u32);
    for byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => {
                (bits, count) = (0, 0);
                continue;
            }
            _ => continue,
        };
        bits = (bits << 6 | u32::from(value)) & 0x00ff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xff) as u8);
        }
    }
    out
}

/// Joins the paragraphs of a format=flowed text and removes its space stuffing.
/// A line that ends in a space continues on the next line of the same quote depth.
pub(crate) fn unflow(text: &str, delete_space: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut open: Option<usize> = None;
    for line in text.split('\n') {
        let depth = line.bytes().take_while(|b| *b == b'>').count();
        let content = line[depth..].strip_prefix(' ').unwrap_or(&line[depth..]);
        let continues = open == Some(depth);
        if !continues {
            if !out.is_empty() {
                out.push('\n');
            }
            out.extend(std::iter::repeat_n('>', depth));
            if depth > 0 {
                out.push(' ');
            }
        }
        let signature = content.trim_end() == "--";
        let flows = content.ends_with(' ') && !signature;
        let kept = if flows && delete_space { &content[..content.len() - 1] } else { content };
        out.push_str(kept);
        open = flows.then_some(depth);
    }
    out
}

/// Text in a named charset; bytes that are not valid in it become U+FFFD.
pub(crate) fn charset(bytes: Vec<u8>, name: &str) -> String {
    let name = name.trim_matches(['"', '\'', ' ']).to_ascii_lowercase();
    let plain = matches!(name.as_str(), "" | "utf-8" | "utf8" | "us-ascii" | "ascii" | "unknown-8bit" | "y");
    if plain || bytes.is_ascii() {
        return lossy(bytes);
    }
    if !name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':')) {
        return lossy(bytes);
    }
    let mut message = format!("Content-Type: text/plain; charset=\"{name}\"\n\n").into_bytes();
    message.extend_from_slice(&bytes);
    let decoded = mailparse::parse_mail(&message).ok().and_then(|mail| mail.get_body().ok());
    decoded.unwrap_or_else(|| lossy(bytes))
}

/// UTF-8, with damage replaced; Latin-1 when nothing but single high bytes is there.
pub(crate) fn lossy(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let bytes = error.as_bytes();
            // `±`, `µ` and `·` of an undeclared Latin-1 mail stand alone between ASCII.
            let alone = |at: usize| {
                let ascii = |i: Option<&u8>| i.is_none_or(u8::is_ascii);
                ascii(at.checked_sub(1).and_then(|i| bytes.get(i))) && ascii(bytes.get(at + 1))
            };
            let latin = (0..bytes.len()).filter(|at| bytes[*at] >= 0x80).all(alone);
            if latin {
                bytes.iter().map(|b| char::from(*b)).collect()
            } else {
                String::from_utf8_lossy(bytes).into_owned()
            }
        }
    }
}

/// Text of an HTML page: tags dropped, block tags as newlines, entities decoded.
pub(crate) fn strip_markup(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    let mut hidden: Option<&str> = None;
    while let Some(open) = rest.find('<') {
        if hidden.is_none() {
            entities(&rest[..open], &mut out);
        }
        let tag = &rest[open + 1..];
        let named = tag.trim_start_matches('/').starts_with(|c: char| c.is_ascii_alphabetic() || c == '!');
        let close = tag.as_bytes().iter().take(4096).position(|b| *b == b'>');
        let (true, Some(close)) = (named, close) else {
            out.push('<');
            rest = tag;
            continue;
        };
        let name: String = tag[..close]
            .trim_start_matches('/')
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        match (hidden, name.as_str()) {
            (None, "script") if !tag.starts_with('/') => hidden = Some("script"),
            (None, "style") if !tag.starts_with('/') => hidden = Some("style"),
            (Some(until), name) if until == name && tag.starts_with('/') => hidden = None,
            (None, "br" | "p" | "div" | "tr" | "li" | "pre" | "h1" | "h2" | "h3") => out.push('\n'),
            (None, "td" | "th") => out.push(' '),
            _ => {}
        }
        rest = &tag[close + 1..];
    }
    if hidden.is_none() {
        entities(rest, &mut out);
    }
    out
}

fn entities(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let known = [
            ("&lt;", '<'),
            ("&gt;", '>'),
            ("&amp;", '&'),
            ("&quot;", '"'),
            ("&#39;", '\''),
            ("&nbsp;", ' '),
            ("&plusmn;", '±'),
        ];
        let found = known.iter().find(|(name, _)| rest[at..].starts_with(name));
        let (length, decoded) = found.map_or((1, '&'), |(name, c)| (name.len(), *c));
        out.push(decoded);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_printable_joins_split_numbers() {
        assert_eq!(quoted_printable(b"RPS (-0=\n.3%)", false), b"RPS (-0.3%)");
        assert_eq!(quoted_printable(b"a=3D1 \xc2=B1 stdev=3D 4", false), "a=1 ± stdev= 4".as_bytes());
        assert_eq!(quoted_printable(b"stdev= =3D16.59, x=3D4247.= 22", true), b"stdev=16.59, x=4247.22");
        assert_eq!(quoted_printable(b"100%=", false), b"100%");
        assert_eq!(quoted_printable(b"a=zz=4", false), b"a=zz=4");
    }

    #[test]
    fn base64_ignores_what_is_not_its_alphabet() {
        assert_eq!(base64(b"QmVm\nb3Jl\r\n"), b"Before");
        assert_eq!(base64(b"QQ==QUI="), b"AAB");
    }

    #[test]
    fn flowed_text_keeps_quote_depth() {
        let text = "> a long \n> line\n>> other\nown \nwords\n-- \nsig";
        assert_eq!(unflow(text, false), "> a long line\n>> other\nown words\n-- \nsig");
    }

    #[test]
    fn charsets_and_damage() {
        assert_eq!(charset(vec![b'1', 0xb1, b'3'], "iso-8859-1"), "1±3");
        assert_eq!(lossy(vec![b'1', 0xb1, b'3']), "1±3");
        assert_eq!(lossy(vec![0xe2, 0x80, b'x', 0xff]), "\u{fffd}x\u{fffd}");
        assert_eq!(charset(vec![0xd0, 0xb4], "gbk"), "写");
    }

    #[test]
    fn markup_becomes_lines() {
        let html = "<html><style>p{}</style><pre>Before: 1 &lt; 2</pre><br>5 &plusmn; 1 a < b</html>";
        assert_eq!(strip_markup(html), "\nBefore: 1 < 2\n\n5 ± 1 a < b");
    }

    proptest::proptest! {
        #[test]
        fn decoders_take_any_bytes(bytes in proptest::collection::vec(0u8.., 0..400)) {
            quoted_printable(&bytes, true);
            quoted_printable(&bytes, false);
            base64(&bytes);
            charset(bytes.clone(), "gbk");
            let text = lossy(bytes);
            unflow(&text, true);
            strip_markup(&text);
        }
    }
}
