//! CloudWatch: one GetMetricData call for everything about a model.
//!
//! Three rules of the API decide the shape (API reference, read 2026-04): a period too fine for the age of the window
//! returns nothing, without an error; percentiles of several periods cannot be merged, so that statistics of requests are
//! asked as one period over the whole window; and empty periods are missing, not zero.

use std::collections::BTreeMap;

use aws_sdk_cloudwatch::Client;
use aws_sdk_cloudwatch::types::{Dimension, Metric, MetricDataQuery, MetricStat, ScanBy, StatusCode};
use aws_smithy_types::DateTime;

use super::error::{AwsError, GET_METRIC_DATA};
use crate::engine::snapshot::{Metrics, Window};
use crate::engine::usage::{Distribution, Minute, Usage};

const NAMESPACE: &str = "AWS/Bedrock";
/// One-minute points are kept for 15 days.
const MINUTES_KEPT: i64 = 15 * 1440;
/// Five-minute points are kept for 63 days, hourly ones for 455.
const FIVE_MINUTES_KEPT: i64 = 63 * 1440;
/// The longest window: hourly points are kept for 455 days.
pub const LONGEST_WINDOW_MINUTES: i64 = 455 * 1440;
/// The most queries of one call.
const MOST_QUERIES: usize = 500;
/// The most points of one page.
const MOST_POINTS: i64 = 100_800;

/// One series that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Query {
    model_id: String,
    metric: &'static str,
    statistic: &'static str,
    /// One-minute periods, rather than the whole window as one.
    by_minute: bool,
}

/// Statistics of single requests, for the workload's own ModelId.
const OF_REQUESTS: &[(&str, &[&str])] = &[
    ("InvocationLatency", &["Average", "p50", "p90", "p99", "Maximum"]),
    ("TimeToFirstToken", &["Average", "p50", "p90", "p99", "Maximum"]),
    ("InputTokenCount", &["Average", "p50", "p90", "p99", "Maximum", "SampleCount"]),
    ("OutputTokenCount", &["Average", "p50", "p90", "p99", "Maximum"]),
    ("CacheReadInputTokenCount", &["Sum"]),
    ("CacheWriteInputTokenCount", &["Sum"]),
    ("InvocationClientErrors", &["Sum"]),
    ("InvocationServerErrors", &["Sum"]),
];

/// Sums of a window, for every ModelId on the quota.
const TOTALS: &[&str] = &["Invocations", "InvocationThrottles", "EstimatedTPMQuotaUsage"];

/// What is asked, worked out before anything is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub window: Window,
    /// The `ModelId`s whose single requests are described; of the others only sums are asked.
    described: Vec<String>,
    queries: Vec<Query>,
}

impl Request {
    /// `own` are the `ModelIds` whose requests are described, `shared` the others on the same quota. The window ends at
    /// `now_minute` and is widened so that its bounds fit the periods that its age allows.
    pub fn new(own: &[String], shared: &[String], window_minutes: i64, now_minute: i64) -> Self {
        let step = match window_minutes {
            minutes if minutes <= MINUTES_KEPT => 1,
            minutes if minutes <= FIVE_MINUTES_KEPT => 5,
            _ => 60,
        };
        // Up, not down: an end in the future costs nothing, and one in the past the newest hour.
        let end_minute = (now_minute + step - 1).div_euclid(step) * step;
        let start_minute = end_minute - (window_minutes + step - 1) / step * step;
        // One minute less than what is kept: time passes between this line and CloudWatch's clock.
        let minutes_from = start_minute.max(now_minute - MINUTES_KEPT + 1);
        let mut queries = Vec::new();
        let mut ask = |model_id: &String, metric, statistic, by_minute| {
            queries.push(Query { model_id: model_id.clone(), metric, statistic, by_minute });
        };
        for id in own {
            for (metric, statistics) in OF_REQUESTS {
                statistics.iter().for_each(|statistic| ask(id, metric, statistic, false));
            }
        }
        for id in own.iter().chain(shared) {
            for metric in TOTALS {
                ask(id, metric, "Sum", false);
                ask(id, metric, "Sum", true);
            }
        }
        Self { window: Window { start_minute, end_minute, minutes_from }, described: own.to_vec(), queries }
    }

    pub fn queries(&self) -> usize {
        self.queries.len()
    }

    /// Calls, as long as no page is full: a page holds 100,800 points.
    pub fn calls(&self) -> usize {
        self.parts().len()
    }

    /// The queries of each call, by their places, with where the call begins. A call that begins before minutes are kept
    /// returns none of them, without an error, so that a long window takes a call of its own for its minutes.
    fn parts(&self) -> Vec<(i64, Vec<usize>)> {
        let (mut whole, mut by_minute) = (Vec::new(), Vec::new());
        let one = self.window.minutes_from == self.window.start_minute;
        for (place, query) in self.queries.iter().enumerate() {
            if query.by_minute && !one { by_minute.push(place) } else { whole.push(place) }
        }
        let parts = [(self.window.start_minute, whole), (self.window.minutes_from, by_minute)];
        let cut = |(start, places): (i64, Vec<usize>)| {
            places.chunks(MOST_QUERIES).map(|places| (start, places.to_vec())).collect::<Vec<_>>()
        };
        parts.into_iter().flat_map(cut).collect()
    }

    /// The most datapoints that can come back.
    pub fn most_points(&self) -> i64 {
        let minutes = self.window.end_minute - self.window.minutes_from;
        self.queries.iter().map(|query| if query.by_minute { minutes } else { 1 }).sum()
    }

    /// The most pages that those take.
    pub fn most_pages(&self) -> i64 {
        (self.most_points() + MOST_POINTS - 1) / MOST_POINTS
    }

    fn model_ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.queries.iter().map(|query| query.model_id.clone()).collect();
        ids.sort();
        ids.dedup();
        ids
    }
}

/// Series by their place in the request, with whether CloudWatch called them partial.
type Answers = BTreeMap<usize, Vec<(i64, f64)>>;

/// Asks for all of a request.
///
/// # Errors
/// Where CloudWatch cannot be asked, or forbids a series.
pub async fn fetch(client: &Client, request: &Request) -> Result<Metrics, AwsError> {
    let mut answers = Answers::new();
    let mut partial = vec![false; request.queries.len()];
    let window = request.window;
    for (start_minute, places) in request.parts() {
        let queries: Vec<MetricDataQuery> =
            places.iter().map(|&place| metric_data_query(place, &request.queries[place], window)).collect();
        let mut pages = client
            .get_metric_data()
            .set_metric_data_queries(Some(queries))
            .start_time(DateTime::from_secs(start_minute * 60))
            .end_time(DateTime::from_secs(window.end_minute * 60))
            .scan_by(ScanBy::TimestampAscending)
            .into_paginator()
            .send();
        while let Some(page) = pages.next().await {
            let page = page.map_err(|error| AwsError::of(GET_METRIC_DATA, &error))?;
            for result in page.metric_data_results() {
                let Some(place) = result.id().and_then(|id| id.strip_prefix('q')).and_then(|place| place.parse::<usize>().ok())
                else {
                    continue;
                };
                let Some(flag) = partial.get_mut(place) else { continue };
                match result.status_code() {
                    Some(StatusCode::Forbidden) => {
                        let message = "a series may not be read".to_owned();
                        return Err(AwsError::Denied { operation: GET_METRIC_DATA, message });
                    }
                    // The last page of a series says whether it is whole.
                    Some(StatusCode::PartialData | StatusCode::InternalError) => *flag = true,
                    _ => *flag = false,
                }
                let points =
                    result.timestamps().iter().zip(result.values()).map(|(time, value)| (time.secs().div_euclid(60), *value));
                answers.entry(place).or_default().extend(points);
            }
        }
    }
    Ok(assemble(request, &answers, &partial))
}

fn metric_data_query(place: usize, query: &Query, window: Window) -> MetricDataQuery {
    let dimension = Dimension::builder().name("ModelId").value(&query.model_id).build();
    let metric = Metric::builder().namespace(NAMESPACE).metric_name(query.metric).dimensions(dimension).build();
    let minutes = if query.by_minute { 1 } else { window.minutes() };
    // No unit is asked for: with a wrong one CloudWatch returns nothing, and the documented units have changed.
    let period = i32::try_from(minutes * 60).expect("a window of 455 days fits");
    let stat = MetricStat::builder().metric(metric).period(period).stat(query.statistic).build();
    MetricDataQuery::builder().id(format!("q{place}")).metric_stat(stat).return_data(true).build()
}

/// What came back, sorted out by ModelId. Ids without any datapoint have no entry.
fn assemble(request: &Request, answers: &Answers, partial: &[bool]) -> Metrics {
    let mut by_id: BTreeMap<&str, (Usage, BTreeMap<i64, Minute>)> = BTreeMap::new();
    for (place, query) in request.queries.iter().enumerate() {
        let points = answers.get(&place).map(Vec::as_slice).unwrap_or_default();
        if points.is_empty() && !partial[place] {
            continue;
        }
        let (usage, minutes) = by_id.entry(&query.model_id).or_default();
        usage.partial |= partial[place];
        if query.by_minute {
            for &(minute, value) in points.iter().filter(|(minute, _)| *minute >= request.window.minutes_from) {
                let empty = Minute { minute, invocations: None, settled_tokens: None, throttles: None };
                let at = minutes.entry(minute).or_insert(empty);
                match query.metric {
                    "Invocations" => at.invocations = Some(value),
                    "InvocationThrottles" => at.throttles = Some(value),
                    _ => at.settled_tokens = Some(value),
                }
            }
        } else if let Some(value) = whole(query.statistic, points) {
            *slot(usage, query) = Some(value);
        } else if !points.is_empty() {
            usage.partial = true;
        }
    }
    let usage = by_id
        .into_iter()
        .map(|(id, (usage, minutes))| Usage { model_id: id.to_owned(), minutes: minutes.into_values().collect(), ..usage })
        .collect();
    Metrics { window: request.window, usage, asked: request.model_ids(), described: request.described.clone() }
}

/// One value of a window that was asked as one period. Should CloudWatch cut the window in two, sums and maxima still
/// add up; means and percentiles do not, and are left out.
fn whole(statistic: &str, points: &[(i64, f64)]) -> Option<f64> {
    let values = points.iter().map(|(_, value)| *value);
    match (statistic, points) {
        (_, []) => None,
        (_, [(_, value)]) => Some(*value),
        ("Sum" | "SampleCount", _) => Some(values.sum()),
        ("Maximum", _) => values.max_by(f64::total_cmp),
        _ => None,
    }
}

fn slot<'u>(usage: &'u mut Usage, query: &Query) -> &'u mut Option<f64> {
    let of = |distribution: &'u mut Distribution| match query.statistic {
        "p50" => &mut distribution.p50,
        "p90" => &mut distribution.p90,
        "p99" => &mut distribution.p99,
        "Maximum" => &mut distribution.max,
        _ => &mut distribution.mean,
    };
    match query.metric {
        "Invocations" => &mut usage.totals.invocations,
        "InvocationThrottles" => &mut usage.totals.throttles,
        "InvocationClientErrors" => &mut usage.totals.client_errors,
        "InvocationServerErrors" => &mut usage.totals.server_errors,
        "CacheReadInputTokenCount" => &mut usage.totals.cache_read_tokens,
        "CacheWriteInputTokenCount" => &mut usage.totals.cache_write_tokens,
        "EstimatedTPMQuotaUsage" => &mut usage.totals.settled_tokens,
        "InputTokenCount" if query.statistic == "SampleCount" => &mut usage.totals.counted_calls,
        "InvocationLatency" => of(&mut usage.latency_ms),
        "TimeToFirstToken" => of(&mut usage.time_to_first_token_ms),
        "InputTokenCount" => of(&mut usage.input_tokens),
        _ => of(&mut usage.output_tokens),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(window_minutes: i64) -> Request {
        Request::new(&["us.m".to_owned()], &["app".to_owned()], window_minutes, 1_000_003)
    }

    #[test]
    fn the_window_fits_the_periods_that_its_age_allows() {
        let two_weeks = request(14 * 1440).window;
        assert_eq!((two_weeks.start_minute, two_weeks.end_minute), (1_000_003 - 20_160, 1_000_003));
        assert_eq!(two_weeks.minutes_from, two_weeks.start_minute);
        let month = request(30 * 1440).window;
        assert_eq!((month.start_minute % 5, month.end_minute % 5), (0, 0));
        assert_eq!(month.minutes_from, 1_000_003 - 15 * 1440 + 1, "minutes are only there for 15 days");
        let quarter = request(90 * 1440).window;
        assert!(month.end_minute >= 1_000_003 && quarter.end_minute >= 1_000_003, "the newest calls are within");
        assert_eq!((quarter.start_minute % 60, quarter.end_minute % 60), (0, 0));
    }

    #[test]
    fn everything_about_a_model_is_one_call() {
        let request = request(14 * 1440);
        assert_eq!((request.queries(), request.calls()), (25 + 2 * 6, 1));
        assert_eq!(Request::new(&["m".to_owned()], &[], 30 * 1440, 1_000_003).calls(), 2, "minutes by themselves");
        // Three one-minute series for each of two ids, and single values.
        assert_eq!(request.most_points(), 6 * 20_160 + 31);
        assert_eq!(request.most_pages(), 2);
    }

    #[test]
    fn a_missing_series_stays_missing_and_an_unused_id_has_no_entry() {
        let request = request(1440);
        let place = |metric: &str, statistic: &str, by_minute: bool| {
            request
                .queries
                .iter()
                .position(|query| {
                    query.model_id == "us.m"
                        && query.metric == metric
                        && query.statistic == statistic
                        && query.by_minute == by_minute
                })
                .unwrap()
        };
        let minute = request.window.minutes_from + 5;
        let answers = Answers::from([
            (place("InvocationLatency", "p99", false), vec![(minute, 900.0)]),
            (place("Invocations", "Sum", true), vec![(minute, 60.0), (minute + 1, 30.0)]),
            (place("Invocations", "Sum", false), vec![(minute, 60.0), (minute + 700, 30.0)]),
            (place("InvocationLatency", "p50", false), vec![(minute, 500.0), (minute + 700, 700.0)]),
        ]);
        let metrics = assemble(&request, &answers, &vec![false; request.queries()]);
        assert_eq!(metrics.asked, ["app", "us.m"]);
        let [usage] = metrics.usage.as_slice() else { panic!("{metrics:?}") };
        assert_eq!(usage.latency_ms.p99, Some(900.0));
        assert_eq!(usage.latency_ms.mean, None);
        assert_eq!((usage.latency_ms.p50, usage.partial), (None, true), "percentiles of two periods do not merge");
        assert_eq!(usage.totals.invocations, Some(90.0), "sums do");
        // Sums over 60 s are per-minute totals: not divided again.
        assert_eq!(usage.minutes[0], (minute, Some(60.0), None, None).into());
    }
}
