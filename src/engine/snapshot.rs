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
    /// Application inference profiles of the account, with what they were copied from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub application_profiles: Vec<ApplicationProfile>,
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
        format!("https://{region}.console.aws.amazon.com/servicequotas/home/services/bedrock/quotas/{}", self.code)
    }
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
    fn a_window_reads_in_its_largest_whole_unit() {
        let window = |minutes| Window { start_minute: 0, end_minute: minutes, minutes_from: 0 };
        assert_eq!(window(14 * 1440).length(), "14 d");
        assert_eq!(window(360).length(), "6 h");
        assert_eq!(window(45).length(), "45 min");
    }
}
