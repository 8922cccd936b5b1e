//! The fields of a workload file, as data: the reader, its error messages, the commented template of `init` and the JSON
//! Schema all come from this one list.

/// The values a number may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub low: f64,
    /// Whether `low` itself is out of range.
    pub above_low: bool,
    pub high: f64,
    /// Whether `high` itself is out of range.
    pub below_high: bool,
    pub whole: bool,
    /// What one unit is, for messages: `seconds`, `tokens`.
    pub unit: &'static str,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Text,
    Number(Range),
    /// A number, or `null`: there is none.
    NumberOrNull(Range),
    /// A number (the mean), or a mapping of `mean`, `p50`, `p90`, `p99` and `max`.
    Quantity(Range),
    Flag,
    Choice(&'static [&'static str]),
    /// A length of time with its unit, such as `8h` or `55m`.
    Duration,
    Durations,
    /// A list of words out of these.
    Words(&'static [&'static str]),
}

/// One field: `section` is empty at the top of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    pub section: &'static str,
    pub name: &'static str,
    pub kind: Kind,
    pub help: &'static str,
}

/// No quantity of a pipeline is larger than this, and products of what is below it stay finite.
pub const LARGEST: f64 = 1e15;

const fn from(low: f64, unit: &'static str) -> Range {
    Range { low, above_low: false, high: LARGEST, below_high: false, whole: false, unit }
}

const fn above(low: f64, unit: &'static str) -> Range {
    Range { above_low: true, ..from(low, unit) }
}

const fn whole(low: f64, high: f64, unit: &'static str) -> Range {
    Range { high, whole: true, ..from(low, unit) }
}

const fn field(section: &'static str, name: &'static str, kind: Kind, help: &'static str) -> Field {
    Field { section, name, kind, help }
}

/// Every field that a workload file may have, in the order in which it is written.
pub const FIELDS: &[Field] = {
    use Kind::{Choice, Duration, Durations, Flag, Number, NumberOrNull, Quantity, Text, Words};
    &[
        field("", "schema", Number(whole(1.0, 1.0, "")), "version of this format"),
        field("", "name", Text, "what reports call this workload"),
        field("", "model", Text, "model id, profile id or ARN as the code passes it; its prefix is the route"),
        field("", "region", Text, "the Region that the code calls"),
        field("", "endpoint", Choice(&["bedrock-runtime", "bedrock-mantle"]), "which endpoint takes the calls"),
        field(
            "quotas",
            "rpm",
            NumberOrNull(from(0.0, "requests per minute")),
            "applied requests quota; null: the account has no such row",
        ),
        field("quotas", "tpm", NumberOrNull(from(0.0, "tokens per minute")), "applied tokens quota"),
        field("quotas", "input_tpm", NumberOrNull(from(0.0, "input tokens per minute")), "bedrock-mantle only"),
        field("quotas", "output_tpm", NumberOrNull(from(0.0, "output tokens per minute")), "bedrock-mantle only"),
        field("call", "latency_s", Quantity(from(0.001, "seconds")), "from sending a request to its last token"),
        field("call", "input_tokens", Quantity(from(0.0, "tokens")), "without those read from or written to the prompt cache"),
        field("call", "cache_write_tokens", Quantity(from(0.0, "tokens")), "written to the prompt cache; counted like input"),
        field("call", "cache_read_tokens", Quantity(from(0.0, "tokens")), "read from the prompt cache; never settled"),
        field("call", "output_tokens", Quantity(from(0.0, "tokens")), "as generated, before burndown"),
        field(
            "call",
            "max_tokens",
            Number(whole(1.0, 1e9, "tokens")),
            "the output limit of the call; unset, the model's maximum is reserved",
        ),
        field("call", "burndown", Number(above(0.0, "quota tokens per output token")), "only to override the model profile"),
        field("worker", "batch_size", Number(whole(1.0, 10_000.0, "messages")), "messages that one invocation receives"),
        field(
            "worker",
            "parallel_calls",
            Number(whole(1.0, 10_000.0, "calls")),
            "calls that one worker makes at the same time",
        ),
        field("worker", "calls_per_message", Number(from(0.001, "calls")), "more than 1 for a tool loop"),
        field("worker", "attempts_per_call", Number(from(1.0, "attempts")), "mean, retries counted"),
        field("worker", "overhead_s", Number(from(0.0, "seconds")), "work per message outside the call"),
        field(
            "policy",
            "headroom",
            Number(Range { low: 0.0, above_low: false, high: 1.0, below_high: true, whole: false, unit: "as a share" }),
            "share of each quota that the plan leaves unused",
        ),
        field("policy", "start", Choice(&["burst", "steady"]), "burst: all workers may start in one minute"),
        field("policy", "others_rpm", Number(from(0.0, "requests per minute")), "what other traffic on the same quota needs"),
        field(
            "policy",
            "others_tpm",
            Number(from(0.0, "tokens per minute")),
            "the same in tokens; on bedrock-mantle, input tokens",
        ),
        field("policy", "others_output_tpm", Number(from(0.0, "output tokens per minute")), "bedrock-mantle only"),
        field("policy", "tested_in_flight", NumberOrNull(from(1.0, "calls")), "calls in flight that a load test carried"),
        field("policy", "reserve_cache_reads", Flag, "count cache reads on admission; sources disagree whether they are"),
        field(
            "policy",
            "throttle_risk",
            Number(Range { low: 0.0, above_low: true, high: 0.5, below_high: false, whole: false, unit: "as a chance" }),
            "accepted chance that a minute exceeds the quota, instead of headroom",
        ),
        field("pipeline", "visibility_timeout_s", Number(whole(0.0, 43_200.0, "seconds")), "of the queue"),
        field("pipeline", "lambda_timeout_s", Number(whole(1.0, 900.0, "seconds")), "of the function"),
        field("pipeline", "read_timeout_s", Number(above(0.0, "seconds")), "of the model client"),
        field(
            "pipeline",
            "client_attempts",
            Number(whole(1.0, 1000.0, "attempts")),
            "of the model client, the first one counted",
        ),
        field(
            "pipeline",
            "maximum_concurrency",
            NumberOrNull(whole(2.0, 1e6, "workers")),
            "of the event source mapping, as deployed",
        ),
        field("pipeline", "reserved_concurrency", NumberOrNull(whole(0.0, 1e6, "workers")), "of the function"),
        field("pipeline", "max_receive_count", NumberOrNull(whole(1.0, 1000.0, "receives")), "of the queue's redrive policy"),
        field("pipeline", "report_batch_item_failures", Flag, "partial batch response"),
        field("arrivals", "messages_per_min", Number(from(0.0, "messages per minute")), "steady arrivals"),
        field("arrivals", "burst", Number(whole(0.0, 1e12, "messages")), "messages that are there at once"),
        field("arrivals", "trace", Text, "a file of arrivals"),
        field("delivery", "records", Number(whole(1.0, 1e12, "records")), "how many records are due"),
        field("delivery", "deadline", Duration, "from submission to the last result"),
        field(
            "delivery",
            "needs",
            Words(&["tools", "structured-output", "multi-turn", "streaming", "provisioned"]),
            "features that rule some paths out",
        ),
        field("delivery", "observed_batch_times", Durations, "submission to result of comparable batch jobs"),
    ]
};

/// The sections of the file, in order; the empty one is its top.
pub fn sections() -> Vec<&'static str> {
    let mut sections: Vec<&'static str> = FIELDS.iter().map(|field| field.section).collect();
    sections.dedup();
    sections
}

/// The fields of one section.
pub fn of_section(section: &str) -> impl Iterator<Item = &'static Field> + use<'_> {
    FIELDS.iter().filter(move |field| field.section == section)
}

/// The range of a numeric field, by its section and name.
pub fn range_of(section: &str, name: &str) -> Option<Range> {
    of_section(section).find(|field| field.name == name).and_then(|field| match field.kind {
        Kind::Number(range) | Kind::NumberOrNull(range) | Kind::Quantity(range) => Some(range),
        _ => None,
    })
}

/// Parts of a quantity that may be given.
pub const QUANTITY_PARTS: &[&str] = &["mean", "p50", "p90", "p99", "max"];

impl Range {
    pub fn contains(&self, value: f64) -> bool {
        let low = if self.above_low { value > self.low } else { value >= self.low };
        let high = if self.below_high { value < self.high } else { value <= self.high };
        low && high && value.is_finite() && (!self.whole || value.fract() == 0.0)
    }

    /// `a whole number of messages, 1 to 10000`.
    pub fn describe(&self) -> String {
        let number = if self.whole { "a whole number" } else { "a number" };
        let unit = match self.unit {
            "" => String::new(),
            unit if unit.starts_with("as ") => format!(" {unit}"),
            unit => format!(" of {unit}"),
        };
        let low = if self.above_low { format!("above {}", self.low) } else { format!("{} or more", self.low) };
        let bounds = match (self.high < LARGEST, self.below_high) {
            (false, _) => low,
            (true, true) if self.above_low => format!("above {} and below {}", self.low, self.high),
            (true, true) => format!("from {} to below {}", self.low, self.high),
            (true, false) if self.low == self.high => format!("{}", self.low),
            (true, false) if self.above_low => format!("above {}, {} at most", self.low, self.high),
            (true, false) => format!("{} to {}", self.low, self.high),
        };
        format!("{number}{unit}, {bounds}")
    }
}

impl Kind {
    /// What the field takes, for messages.
    pub fn describe(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Number(range) => range.describe(),
            Self::NumberOrNull(range) => format!("{}, or null where there is none", range.describe()),
            Self::Quantity(range) => format!("{}, or a mapping of mean, p50, p90, p99 and max", range.describe()),
            Self::Flag => "true or false".to_owned(),
            Self::Choice(words) => words.join(" or "),
            Self::Duration => "a length of time such as 8h or 55m".to_owned(),
            Self::Durations => "a list of lengths of time such as [55m, 70m]".to_owned(),
            Self::Words(words) => format!("a list out of {}", words.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_stands_once_and_sections_hang_together() {
        let mut seen: Vec<(&str, &str)> = FIELDS.iter().map(|field| (field.section, field.name)).collect();
        seen.sort_unstable();
        let all = seen.len();
        seen.dedup();
        assert_eq!(seen.len(), all);
        let mut sections = sections();
        let count = sections.len();
        sections.sort_unstable();
        sections.dedup();
        assert_eq!(sections.len(), count, "a section's fields stand together");
    }

    #[test]
    fn ranges_hold_and_read_well() {
        let headroom = FIELDS.iter().find(|field| field.name == "headroom").unwrap();
        let Kind::Number(range) = headroom.kind else { panic!() };
        assert!(
            range.contains(0.0)
                && range.contains(0.99)
                && !range.contains(1.0)
                && !range.contains(-0.1)
                && !range.contains(f64::NAN)
        );
        assert_eq!(range.describe(), "a number as a share, from 0 to below 1");
        assert_eq!(whole(1.0, 10_000.0, "messages").describe(), "a whole number of messages, 1 to 10000");
        assert_eq!(above(0.0, "seconds").describe(), "a number of seconds, above 0");
    }
}
