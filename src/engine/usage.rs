//! What CloudWatch counted: statistics of calls, and one-minute sums.
//!
//! A statistic that has no datapoint is `None`. A minute is in the series only where some metric had a datapoint for it;
//! sums over 60-second periods are per-minute totals and are never divided again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::stats::quantile;

/// What CloudWatch has of one ModelId over a window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// The ModelId dimension: model id, profile id, or the bare id of an application profile.
    pub model_id: String,
    pub totals: Totals,
    /// Of requests over the whole window, asked as one period: percentiles of periods cannot be merged.
    pub latency_ms: Distribution,
    /// Streaming calls only.
    pub time_to_first_token_ms: Distribution,
    pub input_tokens: Distribution,
    pub output_tokens: Distribution,
    pub minutes: Vec<Minute>,
    /// Whether CloudWatch said that the answer is in part.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

/// Sums over a window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Totals {
    /// Accepted for processing, later failures included; throttled calls are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invocations: Option<f64>,
    /// Calls refused with 429; retries of the SDK count again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttles: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_errors: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_errors: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<f64>,
    /// How many calls reported their input tokens: what cache totals are divided by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_calls: Option<f64>,
    /// EstimatedTPMQuotaUsage: settled tokens, reservations not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_tokens: Option<f64>,
}

/// Statistics of requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Distribution {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

/// One minute of one ModelId, as `[minute, invocations, settled tokens, throttles]` in the file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "(i64, Option<f64>, Option<f64>, Option<f64>)", into = "(i64, Option<f64>, Option<f64>, Option<f64>)")]
pub struct Minute {
    /// Minutes since the Unix epoch.
    pub minute: i64,
    pub invocations: Option<f64>,
    pub settled_tokens: Option<f64>,
    pub throttles: Option<f64>,
}

impl From<(i64, Option<f64>, Option<f64>, Option<f64>)> for Minute {
    fn from((minute, invocations, settled_tokens, throttles): (i64, Option<f64>, Option<f64>, Option<f64>)) -> Self {
        Self { minute, invocations, settled_tokens, throttles }
    }
}

impl From<Minute> for (i64, Option<f64>, Option<f64>, Option<f64>) {
    fn from(m: Minute) -> Self {
        (m.minute, m.invocations, m.settled_tokens, m.throttles)
    }
}

impl Usage {
    /// Mean cache-read tokens of one call: the total over the calls that reported tokens.
    pub fn cache_read_mean(&self) -> Option<f64> {
        self.per_call(self.totals.cache_read_tokens)
    }

    /// Mean cache-write tokens of one call.
    pub fn cache_write_mean(&self) -> Option<f64> {
        self.per_call(self.totals.cache_write_tokens)
    }

    fn per_call(&self, total: Option<f64>) -> Option<f64> {
        self.totals.counted_calls.filter(|&calls| calls > 0.0).and_then(|calls| Some(total? / calls))
    }
}

/// The sum of several `ModelIds`, minute by minute; a value is missing only where every one of them lacks it.
pub fn sum_minutes<'a>(usage: impl IntoIterator<Item = &'a Usage>) -> Vec<Minute> {
    let mut sums: BTreeMap<i64, Minute> = BTreeMap::new();
    let add = |sum: &mut Option<f64>, value: Option<f64>| {
        if let Some(value) = value {
            *sum = Some(sum.unwrap_or(0.0) + value);
        }
    };
    for minute in usage.into_iter().flat_map(|usage| &usage.minutes) {
        let sum = sums.entry(minute.minute).or_insert(Minute {
            minute: minute.minute,
            invocations: None,
            settled_tokens: None,
            throttles: None,
        });
        add(&mut sum.invocations, minute.invocations);
        add(&mut sum.settled_tokens, minute.settled_tokens);
        add(&mut sum.throttles, minute.throttles);
    }
    sums.into_values().collect()
}

/// Busy minutes of a series: the largest one-minute sum and the 99th percentile of those there are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Peak {
    pub max: f64,
    pub p99: f64,
}

/// The peak of one column of a series; `None` without data.
pub fn peak(minutes: &[Minute], column: impl Fn(&Minute) -> Option<f64>) -> Option<Peak> {
    let mut values: Vec<f64> = minutes.iter().filter_map(column).collect();
    values.sort_by(f64::total_cmp);
    Some(Peak { max: *values.last()?, p99: quantile(&values, 0.99)? })
}

/// What throttled minutes prove: how much the account really got while it was refused more.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ThrottleEvidence {
    /// Minutes with at least one throttle.
    pub minutes: usize,
    pub throttles: f64,
    /// The most that was accepted in any throttled minute. The most, not the mean: a minute in which a burst begins or
    /// ends is throttled with little accepted, and proves nothing about the ceiling.
    pub ceiling_rpm: Option<f64>,
    /// The most settled tokens of any throttled minute.
    pub ceiling_tpm: Option<f64>,
}

/// The throttle evidence of a series; `None` where no minute was throttled.
pub fn throttle_evidence(minutes: &[Minute]) -> Option<ThrottleEvidence> {
    let throttled: Vec<&Minute> = minutes.iter().filter(|minute| minute.throttles.is_some_and(|count| count > 0.0)).collect();
    if throttled.is_empty() {
        return None;
    }
    let most = |column: fn(&Minute) -> Option<f64>| throttled.iter().filter_map(|minute| column(minute)).max_by(f64::total_cmp);
    Some(ThrottleEvidence {
        minutes: throttled.len(),
        throttles: throttled.iter().filter_map(|minute| minute.throttles).sum(),
        ceiling_rpm: most(|minute| minute.invocations),
        ceiling_tpm: most(|minute| minute.settled_tokens),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(model_id: &str, minutes: &[(i64, Option<f64>, Option<f64>, Option<f64>)]) -> Usage {
        Usage { model_id: model_id.into(), minutes: minutes.iter().map(|&minute| minute.into()).collect(), ..Usage::default() }
    }

    #[test]
    fn minutes_add_up_and_missing_stays_missing() {
        let a = usage("a", &[(1, Some(10.0), Some(100.0), None), (2, Some(5.0), None, None)]);
        let b = usage("b", &[(1, Some(1.0), Some(7.0), Some(3.0))]);
        let sums = sum_minutes([&a, &b]);
        assert_eq!(sums, vec![(1, Some(11.0), Some(107.0), Some(3.0)).into(), (2, Some(5.0), None, None).into()]);
        assert_eq!(peak(&sums, |minute| minute.invocations), Some(Peak { max: 11.0, p99: 11.0 }));
        assert_eq!(peak(&[], |minute| minute.invocations), None);
    }

    #[test]
    fn the_ceiling_is_what_throttled_minutes_accepted_at_most() {
        let minutes = usage(
            "a",
            &[
                (1, Some(500.0), Some(9.0e5), None),
                (2, Some(210.0), Some(4.0e5), Some(30.0)),
                (3, Some(90.0), Some(1.0e5), Some(70.0)),
            ],
        )
        .minutes;
        let evidence = throttle_evidence(&minutes).unwrap();
        assert_eq!((evidence.minutes, evidence.throttles), (2, 100.0));
        assert_eq!((evidence.ceiling_rpm, evidence.ceiling_tpm), (Some(210.0), Some(4.0e5)));
        assert_eq!(throttle_evidence(&minutes[..1]), None);
    }

    #[test]
    fn cache_means_are_over_all_calls_that_counted_tokens() {
        let mut usage = usage("a", &[]);
        usage.totals = Totals { cache_read_tokens: Some(4000.0), counted_calls: Some(10.0), ..Totals::default() };
        assert_eq!(usage.cache_read_mean(), Some(400.0));
        assert_eq!(usage.cache_write_mean(), None);
    }
}
