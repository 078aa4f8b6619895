//! What all charts share: title, note, legend, axes.

use super::picture::{Align, Picture, Text, shorten, text_width, wrap};
use super::scale::Scale;
use super::theme::{ArmStyle, Ink, Marker, WIDTH};

/// Free space left and right of a chart.
pub const EDGE: f64 = 20.0;
const TITLE: f64 = 17.0;
const NOTE: f64 = 12.5;
/// Size of labels on axes and in legends.
pub const LABEL: f64 = 12.0;
const LINE: f64 = 1.4;
/// Space below a plot for tick labels and the axis title.
const BELOW: f64 = 46.0;

/// One entry of a legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    pub style: ArmStyle,
    pub text: String,
}

/// The words of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Words {
    /// The finding.
    pub title: String,
    /// How it was measured: n, interval, order.
    pub note: String,
    pub keys: Vec<Key>,
}

/// A drawing with a place for the plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    pub picture: Picture,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Frame {
    /// `left` is the room for labels left of the plot, `height` that of the plot itself.
    pub fn new(words: &Words, left: f64, right: f64, height: f64) -> Self {
        let mut picture = Picture::new(WIDTH, 0.0);
        let mut y = 16.0 + 0.5 * TITLE;
        for line in wrap(&words.title, TITLE, true, WIDTH - 2.0 * EDGE) {
            picture.text(Text::new((EDGE, y), line, TITLE, Ink::Text).bold());
            y += 1.3 * TITLE;
        }
        for line in wrap(&words.note, NOTE, false, WIDTH - 2.0 * EDGE) {
            picture.text(Text::new((EDGE, y), line, NOTE, Ink::Muted));
            y += LINE * NOTE;
        }
        if !words.keys.is_empty() {
            y = legend(&mut picture, &words.keys, y + 4.0);
        }
        let top = y + 30.0;
        picture.height = (top + height + BELOW).ceil();
        Frame { picture, left: EDGE + left, right: WIDTH - EDGE - right, top, bottom: top + height }
    }

    pub fn x_pixels(&self) -> (f64, f64) {
        (self.left, self.right)
    }

    /// From the bottom up.
    pub fn y_pixels(&self) -> (f64, f64) {
        (self.bottom, self.top)
    }

    /// Grid lines, tick labels and the title of the horizontal axis.
    pub fn x_axis(&mut self, scale: &Scale, title: &str) {
        let mut taken: Vec<(f64, f64)> = Vec::new();
        for tick in &scale.ticks {
            let x = scale.at(tick.value);
            self.picture.line((x, self.top), (x, self.bottom), Ink::Grid, 1.0);
            let half = text_width(&tick.label, LABEL, false) / 2.0;
            if taken.iter().all(|(from, to)| x + half + 6.0 < *from || *to < x - half - 6.0) {
                let text = Text::new((x, self.bottom + 13.0), &tick.label, LABEL, Ink::Muted);
                self.picture.text(text.align(Align::Middle));
                taken.push((x - half, x + half));
            }
        }
        self.picture.line((self.left, self.bottom), (self.right, self.bottom), Ink::Axis, 1.0);
        let middle = (self.left + self.right) / 2.0;
        let text = Text::new((middle, self.bottom + 32.0), with_unit(title, &scale.unit), LABEL, Ink::Muted);
        self.picture.text(text.align(Align::Middle));
    }

    /// Grid lines and tick labels of the vertical axis; its title stands above it.
    pub fn y_axis(&mut self, scale: &Scale, title: &str) {
        for tick in &scale.ticks {
            let y = scale.at(tick.value);
            self.picture.line((self.left, y), (self.right, y), Ink::Grid, 1.0);
            let text = Text::new((self.left - 8.0, y), &tick.label, LABEL, Ink::Muted).align(Align::End);
            self.picture.text(text);
        }
        let text = Text::new((EDGE, self.top - 12.0), with_unit(title, &scale.unit), LABEL, Ink::Muted);
        self.picture.text(text);
    }

    /// Room that the labels of a vertical axis need.
    pub fn room_for(scale: &Scale) -> f64 {
        let widest = scale.ticks.iter().map(|t| text_width(&t.label, LABEL, false)).fold(0.0, f64::max);
        widest + 10.0
    }

    /// A label of a row, left of the plot.
    pub fn row_label(&mut self, y: f64, text: &str, ink: Ink, bold: bool) {
        let room = self.left - EDGE - 10.0;
        let mut label = Text::new((EDGE, y), shorten(text, LABEL, bold, room), LABEL, ink);
        label.bold = bold;
        self.picture.text(label);
    }
}

/// `latency (us)`, or the title alone where values have no unit.
pub fn with_unit(title: &str, unit: &str) -> String {
    if unit.is_empty() || title.contains(&format!("({unit})")) {
        title.to_owned()
    } else {
        format!("{title} ({unit})")
    }
}

/// Entries in rows; returns the place below them.
fn legend(picture: &mut Picture, keys: &[Key], mut y: f64) -> f64 {
    let mut x = EDGE;
    y += 4.0;
    for key in keys {
        let width = 16.0 + text_width(&key.text, LABEL, false) + 22.0;
        if x > EDGE && x + width > WIDTH - EDGE {
            x = EDGE;
            y += 19.0;
        }
        picture.point((x + 5.0, y), key.style.marker, 4.5, key.style.ink);
        picture.text(Text::new((x + 16.0, y), &key.text, LABEL, Ink::Text));
        x += width;
    }
    y + 12.0
}

/// Draws an interval with its end caps, and the estimate on it.
pub fn interval_row(picture: &mut Picture, y: f64, (low, high): (f64, f64), (ink, width): (Ink, f64)) {
    picture.line((low, y), (high, y), ink, width);
    for end in [low, high] {
        picture.line((end, y - 4.0), (end, y + 4.0), ink, width);
    }
}

/// The look of what an author claims.
pub const CLAIM: ArmStyle = ArmStyle { ink: Ink::Claim, marker: Marker::Diamond };
