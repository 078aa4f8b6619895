//! A drawing as a list of shapes, before it becomes SVG or PNG.
//!
//! Charts only build this list. So one chart gives both formats, and tests can
//! ask where texts lie and whether they overlap.

use plotters::style::FontDesc;
use plotters::style::FontFamily;
use plotters::style::FontStyle;

use super::error::ChartError;
use super::theme::{FONT, Ink, Marker, register_fonts};

/// A place, in pixels from the upper left corner.
pub type Place = (f64, f64);

/// Which part of a text lies at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Start,
    Middle,
    End,
}

/// A line of text; its place is at half its height.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    pub at: Place,
    pub text: String,
    /// Height of the letters' em square.
    pub size: f64,
    pub bold: bool,
    pub ink: Ink,
    pub align: Align,
}

/// One element.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    Line { points: Vec<Place>, ink: Ink, width: f64, opacity: f64 },
    Area { points: Vec<Place>, ink: Ink, opacity: f64 },
    Point { at: Place, marker: Marker, radius: f64, ink: Ink, opacity: f64 },
    Text(Text),
}

/// A chart, ready to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    pub width: f64,
    pub height: f64,
    pub shapes: Vec<Shape>,
}

impl Text {
    pub fn new(at: Place, text: impl Into<String>, size: f64, ink: Ink) -> Self {
        Text { at, text: text.into(), size, bold: false, ink, align: Align::Start }
    }

    pub fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    pub fn align(mut self, align: Align) -> Self {
        self.align = align;
        self
    }

    /// Left, top, right, bottom.
    pub fn bounds(&self) -> (f64, f64, f64, f64) {
        let width = text_width(&self.text, self.size, self.bold);
        let left = match self.align {
            Align::Start => self.at.0,
            Align::Middle => self.at.0 - width / 2.0,
            Align::End => self.at.0 - width,
        };
        (left, self.at.1 - 0.5 * self.size, left + width, self.at.1 + 0.5 * self.size)
    }
}

impl Picture {
    pub fn new(width: f64, height: f64) -> Self {
        Picture { width, height, shapes: Vec::new() }
    }

    pub fn line(&mut self, from: Place, to: Place, ink: Ink, width: f64) {
        self.shapes.push(Shape::Line { points: vec![from, to], ink, width, opacity: 1.0 });
    }

    pub fn path(&mut self, points: Vec<Place>, ink: Ink, width: f64) {
        if points.len() > 1 {
            self.shapes.push(Shape::Line { points, ink, width, opacity: 1.0 });
        }
    }

    /// A filled rectangle between two corners.
    pub fn rectangle(&mut self, a: Place, b: Place, ink: Ink, opacity: f64) {
        let points = vec![a, (b.0, a.1), b, (a.0, b.1)];
        self.shapes.push(Shape::Area { points, ink, opacity });
    }

    pub fn area(&mut self, points: Vec<Place>, ink: Ink, opacity: f64) {
        self.shapes.push(Shape::Area { points, ink, opacity });
    }

    pub fn point(&mut self, at: Place, marker: Marker, radius: f64, ink: Ink) {
        self.shapes.push(Shape::Point { at, marker, radius, ink, opacity: 1.0 });
    }

    pub fn faint_point(&mut self, at: Place, marker: Marker, radius: f64, (ink, opacity): (Ink, f64)) {
        self.shapes.push(Shape::Point { at, marker, radius, ink, opacity });
    }

    pub fn text(&mut self, text: Text) {
        self.shapes.push(Shape::Text(text));
    }

    /// A dashed line, level or upright.
    pub fn dashes(&mut self, from: Place, to: Place, ink: Ink, width: f64) {
        const DASH: f64 = 5.0;
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let (x, y) = ((to.0 - from.0) / length, (to.1 - from.1) / length);
        let mut start = 0.0;
        while start < length {
            let end = (start + DASH).min(length);
            let place = |d: f64| (from.0 + d * x, from.1 + d * y);
            self.line(place(start), place(end), ink, width);
            start += 1.8 * DASH;
        }
    }

    pub fn texts(&self) -> impl Iterator<Item = &Text> {
        self.shapes.iter().filter_map(|shape| match shape {
            Shape::Text(text) => Some(text),
            _ => None,
        })
    }
}

/// The width of a text in the embedded font.
pub fn text_width(text: &str, size: f64, bold: bool) -> f64 {
    // Without the font the drawing itself fails and says why; this is only a layout.
    let guess = 0.55 * size * text.chars().count() as f64;
    if register_fonts().is_err() {
        return guess;
    }
    // Measured large, since the library rounds to whole pixels.
    let (large, style) = (512.0, if bold { FontStyle::Bold } else { FontStyle::Normal });
    let font = FontDesc::new(FontFamily::Name(FONT), large * EM, style);
    font.box_size(text).map_or(guess, |(width, _)| f64::from(width) * size / large)
}

/// The library's font size is the height of a line, of which the em square is a part.
pub(super) const EM: f64 = 1.21;

/// Breaks a text into lines that fit.
pub fn wrap(text: &str, size: f64, bold: bool, width: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if line.is_empty() || text_width(&longer, size, bold) <= width {
            *line = longer;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Shortens a text in its middle until it fits.
pub fn shorten(text: &str, size: f64, bold: bool, width: f64) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut kept = letters.len();
    let mut shown = text.to_owned();
    while kept > 4 && text_width(&shown, size, bold) > width {
        kept -= 1;
        let head = kept.div_ceil(2);
        shown =
            letters[..head].iter().chain(&['…']).chain(&letters[letters.len() - (kept - head)..]).collect();
    }
    shown
}

/// Fails where a drawing could not be made at all.
pub(super) fn check_fonts() -> Result<(), ChartError> {
    register_fonts()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_a_width_and_can_be_fitted() {
        let narrow = text_width("iiii", 12.0, false);
        let wide = text_width("MMMM", 12.0, false);
        assert!(narrow > 5.0 && wide > 2.0 * narrow, "{narrow} {wide}");
        assert!(text_width("throughput", 12.0, true) > text_width("throughput", 12.0, false));
        let lines = wrap("one two three four", 12.0, false, 60.0);
        assert!(lines.len() >= 2 && lines.concat().len() >= 15, "{lines:?}");
        let short = shorten("memcached.operations_per_second_of_everything", 12.0, false, 120.0);
        assert!(short.contains('…') && text_width(&short, 12.0, false) <= 120.0, "{short}");
    }
}
