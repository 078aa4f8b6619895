//! Null distributions of rank sums, counted exactly.

/// Probabilities of the signed-rank sum 0, 1, … n(n+1)/2 when every sign is a
/// fair coin and no two distances are equal.
pub(crate) fn signed_rank(n: usize) -> Vec<f64> {
    let mut share = vec![0.0; n * (n + 1) / 2 + 1];
    share[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..share.len()).rev() {
            let with = if sum >= rank { share[sum - rank] } else { 0.0 };
            share[sum] = 0.5 * (share[sum] + with);
        }
    }
    share
}

/// Probabilities of the sum 0, 1, … of `chosen` ranks drawn without
/// replacement. Ranks may repeat: ties give exact conditional results.
pub(crate) fn rank_sum(ranks: &[usize], chosen: usize) -> Vec<f64> {
    let largest: usize = {
        let mut sorted = ranks.to_vec();
        sorted.sort_unstable();
        sorted.iter().rev().take(chosen).sum()
    };
    let mut ways = vec![vec![0.0; largest + 1]; chosen + 1];
    ways[0][0] = 1.0;
    for rank in ranks {
        for count in (1..=chosen).rev() {
            let (fewer, more) = ways.split_at_mut(count);
            for sum in *rank..=largest {
                more[0][sum] += fewer[count - 1][sum - rank];
            }
        }
    }
    let all: f64 = ways[chosen].iter().sum();
    ways[chosen].iter().map(|w| w / all).collect()
}

/// How many of the smallest sums together hold no more than `tail`.
pub(crate) fn outside(shares: &[f64], tail: f64) -> usize {
    let mut total = 0.0;
    // A rounding allowance keeps a tail of exactly `tail` in.
    shares
        .iter()
        .take_while(|s| {
            total += **s;
            total <= tail * (1.0 + 1e-12)
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_rank_shares_of_three() {
        // Sums 0..6 have 1, 1, 1, 2, 1, 1, 1 of 8 assignments.
        assert_eq!(signed_rank(3), [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0].map(|w| w / 8.0));
    }

    #[test]
    fn rank_sums_of_two_of_four() {
        // {1,2} {1,3} {1,4} {2,3} {2,4} {3,4}
        let shares = rank_sum(&[1, 2, 3, 4], 2);
        assert_eq!(shares, [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 1.0, 1.0].map(|w| w / 6.0));
    }

    #[test]
    fn outside_counts_whole_sums_only() {
        assert_eq!(outside(&[0.01, 0.01, 0.02, 0.5], 0.025), 2);
        assert_eq!(outside(&[0.01, 0.01, 0.02, 0.5], 0.04), 3);
        assert_eq!(outside(&[0.1], 0.04), 0);
    }
}
