//! The one theme: colours, markers, sizes, fonts.
//!
//! Arms differ by colour, by the lightness of the colour and by the shape of
//! the marker, so that a reader who sees no colour, or a grey print, still tells
//! them apart. Each colour has a twin for dark pages, which the SVG carries in a
//! style sheet; PNG is always light.

use std::sync::OnceLock;

use plotters::style::FontStyle;
use plotters::style::RGBColor;
use plotters::style::register_font;

use super::error::ChartError;
use crate::config::ArmRole;

/// Width of every chart, in pixels.
pub const WIDTH: f64 = 880.0;
/// The name that drawings give to their font: the embedded one, else any without serifs.
pub const FONT: &str = "Inter, Helvetica, Arial, sans-serif";

const REGULAR: &[u8] = include_bytes!("font/Inter-Regular-subset.otf");
const SEMI_BOLD: &[u8] = include_bytes!("font/Inter-SemiBold-subset.otf");

/// A colour by its purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    Paper,
    /// Titles and values.
    Text,
    /// Axes, units, notes.
    Muted,
    Grid,
    Axis,
    /// The band in which a change is of no interest.
    Margin,
    /// What an author claims.
    Claim,
    Baseline,
    Candidate,
    SecondCandidate,
    ThirdCandidate,
    Control,
    Placebo,
    Better,
    Worse,
}

/// Purpose, colour on light paper, colour on dark paper. No two are equal.
const COLOURS: [(Ink, u32, u32); 15] = [
    (Ink::Paper, 0xFFFFFF, 0x12161C),
    (Ink::Text, 0x17202B, 0xE8EDF3),
    (Ink::Muted, 0x586474, 0x9DAABA),
    (Ink::Grid, 0xE4E8ED, 0x29313C),
    (Ink::Axis, 0x94A0AE, 0x5C6878),
    (Ink::Margin, 0xEEF1F5, 0x1D242E),
    (Ink::Claim, 0x8A1C7C, 0xE58AD8),
    (Ink::Baseline, 0x1F4E8C, 0x82B4F2),
    (Ink::Candidate, 0xE07B00, 0xFFA940),
    (Ink::SecondCandidate, 0xB5446E, 0xF08DB3),
    (Ink::ThirdCandidate, 0x6B5BD2, 0xB4A9FF),
    (Ink::Control, 0x4F8F8B, 0x7CCFC9),
    (Ink::Placebo, 0x7D8A3C, 0xC0CE78),
    (Ink::Better, 0x0F7B52, 0x5FD3A2),
    (Ink::Worse, 0xB42318, 0xFF8A7A),
];

impl Ink {
    fn hex(self) -> (u32, u32) {
        let row = COLOURS.iter().find(|(ink, _, _)| *ink == self).expect("every ink has a row");
        (row.1, row.2)
    }

    /// The colour on light paper.
    pub fn rgb(self) -> RGBColor {
        let [_, red, green, blue] = self.hex().0.to_be_bytes();
        RGBColor(red, green, blue)
    }
}

/// The shape of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    Circle,
    Triangle,
    Square,
    Diamond,
    Ring,
    Cross,
}

/// How an arm looks in every chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArmStyle {
    pub ink: Ink,
    pub marker: Marker,
}

/// The look of an arm; `candidates` counts those before it.
pub fn arm_style(role: ArmRole, candidates: usize) -> ArmStyle {
    let (ink, marker) = match (role, candidates % 3) {
        (ArmRole::Baseline, _) => (Ink::Baseline, Marker::Circle),
        (ArmRole::Control, _) => (Ink::Control, Marker::Ring),
        (ArmRole::Placebo, _) => (Ink::Placebo, Marker::Cross),
        (ArmRole::Candidate, 0) => (Ink::Candidate, Marker::Triangle),
        (ArmRole::Candidate, 1) => (Ink::SecondCandidate, Marker::Square),
        (ArmRole::Candidate, _) => (Ink::ThirdCandidate, Marker::Diamond),
    };
    ArmStyle { ink, marker }
}

/// Makes the embedded font known to the drawing library, once.
pub fn register_fonts() -> Result<(), ChartError> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let registered = *REGISTERED.get_or_init(|| {
        let font = |style, bytes| register_font(FONT, style, bytes).is_ok();
        font(FontStyle::Normal, REGULAR) && font(FontStyle::Bold, SEMI_BOLD)
    });
    if registered {
        Ok(())
    } else {
        Err(ChartError::Drawing { message: "the embedded font cannot be read".to_owned() })
    }
}

/// The rules that turn a light drawing into a dark one.
pub fn dark_rules() -> String {
    let mut rules = String::new();
    for (_, light, dark) in COLOURS {
        rules.push_str(&format!(
            "[fill=\"#{light:06X}\"]{{fill:#{dark:06X}}}[stroke=\"#{light:06X}\"]{{stroke:#{dark:06X}}}"
        ));
    }
    rules
}

/// `@font-face` rules with the embedded font, for pages and drawings that stand alone.
pub fn font_faces() -> &'static str {
    static FACES: OnceLock<String> = OnceLock::new();
    FACES.get_or_init(|| {
        [("400", REGULAR), ("600 700", SEMI_BOLD)]
            .iter()
            .map(|(weight, bytes)| {
                format!(
                    "@font-face{{font-family:Inter;font-weight:{weight};src:url(data:font/otf;base64,{}) format(\"opentype\")}}",
                    base64(bytes)
                )
            })
            .collect()
    })
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0u32, |word, i| word << 8 | u32::from(*chunk.get(i).unwrap_or(&0)));
        for digit in 0..4 {
            if digit <= chunk.len() {
                text.push(char::from(DIGITS[(word >> (18 - 6 * digit)) as usize & 63]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance of a colour, as contrast rules define it.
    fn luminance(hex: u32) -> f64 {
        let [_, red, green, blue] = hex.to_be_bytes();
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    fn contrast(a: u32, b: u32) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_can_be_read_on_both_papers() {
        for ink in [Ink::Text, Ink::Muted, Ink::Better, Ink::Worse, Ink::Claim] {
            let ((light, dark), paper) = (ink.hex(), Ink::Paper.hex());
            assert!(contrast(light, paper.0) >= 4.5, "{ink:?} on light");
            assert!(contrast(dark, paper.1) >= 4.5, "{ink:?} on dark");
        }
    }

    #[test]
    fn baseline_and_candidate_differ_in_grey_and_by_shape() {
        let (baseline, candidate) = (arm_style(ArmRole::Baseline, 0), arm_style(ArmRole::Candidate, 0));
        assert_ne!(baseline.marker, candidate.marker);
        assert!(contrast(baseline.ink.hex().0, candidate.ink.hex().0) > 2.5);
        for (ink, light, dark) in COLOURS {
            assert_eq!(COLOURS.iter().filter(|c| c.1 == light).count(), 1, "{ink:?} on light");
            assert_eq!(COLOURS.iter().filter(|c| c.2 == dark).count(), 1, "{ink:?} on dark");
        }
    }

    #[test]
    fn base64_pads() {
        assert_eq!(
            [&b""[..], b"f", b"fo", b"foo", b"foobar"].map(base64),
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYmFy"]
        );
    }
}
