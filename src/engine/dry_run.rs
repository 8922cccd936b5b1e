//! What live AWS would be asked, and what that costs: worked out before anything is sent.

use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DryRun {
    /// Operation, and how often.
    pub calls: Vec<(String, String)>,
    pub metrics: Option<MetricsCost>,
}

/// GetMetricData is charged by the metric requested, not by the call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricsCost {
    pub window: String,
    pub metrics: usize,
    pub most_datapoints: i64,
    pub price_usd: f64,
}
