//! What AWS said at one moment: quotas and usage, in one value that a file can hold.
//!
//! The snapshot is the seam between live AWS and everything else: live pulls fill one, a file holds one, and plans only
//! ever see one. Account ids are masked before a snapshot is made.

use serde::{Deserialize, Serialize};

use super::model_id::Route;
use super::usage::Usage;

/// The version of the snapshot file that this build writes and reads.
pub const SNAPSHOT_SCHEMA: u32 = 1;

/// What AWS said at one moment about one Region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    pub schema: u32,
    /// RFC 3339, UTC.
    pub taken_at: String,
    pub region: String,
    /// The account, masked to its last four digits; absent where no answer named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotas: Option<QuotaList>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Metrics>,
    /// Application inference profiles of the account, with what they were copied from; absent where they were not listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_profiles: Option<Vec<ApplicationProfile>>,
    /// What could not be asked or came back in part, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Quota rows of a Region.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuotaList {
    /// The models whose rows are here; `None` where the list is the Region's whole one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_models: Option<Vec<String>>,
    pub rows: Vec<QuotaRow>,
}

/// One Service Quotas row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuotaRow {
    pub code: String,
    pub name: String,
    /// The account's own value; 0 means blocked. `None`: no applied value was returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<f64>,
    /// AWS's default value; `None`: not asked, or none published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<f64>,
    /// Whether Service Quotas takes an increase request for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjustable: Option<bool>,
}

impl QuotaRow {
    /// Where the console shows the row.
    pub fn console_url(&self, region: &str) -> String {
        console_url(region, &self.code)
    }
}

/// Where the console shows a quota's code. Partitions have consoles of their own (AWS General Reference, read 2026-10).
pub fn console_url(region: &str, code: &str) -> String {
    let host = if region.starts_with("us-gov-") {
        "console.amazonaws-us-gov.com".to_owned()
    } else if region.starts_with("cn-") {
        "console.amazonaws.cn".to_owned()
    } else {
        format!("{region}.console.aws.amazon.com")
    };
    let of_region = if host.starts_with(region) { String::new() } else { format!("?region={region}") };
    format!("https://{host}/servicequotas/home/services/bedrock/quotas/{code}{of_region}")
}

/// CloudWatch's answers over one window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    pub window: Window,
    /// One entry for each ModelId that was asked for and had data.
    pub usage: Vec<Usage>,
    /// Every ModelId that was asked for: one without an entry in `usage` had no data.
    pub asked: Vec<String>,
    /// Those of them whose single requests were asked for: latency, tokens, errors. Of the rest only sums are known.
    pub described: Vec<String>,
}

impl Metrics {
    /// Adds another model's metrics over the same window. Of an id that both have, the entry that describes it stays.
    pub fn merge(&mut self, other: Self) {
        for usage in other.usage {
            let describes = other.described.contains(&usage.model_id) && !self.described.contains(&usage.model_id);
            match self.usage.iter_mut().find(|known| known.model_id == usage.model_id) {
                Some(known) if describes => *known = usage,
                Some(_) => {}
                None => self.usage.push(usage),
            }
        }
        for (ids, more) in [(&mut self.asked, other.asked), (&mut self.described, other.described)] {
            ids.extend(more);
            ids.sort();
            ids.dedup();
        }
        self.usage.sort_by(|a, b| a.model_id.cmp(&b.model_id));
    }
}

/// The window of a metrics query, in minutes since the Unix epoch; the end is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    pub start_minute: i64,
    pub end_minute: i64,
    /// Where the one-minute series begins: CloudWatch keeps minutes for 15 days only.
    pub minutes_from: i64,
}

impl Window {
    pub fn minutes(self) -> i64 {
        self.end_minute - self.start_minute
    }

    /// `14 d`, `6 h` or `45 min`.
    pub fn length(self) -> String {
        match self.minutes() {
            minutes if minutes % 1440 == 0 => format!("{} d", minutes / 1440),
            minutes if minutes % 60 == 0 => format!("{} h", minutes / 60),
            minutes => format!("{minutes} min"),
        }
    }
}

/// An application inference profile, resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplicationProfile {
    /// The id that CloudWatch's ModelId dimension has.
    pub id: String,
    pub name: String,
    /// The foundation model id behind it.
    pub model: String,
    pub route: Route,
}

/// Account ids inside a text, such as those of ARNs, masked.
pub fn mask_accounts(text: &str) -> String {
    let mut out = String::new();
    let mut digits = String::new();
    for c in text.chars().chain(std::iter::once('\0')) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        // An account id has twelve digits, and an ARN sets it between colons.
        let account = digits.len() == 12 && c == ':' && out.ends_with(':');
        out.push_str(&if account { mask_account(&digits) } else { digits.clone() });
        digits.clear();
        if c != '\0' {
            out.push(c);
        }
    }
    out
}

impl Snapshot {
    /// The same without account ids, wherever an id or an error text carried one.
    #[must_use]
    pub fn masked(mut self) -> Self {
        let mask = |ids: &mut Vec<String>| ids.iter_mut().for_each(|id| *id = mask_accounts(id));
        mask(&mut self.notes);
        if let Some(metrics) = &mut self.metrics {
            mask(&mut metrics.asked);
            mask(&mut metrics.described);
            metrics.usage.iter_mut().for_each(|usage| usage.model_id = mask_accounts(&usage.model_id));
        }
        self
    }
}

/// `111122223333` as `********3333`.
pub fn mask_account(account: &str) -> String {
    let kept = account.len().saturating_sub(4);
    account.char_indices().map(|(i, c)| if i < kept { '*' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_keeps_its_last_four_digits() {
        assert_eq!(mask_account("111122223333"), "********3333");
        assert_eq!(mask_account("12"), "12");
    }

    #[test]
    fn accounts_inside_arns_are_masked_and_other_digits_are_not() {
        let arn = "arn:aws:bedrock:us-east-1:111122223333:inference-profile/us.m.x-20250514-v1:0 of 111122223333";
        assert_eq!(
            mask_accounts(arn),
            "arn:aws:bedrock:us-east-1:********3333:inference-profile/us.m.x-20250514-v1:0 of 111122223333"
        );
        assert_eq!(mask_accounts("arn:aws:iam::111122223333:user/bob"), "arn:aws:iam::********3333:user/bob");
        assert_eq!(mask_accounts(""), "");
    }

    #[test]
    fn partitions_have_consoles_of_their_own() {
        for (region, url) in [
            ("eu-west-1", "https://eu-west-1.console.aws.amazon.com/servicequotas/home/services/bedrock/quotas/L-1"),
            (
                "us-gov-west-1",
                "https://console.amazonaws-us-gov.com/servicequotas/home/services/bedrock/quotas/L-1?region=us-gov-west-1",
            ),
            ("cn-north-1", "https://console.amazonaws.cn/servicequotas/home/services/bedrock/quotas/L-1?region=cn-north-1"),
        ] {
            assert_eq!(console_url(region, "L-1"), url);
        }
    }

    #[test]
    fn of_two_entries_of_an_id_the_one_that_describes_it_stays() {
        let metrics = |described: &str, id: &str, throttles| Metrics {
            window: Window { start_minute: 0, end_minute: 60, minutes_from: 0 },
            usage: vec![Usage {
                model_id: id.into(),
                totals: crate::engine::usage::Totals { throttles: Some(throttles), ..Default::default() },
                ..Usage::default()
            }],
            asked: vec![id.into()],
            described: vec![described.into()],
        };
        let mut merged = metrics("a", "b", 1.0);
        merged.merge(metrics("b", "b", 2.0));
        assert_eq!((merged.usage.len(), merged.usage[0].totals.throttles), (1, Some(2.0)));
        merged.merge(metrics("c", "b", 3.0));
        assert_eq!(merged.usage[0].totals.throttles, Some(2.0));
        assert_eq!(merged.described, ["a", "b", "c"]);
    }

    #[test]
    fn a_window_reads_in_its_largest_whole_unit() {
        let window = |minutes| Window { start_minute: 0, end_minute: minutes, minutes_from: 0 };
        assert_eq!(window(14 * 1440).length(), "14 d");
        assert_eq!(window(360).length(), "6 h");
        assert_eq!(window(45).length(), "45 min");
    }
}
