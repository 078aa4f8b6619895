//! Zipf's law over pages in random order, drawn in constant time (alias
//! method, Vose 1991).

use rand::Rng;
use rand::RngExt;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// One column of the alias table: below `threshold` the column's own page,
/// else the other.
#[derive(Debug, Clone, Copy)]
struct Column {
    threshold: u32,
    other: u32,
}

/// Pages drawn with probability proportional to `rank^-exponent`.
#[derive(Debug, Clone)]
pub struct ZipfPages {
    /// Column `i` belongs to page `i`; ranks are shuffled over the columns.
    columns: Vec<Column>,
}

impl ZipfPages {
    /// `pages` must not be 0; the seed shuffles which page has which rank.
    pub fn new(pages: u32, exponent: f64, seed: u64) -> Self {
        let order = shuffled(pages, seed);
        let weight = |rank: usize| ((rank + 1) as f64).powf(-exponent);
        let total: f64 = (0..pages as usize).map(weight).sum();
        let scale = f64::from(pages) / total;
        let mut columns = vec![Column { threshold: u32::MAX, other: 0 }; pages as usize];
        // Ranks fall in weight, so those above the mean are the first ones.
        let mut heavy = 0usize;
        let mut rest = weight(0) * scale;
        let mut light = pages as usize;
        while light > heavy + 1 {
            let share = weight(light - 1) * scale;
            if share > 1.0 {
                break;
            }
            light -= 1;
            columns[order[light] as usize] = Column { threshold: to_threshold(share), other: order[heavy] };
            rest -= 1.0 - share;
            // A heavy rank used up below one column becomes light itself.
            while rest < 1.0 && heavy + 1 < light {
                let donor = heavy;
                heavy += 1;
                columns[order[donor] as usize] =
                    Column { threshold: to_threshold(rest), other: order[heavy] };
                rest += weight(heavy) * scale - 1.0;
            }
        }
        for &page in &order[heavy..light] {
            columns[page as usize] = Column { threshold: u32::MAX, other: page };
        }
        ZipfPages { columns }
    }

    /// A page.
    pub fn draw(&self, random: &mut impl Rng) -> u32 {
        // One draw serves both choices: the high half picks a column, the
        // low half a side.
        let bits = random.next_u64();
        let page = (((bits >> 32) * self.columns.len() as u64) >> 32) as u32;
        let column = self.columns[page as usize];
        if bits as u32 <= column.threshold { page } else { column.other }
    }
}

fn to_threshold(share: f64) -> u32 {
    (share.clamp(0.0, 1.0) * f64::from(u32::MAX)) as u32
}

/// The numbers below `count` in random order (Fisher and Yates).
fn shuffled(count: u32, seed: u64) -> Vec<u32> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut order: Vec<u32> = (0..count).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, random.random_range(0..=i));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_law() {
        for (pages, exponent) in [(1u32, 1.0), (2, 0.5), (50, 0.0), (50, 0.99), (300, 1.4)] {
            let zipf = ZipfPages::new(pages, exponent, 3);
            let mut shares = vec![0.0; pages as usize];
            for (page, column) in zipf.columns.iter().enumerate() {
                let own = (f64::from(column.threshold) + 1.0) / f64::from(u32::MAX);
                shares[page] += own.min(1.0);
                shares[column.other as usize] += 1.0 - own.min(1.0);
            }
            let order = shuffled(pages, 3);
            let weights: Vec<f64> = (1..=pages).map(|r| f64::from(r).powf(-exponent)).collect();
            let total: f64 = weights.iter().sum();
            for (rank, &page) in order.iter().enumerate() {
                let (law, table) = (weights[rank] / total, shares[page as usize] / f64::from(pages));
                assert!((law - table).abs() < 1e-7, "{pages} pages, rank {rank}: {law} against {table}");
            }
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_pages() {
        let zipf = ZipfPages::new(1000, 0.99, 5);
        let draws = |seed| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            (0..100).map(|_| zipf.draw(&mut random)).collect::<Vec<u32>>()
        };
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
    }
}
