//! Shapes become SVG or PNG, through plotters.
//!
//! Both are drawn at twice the size, since plotters knows whole pixels only. The
//! PNG is drawn at four times and averaged, which smooths its edges.

use std::io::Write;

use flate2::Compression;
use flate2::Crc;
use flate2::write::ZlibEncoder;
use plotters::backend::BitMapBackend;
use plotters::backend::DrawingBackend;
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::drawing::IntoDrawingArea;
use plotters::element::{Circle, PathElement, Polygon};
use plotters::style::text_anchor::HPos;
use plotters::style::text_anchor::Pos;
use plotters::style::text_anchor::VPos;
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, RGBAColor, ShapeStyle, TextStyle};

use super::error::ChartError;
use super::picture::{Align, EM, Picture, Place, Shape, Text, check_fonts};
use super::theme::{FONT, Ink, Marker, dark_rules, font_faces};

/// Pixels of an SVG's coordinates, and of a PNG, for one of the chart.
const FINE: f64 = 2.0;
/// The PNG is drawn at so many times its size.
const OVERSAMPLE: usize = 2;
/// The bitmap backend centres the box of a line where SVG centres its small letters.
const BITMAP_TEXT: f64 = 0.17;

/// The picture as SVG for a page that brings font and colours.
pub fn svg_for_page(picture: &Picture, title: &str) -> Result<String, ChartError> {
    svg(picture, title, "")
}

/// The picture as an SVG file that needs nothing else and follows the reader's dark mode.
pub fn svg_file(picture: &Picture, title: &str) -> Result<String, ChartError> {
    let style =
        format!("<style>{}@media(prefers-color-scheme:dark){{{}}}</style>", font_faces(), dark_rules());
    svg(picture, title, &style)
}

fn svg(picture: &Picture, title: &str, style: &str) -> Result<String, ChartError> {
    check_fonts()?;
    let (width, height) = (FINE * picture.width, FINE * picture.height);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (width as u32, height as u32)).into_drawing_area();
        draw(picture, &area, (FINE, 0.0))?;
        area.present().map_err(failed)?;
    }
    let body = text.split_once('>').map_or("", |(_, body)| body);
    let title = title.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{title}\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {width} {height}\">\n<title>{title}</title>\n{style}{body}",
        picture.width, picture.height
    ))
}

/// The picture as a PNG file, on light paper.
pub fn png_file(picture: &Picture) -> Result<Vec<u8>, ChartError> {
    check_fonts()?;
    let (width, height) = ((FINE * picture.width) as usize, (FINE * picture.height) as usize);
    let (drawn_width, drawn_height) = (OVERSAMPLE * width, OVERSAMPLE * height);
    let mut drawn = vec![0u8; 3 * drawn_width * drawn_height];
    {
        let backend = BitMapBackend::with_buffer(&mut drawn, (drawn_width as u32, drawn_height as u32));
        let area = backend.into_drawing_area();
        draw(picture, &area, (FINE * OVERSAMPLE as f64, BITMAP_TEXT))?;
        area.present().map_err(failed)?;
    }
    encode_png(&average(&drawn, width, height), width, height)
}

/// Each pixel is the mean of a square of drawn ones.
fn average(drawn: &[u8], width: usize, height: usize) -> Vec<u8> {
    let row = 3 * OVERSAMPLE * width;
    let mut pixels = Vec::with_capacity(3 * width * height);
    for lines in drawn.chunks_exact(OVERSAMPLE * row) {
        for x in 0..width {
            for colour in 0..3 {
                let mut sum = 0;
                for y in 0..OVERSAMPLE {
                    for i in 0..OVERSAMPLE {
                        sum += usize::from(lines[y * row + 3 * (OVERSAMPLE * x + i) + colour]);
                    }
                }
                pixels.push((sum / (OVERSAMPLE * OVERSAMPLE)) as u8);
            }
        }
    }
    pixels
}

/// Eight bits for each of red, green and blue, no filter.
fn encode_png(pixels: &[u8], width: usize, height: usize) -> Result<Vec<u8>, ChartError> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    for line in pixels.chunks_exact(3 * width) {
        encoder.write_all(&[0]).and_then(|()| encoder.write_all(line)).map_err(failed)?;
    }
    let data = encoder.finish().map_err(failed)?;
    let mut header = Vec::new();
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    header.extend([8, 2, 0, 0, 0]);
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, body) in [(b"IHDR", header), (b"IDAT", data), (b"IEND", Vec::new())] {
        let mut crc = Crc::new();
        crc.update(kind);
        crc.update(&body);
        png.extend((body.len() as u32).to_be_bytes());
        png.extend(kind);
        png.extend(body);
        png.extend(crc.sum().to_be_bytes());
    }
    Ok(png)
}

fn failed(error: impl std::fmt::Display) -> ChartError {
    ChartError::Drawing { message: error.to_string() }
}

/// A canvas of either backend.
struct Canvas<'a, B: DrawingBackend> {
    area: &'a DrawingArea<B, Shift>,
    scale: f64,
    /// How far texts are moved down, in their own size.
    text_shift: f64,
}

fn draw<B: DrawingBackend>(
    picture: &Picture,
    area: &DrawingArea<B, Shift>,
    (scale, text_shift): (f64, f64),
) -> Result<(), ChartError> {
    area.fill(&Ink::Paper.rgb()).map_err(failed)?;
    let canvas = Canvas { area, scale, text_shift };
    for shape in &picture.shapes {
        match shape {
            Shape::Line { points, ink, width, opacity } => canvas.line(points, *ink, *width, *opacity)?,
            Shape::Area { points, ink, opacity } => canvas.area(points, *ink, *opacity)?,
            Shape::Point { at, marker, radius, ink, opacity } => {
                canvas.marker(*at, *marker, *radius, (*ink, *opacity))?;
            }
            Shape::Text(text) => canvas.text(text)?,
        }
    }
    Ok(())
}

fn colour(ink: Ink, opacity: f64) -> RGBAColor {
    ink.rgb().mix(opacity)
}

impl<B: DrawingBackend> Canvas<'_, B> {
    fn pixel(&self, place: Place) -> (i32, i32) {
        ((self.scale * place.0).round() as i32, (self.scale * place.1).round() as i32)
    }

    fn line(&self, points: &[Place], ink: Ink, width: f64, opacity: f64) -> Result<(), ChartError> {
        let width = (self.scale * width).round().max(1.0) as u32;
        let style = ShapeStyle { color: colour(ink, opacity), filled: false, stroke_width: width };
        let points: Vec<_> = points.iter().map(|p| self.pixel(*p)).collect();
        self.area.draw(&PathElement::new(points, style)).map_err(failed)
    }

    fn area(&self, points: &[Place], ink: Ink, opacity: f64) -> Result<(), ChartError> {
        let points: Vec<_> = points.iter().map(|p| self.pixel(*p)).collect();
        self.area.draw(&Polygon::new(points, colour(ink, opacity).filled())).map_err(failed)
    }

    fn marker(
        &self,
        (x, y): Place,
        marker: Marker,
        r: f64,
        (ink, opacity): (Ink, f64),
    ) -> Result<(), ChartError> {
        let circle = |radius: f64, ink: Ink, opacity: f64| {
            let radius = (self.scale * radius).round().max(1.0) as i32;
            let style = colour(ink, opacity).filled();
            self.area.draw(&Circle::new(self.pixel((x, y)), radius, style)).map_err(failed)
        };
        match marker {
            Marker::Circle => circle(r, ink, opacity),
            // A ring is a disc with a hole of paper: drawn so, it is as crisp as the others.
            Marker::Ring => {
                circle(r, ink, opacity)?;
                circle(0.5 * r, Ink::Paper, 1.0)
            }
            Marker::Triangle => {
                let (top, low, half) = (y - 1.15 * r, y + 0.8 * r, 1.1 * r);
                self.area(&[(x, top), (x + half, low), (x - half, low)], ink, opacity)
            }
            Marker::Square => {
                let h = 0.9 * r;
                self.area(&[(x - h, y - h), (x + h, y - h), (x + h, y + h), (x - h, y + h)], ink, opacity)
            }
            Marker::Diamond => {
                let h = 1.3 * r;
                self.area(&[(x, y - h), (x + h, y), (x, y + h), (x - h, y)], ink, opacity)
            }
            Marker::Cross => {
                let h = 0.9 * r;
                self.line(&[(x - h, y - h), (x + h, y + h)], ink, 0.55 * r, opacity)?;
                self.line(&[(x - h, y + h), (x + h, y - h)], ink, 0.55 * r, opacity)
            }
        }
    }

    fn text(&self, text: &Text) -> Result<(), ChartError> {
        let style = if text.bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = FontDesc::new(FontFamily::Name(FONT), self.scale * text.size * EM, style);
        let horizontal = match text.align {
            Align::Start => HPos::Left,
            Align::Middle => HPos::Center,
            Align::End => HPos::Right,
        };
        let ink = text.ink.rgb();
        let style = TextStyle::from(font).color(&ink).pos(Pos { h_pos: horizontal, v_pos: VPos::Center });
        let at = (text.at.0, text.at.1 + self.text_shift * text.size);
        self.area.draw_text(&text.text, &style, self.pixel(at)).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> Picture {
        let mut picture = Picture::new(80.0, 40.0);
        picture.line((5.0, 30.0), (75.0, 30.0), Ink::Axis, 1.0);
        picture.point((20.0, 20.0), Marker::Triangle, 4.0, Ink::Candidate);
        picture.text(Text::new((40.0, 20.0), "a < b & \"c\"", 10.0, Ink::Text));
        picture
    }

    #[test]
    fn drawings_repeat_to_the_byte() {
        let first = svg_file(&picture(), "a <title>").expect("drawn");
        assert_eq!(first, svg_file(&picture(), "a <title>").expect("drawn"));
        assert!(
            first.contains("<title>a &lt;title&gt;</title>") && first.contains("a &lt; b &amp;"),
            "{first}"
        );
        assert_eq!(png_file(&picture()).expect("drawn"), png_file(&picture()).expect("drawn"));
    }

    #[test]
    fn png_has_the_size_it_says_and_is_not_blank() {
        let png = png_file(&picture()).expect("drawn");
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!((&png[16..20], &png[20..24]), (&160u32.to_be_bytes()[..], &80u32.to_be_bytes()[..]));
        assert!(png.len() > 300, "{} bytes", png.len());
    }
}
