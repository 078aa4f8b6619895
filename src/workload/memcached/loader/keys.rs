//! The sequence of keys of one client, as memtier_benchmark defines it.
//!
//! Zipf keys follow W. Hörmann and G. Derflinger, "Rejection-inversion to
//! generate variates from monotone discrete distributions" (1996); Gaussian
//! ones Marsaglia's polar method. Both draw from the same generator as memtier
//! and in the same order, so that equal options give equal keys.

use super::random::AdditiveRandom;
use crate::config::workload::KeyPattern;

/// SET or GET.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Set,
    Get,
}

/// What all clients share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct KeyRange {
    pub(super) minimum: u64,
    pub(super) maximum: u64,
    pub(super) set: KeyPattern,
    pub(super) get: KeyPattern,
    pub(super) zipf_exponent: f64,
}

/// Exponents closer than this to 0 or 1 are taken for 0 or 1.
const EXPONENT_EPSILON: f64 = 1e-4;

/// The keys of one client.
#[derive(Debug, Clone)]
pub(super) struct ClientKeys {
    range: KeyRange,
    minimum: u64,
    maximum: u64,
    next_set: u64,
    next_get: u64,
    random: AdditiveRandom,
    /// The polar method makes two deviates at a time.
    spare: Option<f64>,
    zipf: Zipf,
}

impl ClientKeys {
    /// The keys of client `index` of `clients`, all threads and runs counted in one row.
    pub(super) fn new(range: KeyRange, index: u64, clients: u64, seed: u32) -> Self {
        let (mut minimum, mut maximum) = (range.minimum, range.maximum);
        if range.set == KeyPattern::Parallel {
            let share = (range.maximum - range.minimum) / clients + 1;
            let place = index % clients;
            minimum = range.minimum + share * place;
            // The last one takes what is left over, be it more or less.
            maximum = if place == clients - 1 { range.maximum } else { minimum + share - 1 };
        }
        ClientKeys {
            range,
            minimum,
            maximum,
            next_set: minimum,
            next_get: minimum,
            random: AdditiveRandom::new(seed),
            spare: None,
            zipf: Zipf::new(range.minimum, range.maximum, range.zipf_exponent),
        }
    }

    /// The number of the next key for `operation`.
    pub(super) fn next(&mut self, operation: Operation) -> u64 {
        let (pattern, next) = match operation {
            Operation::Set => (self.range.set, &mut self.next_set),
            Operation::Get => (self.range.get, &mut self.next_get),
        };
        match pattern {
            KeyPattern::Parallel | KeyPattern::Sequential => {
                let key = *next;
                *next = if key >= self.maximum { self.minimum } else { key + 1 };
                key
            }
            KeyPattern::Random => self.random.within(self.minimum, self.maximum),
            KeyPattern::Gaussian => self.gaussian(),
            KeyPattern::Zipf => self.zipf.next(&mut self.random),
        }
    }

    /// The generator, from which memtier also draws the bytes of random values.
    pub(super) fn random(&mut self) -> &mut AdditiveRandom {
        &mut self.random
    }

    /// Around the middle of the range, a sixth of it wide, cut off at its ends.
    fn gaussian(&mut self) -> u64 {
        if self.minimum == self.maximum {
            return self.minimum;
        }
        let length = (self.maximum - self.minimum) as f64;
        let median = length / 2.0 + self.minimum as f64 + 0.5;
        let deviation = length / 6.0;
        loop {
            let value = deviation * self.standard_normal() + median;
            if value >= self.minimum as f64 && value <= (self.maximum + 1) as f64 {
                return value as u64;
            }
        }
    }

    fn standard_normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let u = self.random.unit() * 2.0 - 1.0;
            let v = self.random.unit() * 2.0 - 1.0;
            let square = u * u + v * v;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(v * factor);
                return u * factor;
            }
        }
    }
}

/// The hat function's integral and its inverse, up to a constant factor.
#[derive(Debug, Clone, Copy)]
enum Hat {
    Uniform,
    /// Exponent 1: the integral is the logarithm.
    Logarithm,
    /// Exponent q: the integral is x^(1-q) / (1-q); kept here without the divisor.
    Power {
        exponent: f64,
        one_minus: f64,
        inverse: f64,
    },
}

impl Hat {
    fn integral(self, x: f64) -> f64 {
        match self {
            Hat::Uniform => x,
            Hat::Logarithm => x.ln(),
            Hat::Power { one_minus, .. } => x.powf(one_minus),
        }
    }

    fn inverse(self, area: f64) -> f64 {
        match self {
            Hat::Uniform => area,
            Hat::Logarithm => area.exp(),
            Hat::Power { inverse, .. } => area.powf(inverse),
        }
    }

    /// The area at the left end of the bar of `k`, seen from its right end.
    fn before_bar(self, k: f64, right: f64) -> f64 {
        match self {
            Hat::Uniform => right - 1.0,
            Hat::Logarithm => right.ln() - 1.0 / k,
            Hat::Power { exponent, one_minus, .. } => right.powf(one_minus) - one_minus * k.powf(-exponent),
        }
    }

    /// Whether the area lies below the bar of `k`.
    fn accepts(self, area: f64, k: f64) -> bool {
        match self {
            Hat::Uniform => true,
            Hat::Logarithm => area > (k + 0.5).ln() - 1.0 / k,
            Hat::Power { exponent, one_minus, inverse } => {
                inverse * (area - (k + 0.5).powf(one_minus)) > -k.powf(-exponent)
            }
        }
    }
}

#[derive(Debug, Clone)]
struct Zipf {
    minimum: u64,
    maximum: u64,
    hat: Hat,
    low: f64,
    high: f64,
    /// Within this distance below a bar's middle no further test is needed.
    shortcut: f64,
}

impl Zipf {
    fn new(minimum: u64, maximum: u64, exponent: f64) -> Self {
        let minimum = minimum.max(1);
        let maximum = maximum.max(minimum);
        let hat = if exponent < EXPONENT_EPSILON {
            Hat::Uniform
        } else if (exponent - 1.0).abs() < EXPONENT_EPSILON {
            Hat::Logarithm
        } else {
            let one_minus = 1.0 - exponent;
            Hat::Power { exponent, one_minus, inverse: 1.0 / one_minus }
        };
        let first = minimum as f64;
        Zipf {
            minimum,
            maximum,
            hat,
            low: hat.before_bar(first, first + 0.5),
            high: hat.integral(maximum as f64 + 0.5),
            shortcut: first + 1.0 - hat.inverse(hat.before_bar(first + 1.0, first + 1.5)),
        }
    }

    fn next(&self, random: &mut AdditiveRandom) -> u64 {
        if matches!(self.hat, Hat::Uniform) {
            return random.within(self.minimum, self.maximum);
        }
        let (first, last) = (self.minimum as f64, self.maximum as f64);
        loop {
            let area = random.unit() * (self.high - self.low) + self.low;
            let mut x = self.hat.inverse(area);
            if x < first - 0.5 {
                x = first + 0.5;
            }
            if x >= last + 0.5 {
                x = last;
            }
            let k = (x + 0.5).floor();
            if k - x <= self.shortcut || self.hat.accepts(area, k) {
                return k as u64;
            }
        }
    }
}
