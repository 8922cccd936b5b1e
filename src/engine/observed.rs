//! A snapshot, read for one model: its quota rows, its own traffic, and everybody else's on the same quota.

use super::fact::{Fact, Source};
use super::identity::Identity;
use super::model_id::Endpoint;
use super::quota_match::{Found, Matcher, Row, day_scope, minute_scope};
use super::quota_name::{Metric, QuotaName, Scope};
use super::snapshot::{QuotaList, QuotaRow, Snapshot, mask_accounts};
use super::usage::{Distribution, Minute, Peak, ThrottleEvidence, Usage, peak, sum_minutes, throttle_evidence};
use super::workload::{Quantity, Quotas, Workload};

/// The rows that meter a model on its route.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// Whether bedrock-mantle's quotas meter the model.
    pub mantle: bool,
    /// Other scopes in which the model has a quota per minute: where to look when this route has none.
    pub elsewhere: Vec<Scope>,
    /// Requests per minute; bedrock-mantle has none.
    pub rpm: Row,
    pub tpm: Row,
    pub input_tpm: Row,
    pub output_tpm: Row,
    /// The model's own daily quota.
    pub tokens_per_day: Row,
    /// The account's, priced over all models: shown, never divided by.
    pub cross_model_per_day: Row,
}

impl Rows {
    /// Reads a list. A row that is not in it is "no such row" only if the list has any other row of the model.
    pub fn find(list: &QuotaList, matcher: &Matcher<'_>, identity: &Identity) -> Self {
        let minute = minute_scope(identity.endpoint, identity.route);
        let mantle = identity.endpoint == Endpoint::BedrockMantle;
        let wanted: &[Metric] = if mantle {
            &[Metric::InputTokensPerMinute, Metric::OutputTokensPerMinute]
        } else {
            &[Metric::RequestsPerMinute, Metric::TokensPerMinute]
        };
        let any = wanted.iter().any(|&metric| matcher.find(&list.rows, minute, metric) != Found::None);
        let row = |scope, metric| match matcher.find(&list.rows, scope, metric) {
            Found::One(row) => Row::Listed(row.clone()),
            Found::Several(rows) => Row::Ambiguous(rows.into_iter().cloned().collect()),
            Found::None if any => Row::NoSuchRow,
            Found::None => Row::NotMatched { nearest: matcher.nearest(&list.rows, minute, 3) },
        };
        let per_minute = |metric, of_mantle| if of_mantle == mantle { row(minute, metric) } else { Row::NoSuchRow };
        let daily = |scope| if mantle { Row::NoSuchRow } else { row(scope, Metric::TokensPerDay) };
        let mut elsewhere: Vec<Scope> = matcher
            .rows(&list.rows)
            .into_iter()
            .filter_map(|row| QuotaName::parse(&row.name))
            .filter(|name| {
                matches!(name.scope, Scope::OnDemand | Scope::Geo | Scope::Global | Scope::Mantle) && name.scope != minute
            })
            .map(|name| name.scope)
            .collect();
        elsewhere.sort_unstable();
        elsewhere.dedup();
        Self {
            mantle,
            elsewhere,
            rpm: per_minute(Metric::RequestsPerMinute, false),
            tpm: per_minute(Metric::TokensPerMinute, false),
            input_tpm: per_minute(Metric::InputTokensPerMinute, true),
            output_tpm: per_minute(Metric::OutputTokensPerMinute, true),
            tokens_per_day: daily(day_scope(identity.route)),
            cross_model_per_day: daily(Scope::Account),
        }
    }

    /// The rows with their kinds, those that a plan is limited by first.
    pub fn each(&self) -> [(Metric, &Row); 6] {
        [
            (Metric::RequestsPerMinute, &self.rpm),
            (Metric::TokensPerMinute, &self.tpm),
            (Metric::InputTokensPerMinute, &self.input_tpm),
            (Metric::OutputTokensPerMinute, &self.output_tpm),
            (Metric::TokensPerDay, &self.tokens_per_day),
            (Metric::TokensPerDay, &self.cross_model_per_day),
        ]
    }

    /// Whether a quota of a day is applied as 0: no call goes through, whatever the quotas of a minute are.
    pub fn blocked_by_day(&self) -> bool {
        [&self.tokens_per_day, &self.cross_model_per_day]
            .into_iter()
            .any(|row| matches!(row, Row::Listed(row) if row.applied == Some(0.0)))
    }

    /// Whether no row of the model was found at all.
    pub fn not_matched(&self) -> Option<&[String]> {
        self.each().into_iter().find_map(|(_, row)| match row {
            Row::NotMatched { nearest } => Some(nearest.as_slice()),
            _ => None,
        })
    }

    /// The rows that are listed.
    pub fn listed(&self) -> impl Iterator<Item = &QuotaRow> {
        self.each().into_iter().filter_map(|(_, row)| match row {
            Row::Listed(row) => Some(row),
            _ => None,
        })
    }
}

/// Traffic on the model's quota over a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// `14 d`.
    pub window: String,
    /// The workload's own calls; `None`: CloudWatch has nothing of them.
    pub own: Option<Usage>,
    pub others: Vec<Usage>,
    /// Every ModelId that was asked for.
    pub asked: Vec<String>,
    /// One-minute sums of everybody.
    pub minutes: Vec<Minute>,
    pub peak_rpm: Option<Peak>,
    pub peak_tpm: Option<Peak>,
    pub others_rpm: Option<Peak>,
    pub others_tpm: Option<Peak>,
    pub evidence: Option<ThrottleEvidence>,
    /// Whether CloudWatch said of any series that it is in part.
    pub partial: bool,
    /// Whether everybody who could be on the quota was asked for: application profiles are known only where they were listed.
    pub all_asked: bool,
}

impl Traffic {
    /// `None` where the snapshot has no metrics of this model.
    pub fn of(snapshot: &Snapshot, identity: &Identity, shared_ids: &[String]) -> Option<Self> {
        let metrics = snapshot.metrics.as_ref()?;
        // Snapshots have no account ids: an ARN is looked up as it was written there.
        let own_ids: Vec<String> = identity.own_ids.iter().map(|id| mask_accounts(id)).collect();
        if !metrics.described.iter().any(|id| own_ids.contains(id)) {
            return None;
        }
        // A call by ARN may be counted under id or ARN: the one with more calls is the workload's series.
        let calls = |usage: &Usage| usage.totals.invocations.unwrap_or(0.0);
        let own = metrics
            .usage
            .iter()
            .filter(|usage| own_ids.contains(&usage.model_id))
            .max_by(|a, b| calls(a).total_cmp(&calls(b)))
            .cloned();
        let others: Vec<Usage> = metrics.usage.iter().filter(|usage| shared_ids.contains(&usage.model_id)).cloned().collect();
        let minutes = sum_minutes(own.iter().chain(&others));
        let of_others = sum_minutes(&others);
        let (rpm, tpm) = (|minute: &Minute| minute.invocations, |minute: &Minute| minute.settled_tokens);
        Some(Self {
            window: metrics.window.length(),
            peak_rpm: peak(&minutes, rpm),
            peak_tpm: peak(&minutes, tpm),
            others_rpm: peak(&of_others, rpm),
            others_tpm: peak(&of_others, tpm),
            evidence: throttle_evidence(&minutes),
            partial: own.iter().chain(&others).any(|usage| usage.partial),
            asked: metrics.asked.clone(),
            all_asked: snapshot.application_profiles.is_some(),
            own,
            others,
            minutes,
        })
    }
}

/// How a value of a snapshot names its origin: as live AWS, or as a file that says what AWS said.
pub struct Origin {
    pub region: String,
    /// The file and when it was taken; `None` for live.
    pub file: Option<(String, String)>,
}

impl Origin {
    fn source(&self, inner: Source) -> Source {
        match &self.file {
            None => inner,
            Some((path, taken_at)) => {
                Source::Snapshot { path: path.clone(), taken_at: taken_at.clone(), inner: Box::new(inner) }
            }
        }
    }

    fn quota(&self, code: &str) -> Source {
        self.source(Source::ServiceQuotas { code: code.to_owned(), region: self.region.clone() })
    }

    fn metric(&self, metric: &str, statistic: &str, window: &str) -> Source {
        self.source(Source::CloudWatch {
            metric: metric.to_owned(),
            statistic: statistic.to_owned(),
            window: window.to_owned(),
        })
    }
}

/// Quotas as facts: the applied value of a listed row, or "no such row". What is ambiguous or not matched stays empty.
pub fn quota_facts(rows: &Rows, origin: &Origin) -> Quotas {
    let fact = |row: &Row| match row {
        Row::Listed(row) => row.applied.map(|applied| Fact::new(Some(applied), origin.quota(&row.code))),
        Row::NoSuchRow => {
            let none = Source::Derived(format!("Service Quotas, {}: the model has no such row", origin.region));
            Some(Fact::new(None, origin.source(none)))
        }
        Row::NotMatched { .. } | Row::Ambiguous(_) => None,
    };
    // The other endpoint's quotas are no concern of this workload, not even as absent.
    if rows.mantle {
        return Quotas { input_tpm: fact(&rows.input_tpm), output_tpm: fact(&rows.output_tpm), ..Quotas::default() };
    }
    Quotas { rpm: fact(&rows.rpm), tpm: fact(&rows.tpm), ..Quotas::default() }
}

/// The workload's own calls, and everybody else's traffic, as facts.
pub fn traffic_facts(traffic: &Traffic, origin: &Origin) -> Workload {
    let mut facts = Workload::default();
    let window = traffic.window.as_str();
    if let Some(own) = &traffic.own {
        let quantity = |distribution: &Distribution, metric: &str, scale: f64| {
            let fact = |value: Option<f64>, statistic: &str| {
                value.map(|value| Fact::new(value * scale, origin.metric(metric, statistic, window)))
            };
            Quantity {
                mean: fact(distribution.mean, "Average"),
                p50: fact(distribution.p50, "p50"),
                p90: fact(distribution.p90, "p90"),
                p99: fact(distribution.p99, "p99"),
                max: fact(distribution.max, "Maximum"),
            }
        };
        let mean = |value: Option<f64>, metric: &str| Quantity {
            mean: value.map(|value| Fact::new(value, origin.metric(metric, "Sum per call", window))),
            ..Quantity::default()
        };
        facts.call.latency_s = quantity(&own.latency_ms, "InvocationLatency", 1e-3);
        facts.call.input_tokens = quantity(&own.input_tokens, "InputTokenCount", 1.0);
        facts.call.output_tokens = quantity(&own.output_tokens, "OutputTokenCount", 1.0);
        facts.call.cache_read_tokens = mean(own.cache_read_mean(), "CacheReadInputTokenCount");
        facts.call.cache_write_tokens = mean(own.cache_write_mean(), "CacheWriteInputTokenCount");
    }
    let others = |peak: Option<Peak>, metric: &str| {
        let ids = traffic.others.iter().map(|usage| usage.model_id.as_str()).collect::<Vec<_>>().join(", ");
        peak.map(|peak| Fact::new(peak.p99, origin.metric(metric, &format!("p99 of one-minute sums of {ids}"), window)))
    };
    // That nobody else was seen is known as well: those who could be on the quota were asked for.
    let nobody = || Fact::new(0.0, origin.metric("Invocations", "of any other ModelId on the quota: none", window));
    let seen = !traffic.others.is_empty();
    let none_seen = || traffic.all_asked.then(nobody);
    facts.policy.others_rpm = if seen { others(traffic.others_rpm, "Invocations") } else { none_seen() };
    facts.policy.others_tpm = if seen { others(traffic.others_tpm, "EstimatedTPMQuotaUsage") } else { none_seen() };
    facts
}

/// The daily allowance of a row on a route: a per-model row lists the single-Region figure, and says so where calls
/// through a geographic profile have twice that.
pub fn daily_allowance(row: &QuotaRow, identity: &Identity) -> Option<f64> {
    let doubled = QuotaName::parse(&row.name).is_some_and(|name| name.doubled_for_cross_region);
    let geo = identity.route == super::model_id::Route::Geo;
    // AWS's description: an approved increase of the tokens quota ends the doubling, so it is only taken at the default.
    let at_default = row.default.is_none() || row.applied.zip(row.default).is_some_and(|(applied, default)| applied <= default);
    row.applied.map(|applied| if doubled && geo && at_default { 2.0 * applied } else { applied })
}

#[cfg(test)]
mod tests {
    use super::super::model_id::ModelId;
    use super::super::snapshot::{Metrics, SNAPSHOT_SCHEMA, Window};
    use super::super::usage::Totals;
    use super::*;

    fn identity(given: &str) -> Identity {
        Identity::new(given, &ModelId::parse(given).unwrap(), Endpoint::BedrockRuntime, None, None, &[]).unwrap()
    }

    fn row(name: &str, applied: f64) -> QuotaRow {
        QuotaRow { code: format!("L-{}", name.len()), name: name.into(), applied: Some(applied), ..QuotaRow::default() }
    }

    #[test]
    fn absent_blocked_and_not_matched_are_three_things() {
        let list = QuotaList {
            only_models: None,
            rows: vec![row("Cross-region model inference tokens per minute for Anthropic Claude Opus 4.8", 0.0)],
        };
        let opus = identity("us.anthropic.claude-opus-4-8");
        let rows = Rows::find(&list, &Matcher::new(&opus.model, &[]), &opus);
        let origin = Origin { region: "us-east-1".into(), file: None };
        let facts = quota_facts(&rows, &origin);
        assert_eq!(facts.tpm.map(|fact| fact.value), Some(Some(0.0)));
        assert_eq!(facts.rpm.map(|fact| fact.value), Some(None));
        let sonnet = identity("us.anthropic.claude-opus-5");
        let rows = Rows::find(&list, &Matcher::new(&sonnet.model, &[]), &sonnet);
        let facts = quota_facts(&rows, &origin);
        assert_eq!((facts.rpm, facts.tpm), (None, None));
        assert_eq!(rows.not_matched(), Some(["Anthropic Claude Opus 4.8".to_owned()].as_slice()));
    }

    fn usage(id: &str, minutes: &[(i64, f64, f64)]) -> Usage {
        Usage {
            model_id: id.into(),
            totals: Totals { invocations: Some(1.0), ..Totals::default() },
            latency_ms: Distribution { mean: Some(4500.0), ..Distribution::default() },
            minutes: minutes.iter().map(|&(minute, rpm, tpm)| (minute, Some(rpm), Some(tpm), None).into()).collect(),
            ..Usage::default()
        }
    }

    #[test]
    fn others_are_the_p99_of_their_summed_minutes() {
        let own = identity("us.m.x-1");
        let metrics = Metrics {
            window: Window { start_minute: 0, end_minute: 1440, minutes_from: 0 },
            usage: vec![
                usage("us.m.x-1", &[(1, 10.0, 100.0)]),
                usage("app1", &[(1, 5.0, 50.0), (2, 2.0, 20.0)]),
                usage("eu.m.x-1", &[(1, 3.0, 30.0)]),
                usage("unrelated", &[(1, 1000.0, 1000.0)]),
            ],
            asked: vec!["us.m.x-1".into()],
            described: vec!["us.m.x-1".into()],
        };
        let snapshot = Snapshot {
            schema: SNAPSHOT_SCHEMA,
            taken_at: "t".into(),
            region: "us-east-1".into(),
            account: None,
            quotas: None,
            metrics: Some(metrics),
            application_profiles: Some(Vec::new()),
            notes: Vec::new(),
        };
        let traffic = Traffic::of(&snapshot, &own, &["app1".into(), "eu.m.x-1".into()]).unwrap();
        assert_eq!(traffic.peak_rpm.unwrap().max, 18.0);
        let facts = traffic_facts(&traffic, &Origin { region: "us-east-1".into(), file: None });
        assert_eq!(facts.policy.others_rpm.unwrap().value, 8.0);
        assert_eq!(facts.policy.others_tpm.unwrap().value, 80.0);
        let latency = facts.call.latency_s.mean.unwrap();
        assert_eq!((latency.value, latency.source.to_string().as_str()), (4.5, "CloudWatch InvocationLatency Average, 1 d"));
        assert_eq!(facts.call.latency_s.p99, None);
        assert_eq!(Traffic::of(&snapshot, &identity("us.m.y-2"), &[]), None, "a model that was not asked for");
    }

    #[test]
    fn a_doubled_daily_row_counts_twice_for_geographic_calls_at_its_default() {
        let name = "Model invocation max tokens per day for Amazon Nova Pro (doubled for cross-region calls)";
        let daily = QuotaRow { default: Some(1000.0), ..row(name, 1000.0) };
        assert_eq!(daily_allowance(&daily, &identity("us.amazon.nova-pro-v1:0")), Some(2000.0));
        assert_eq!(daily_allowance(&daily, &identity("amazon.nova-pro-v1:0")), Some(1000.0));
        let below = QuotaRow { default: Some(5000.0), ..daily.clone() };
        assert_eq!(daily_allowance(&below, &identity("us.amazon.nova-pro-v1:0")), Some(2000.0));
        let raised = QuotaRow { default: Some(500.0), ..daily };
        assert_eq!(daily_allowance(&raised, &identity("us.amazon.nova-pro-v1:0")), Some(1000.0));
    }
}
