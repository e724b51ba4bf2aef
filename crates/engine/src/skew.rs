//! Draws that are not uniform, each O(1) and exact: shares by weight, ranks by Zipf's law, and
//! the self-similar ranks that fio calls Pareto.

use crate::seed::scale;

/// Draws a number with a probability in proportion to its weight: Vose's alias table.
#[derive(Clone, Debug)]
pub struct AliasTable {
    /// Below this 2^-64th part of its column a column is itself, above its alias.
    columns: Vec<(u64, usize)>,
}

impl AliasTable {
    /// A table of positive weights (one of them may be the only one above 0).
    pub fn new(weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let count = weights.len() as f64;
        let mut shares: Vec<f64> = weights.iter().map(|one| one / total * count).collect();
        let mut columns: Vec<_> = (0..weights.len()).map(|one| (u64::MAX, one)).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..weights.len()).partition(|&one| shares[one] < 1.0);
        while let (Some(&low), Some(&high)) = (small.last(), large.last()) {
            small.pop();
            columns[low] = ((shares[low] * 2f64.powi(64)) as u64, high);
            shares[high] -= 1.0 - shares[low];
            if shares[high] < 1.0 {
                large.pop();
                small.push(high);
            }
        }
        Self { columns }
    }

    /// The number that a uniform draw of 64 bits falls on.
    #[inline]
    pub fn pick(&self, draw: u64) -> usize {
        let column = scale(draw, self.columns.len() as u64) as usize;
        let within = draw.wrapping_mul(self.columns.len() as u64);
        let (threshold, alias) = self.columns[column];
        if within < threshold {
            column
        } else {
            alias
        }
    }
}

/// A uniform number in [0, 1) of 53 bits.
#[inline]
fn unit(draw: u64) -> f64 {
    (draw >> 11) as f64 / (1u64 << 53) as f64
}

/// Ranks 0..count, rank k with a probability in proportion to (k + 1)^-theta, by rejection
/// inversion (Hörmann and Derflinger, 1996): less than two draws each for every theta and count.
#[derive(Clone, Debug)]
pub struct Zipf {
    count: f64,
    theta: f64,
    integral_first: f64,
    integral_last: f64,
    /// Ranks nearer than this to their inverse need no second look.
    sure: f64,
}

impl Zipf {
    pub fn new(count: u64, theta: f64) -> Self {
        let mut zipf = Self {
            count: count as f64,
            theta,
            integral_first: 0.0,
            integral_last: 0.0,
            sure: 0.0,
        };
        zipf.integral_first = zipf.integral(1.5) - 1.0;
        zipf.integral_last = zipf.integral(zipf.count + 0.5);
        zipf.sure = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.weight(2.0));
        zipf
    }

    pub fn rank(&self, mut draw: impl FnMut() -> u64) -> u64 {
        loop {
            let area =
                self.integral_last + unit(draw()) * (self.integral_first - self.integral_last);
            let real = self.inverse(area);
            let whole = real.round().clamp(1.0, self.count);
            let accepted = whole - real <= self.sure
                || area >= self.integral(whole + 0.5) - self.weight(whole);
            if accepted {
                return whole as u64 - 1;
            }
        }
    }

    fn weight(&self, rank: f64) -> f64 {
        (-self.theta * rank.ln()).exp()
    }

    /// Antiderivative of the weight, (x^(1 - theta) - 1) / (1 - theta), also at theta 1.
    fn integral(&self, rank: f64) -> f64 {
        let log = rank.ln();
        let scaled = (1.0 - self.theta) * log;
        let stretch = if scaled.abs() > 1e-8 {
            scaled.exp_m1() / scaled
        } else {
            1.0 + scaled / 2.0
        };
        stretch * log
    }

    fn inverse(&self, area: f64) -> f64 {
        // Rounding may reach just below -1, where the logarithm ends.
        let scaled = (area * (1.0 - self.theta)).max(-1.0);
        let shrink = if scaled.abs() > 1e-8 {
            scaled.ln_1p() / scaled
        } else {
            1.0 - scaled / 2.0
        };
        (shrink * area).exp()
    }
}

/// Ranks 0..count of which the first share h takes a share 1 - h of the draws, the first h of
/// those again 1 - h of these, and so on.
#[derive(Clone, Debug)]
pub struct Pareto {
    count: u64,
    power: f64,
}

impl Pareto {
    pub fn new(count: u64, h: f64) -> Self {
        Self {
            count,
            power: h.ln() / (1.0 - h).ln(),
        }
    }

    pub fn rank(&self, draw: u64) -> u64 {
        let rank = (self.count as f64 * unit(draw).powf(self.power)) as u64;
        rank.min(self.count - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::derive_seed;

    const DRAWS: u64 = if cfg!(miri) { 2_000 } else { 400_000 };

    fn counts(count: usize, mut rank: impl FnMut(&mut dyn FnMut() -> u64) -> u64) -> Vec<u64> {
        let mut number = 0;
        let mut draw = || {
            number += 1;
            derive_seed(11, number)
        };
        let mut counts = vec![0; count];
        for _ in 0..DRAWS {
            counts[rank(&mut draw) as usize] += 1;
        }
        counts
    }

    /// Chi-square over bins of enough expected draws each; five deviations of its distribution.
    fn assert_fits(counts: &[u64], probability: impl Fn(usize) -> f64, what: &str) {
        let (mut chi_square, mut bins) = (0.0, 0.0);
        let (mut seen, mut expected) = (0.0, 0.0);
        for (rank, &count) in counts.iter().enumerate() {
            seen += count as f64;
            expected += probability(rank) * DRAWS as f64;
            if expected > 20.0 {
                chi_square += (seen - expected).powi(2) / expected;
                bins += 1.0;
                (seen, expected) = (0.0, 0.0);
            }
        }
        let limit = bins + 5.0 * f64::sqrt(2.0 * bins);
        assert!(
            bins > 1.0 && chi_square < limit,
            "{what}: {chi_square} of {bins}"
        );
    }

    #[test]
    fn zipf_ranks_follow_the_law_for_every_theta() {
        let many = if cfg!(miri) { 50 } else { 5_000 };
        for theta in [0.2, 0.8, 0.99, 1.0, 1.1, 1.5, 2.5] {
            for count in [2, 10, many] {
                let zipf = Zipf::new(count, theta);
                let drawn = counts(count as usize, |draw| zipf.rank(draw));
                let total: f64 = (1..=count).map(|k| (k as f64).powf(-theta)).sum();
                let probability = |rank: usize| (rank as f64 + 1.0).powf(-theta) / total;
                assert_fits(&drawn, probability, &format!("theta {theta} of {count}"));
            }
        }
    }

    #[test]
    fn zipf_ranks_of_a_huge_device_stay_within_it() {
        for theta in [0.01, 0.5, 1.0, 1.2, 5.0, 20.0] {
            let zipf = Zipf::new(1 << 52, theta);
            let mut number = 0;
            for _ in 0..DRAWS / 40 {
                let rank = zipf.rank(|| {
                    number += 1;
                    derive_seed(3, number)
                });
                assert!(rank < 1 << 52);
            }
        }
    }

    #[test]
    fn pareto_ranks_are_self_similar() {
        for h in [0.1, 0.2, 0.4] {
            let pareto = Pareto::new(1_000, h);
            let drawn = counts(1_000, |draw| pareto.rank(draw()));
            let below = |rank: f64| (rank / 1_000.0).powf((1.0 - h).ln() / h.ln());
            let probability = |rank: usize| below(rank as f64 + 1.0) - below(rank as f64);
            assert_fits(&drawn, probability, &format!("h {h}"));
            let hot: u64 = drawn[..(1_000.0 * h) as usize].iter().sum();
            let share = hot as f64 / DRAWS as f64;
            let deviation = (h * (1.0 - h) / DRAWS as f64).sqrt();
            assert!(
                (share - (1.0 - h)).abs() < 5.0 * deviation,
                "{share} for {h}"
            );
        }
    }

    #[test]
    fn an_alias_table_draws_by_weight_and_never_what_weighs_nothing() {
        let ecw = [4., 1., 1., 1., 1., 1., 1., 67., 10., 7., 3., 3.];
        for weights in [&ecw[..], &[1.0], &[3.0, 0.0, 1.0], &[1e-3, 1.0]] {
            let table = AliasTable::new(weights);
            let drawn = counts(weights.len(), |draw| table.pick(draw()) as u64);
            let total: f64 = weights.iter().sum();
            for (one, &weight) in weights.iter().enumerate() {
                let expected = weight / total * DRAWS as f64;
                let off = (drawn[one] as f64 - expected).abs();
                assert!(off <= 5.0 * expected.sqrt(), "{weights:?}: {drawn:?}");
            }
        }
    }
}
