//! Statistics that plans need: quantiles of samples, a lognormal fit, and tail probabilities of the normal law.

use statrs::distribution::{ContinuousCDF, Normal};

/// The 99th percentile of the standard normal distribution.
const Z99: f64 = 2.326_347_874_040_841;

/// The smallest value of a sorted sample that at least a share `q` of it does not exceed (the nearest-rank quantile);
/// `None` for an empty sample.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a rank of a sample in memory"
    )]
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1).min(last)).copied()
}

/// The variance of a lognormal distribution with this mean and 99th percentile.
///
/// With s the standard deviation of the logarithm, ln(p99/mean) = z·s − s²/2, hence s = z − √(z² − 2 ln(p99/mean)) and
/// Var = mean²·(exp(s²) − 1), z = 2.3263. `None` where no such distribution exists: p99 below the mean, or above
/// exp(z²/2) = 14.97 times it.
pub fn lognormal_variance(mean: f64, p99: f64) -> Option<f64> {
    if mean == 0.0 && p99 == 0.0 {
        return Some(0.0);
    }
    let log_ratio = (p99 / mean).ln();
    let discriminant = Z99.mul_add(Z99, -2.0 * log_ratio);
    if !log_ratio.is_finite() || log_ratio < 0.0 || discriminant < 0.0 {
        return None;
    }
    let s = Z99 - discriminant.sqrt();
    Some(mean * mean * (s * s).exp_m1())
}

/// P(X > x) for a normal X; a sure value (deviation 0) is either above or not.
pub fn normal_tail(x: f64, mean: f64, deviation: f64) -> f64 {
    if deviation <= 0.0 {
        return if mean > x { 1.0 } else { 0.0 };
    }
    Normal::standard().sf((x - mean) / deviation)
}

/// The z with P(Z > z) = `tail` for a standard normal Z.
pub fn normal_tail_quantile(tail: f64) -> f64 {
    -Normal::standard().inverse_cdf(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-6 * b.abs().max(1.0)
    }

    #[test]
    fn a_quantile_is_a_value_of_the_sample() {
        let sample: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(quantile(&sample, 0.99), Some(99.0));
        assert_eq!(quantile(&sample, 0.0), Some(1.0));
        assert_eq!(quantile(&sample, 1.0), Some(100.0));
        assert_eq!(quantile(&[7.0], 0.5), Some(7.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn the_lognormal_fit_gives_back_what_it_was_fitted_to() {
        // By hand for mean 4.5 and p99 9: ln 2 = 0.693147, s = 2.326348 - sqrt(5.411894 - 1.386294) = 0.319955,
        // Var = 20.25 * (exp(0.102371) - 1) = 2.182842.
        let variance = lognormal_variance(4.5, 9.0).unwrap();
        assert!((variance - 2.1828).abs() < 1e-3, "{variance}");
        // And backwards: the p99 of that law is 9.
        let s2 = (variance / 20.25).ln_1p();
        let p99 = (4.5_f64.ln() - s2 / 2.0 + Z99 * s2.sqrt()).exp();
        assert!(close(p99, 9.0), "{p99}");
    }

    #[test]
    fn a_fit_that_does_not_exist_is_none() {
        assert_eq!(lognormal_variance(4.0, 3.9), None);
        assert!(lognormal_variance(1.0, 14.9).is_some());
        assert_eq!(lognormal_variance(1.0, 15.0), None);
        assert_eq!(lognormal_variance(0.0, 0.0), Some(0.0));
        assert_eq!(lognormal_variance(0.0, 5.0), None);
        assert_eq!(lognormal_variance(3.0, 3.0), Some(0.0));
    }

    #[test]
    fn normal_tails() {
        assert!(close(normal_tail(0.0, 0.0, 1.0), 0.5));
        assert!(close(normal_tail(1.959_963_985, 0.0, 1.0), 0.025));
        assert_eq!(normal_tail(5.0, 4.0, 0.0), 0.0);
        assert_eq!(normal_tail(5.0, 6.0, 0.0), 1.0);
        assert!(close(normal_tail_quantile(0.01), Z99));
    }
}
