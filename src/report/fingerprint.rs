//! What stays the same of a finding while lines move: with it a report of today is matched with one of yesterday.

use super::place;
use crate::engine::finding::Finding;

/// A longer line is generated, and the rest of it is not the finding's.
pub const LONGEST_LINE: usize = 400;

/// Sixteen hexadecimal digits over rule, path, function and the text of the line, but not its number. Of a line with
/// several settings only the one meant counts.
pub fn of(finding: &Finding, text: Option<&str>) -> String {
    let mut hash = Fnv::default();
    hash.field(finding.rule);
    hash.field(finding.place().map_or("", |at| place::path(&at.path)));
    hash.field(finding.function.as_deref().unwrap_or_default());
    hash.field(finding.place().zip(text).and_then(|(at, text)| context(at, text)).unwrap_or_default());
    format!("{:016x}", hash.0)
}

fn context<'a>(at: &crate::engine::fact::Place, text: &'a str) -> Option<&'a str> {
    let piece = place::piece(at, text)?;
    let span = if piece.len() > LONGEST_LINE { place::bytes(at, text)? } else { piece };
    text.get(span).map(str::trim)
}

/// FNV-1a of 64 bits.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// A field and a byte that no text has, so that fields cannot run into each other.
    fn field(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.bytes(&[0xff]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::place::tests::{TEMPLATE, at, placeless, visibility};

    #[test]
    fn the_hash_is_fnv_1a() {
        for (text, hash) in [("", 0xcbf2_9ce4_8422_2325_u64), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)] {
            let mut fnv = Fnv::default();
            fnv.bytes(text.as_bytes());
            assert_eq!(fnv.0, hash, "{text}");
        }
    }

    #[test]
    fn a_finding_is_the_same_after_its_line_moved() {
        let finding = visibility();
        let first = of(&finding, Some(TEMPLATE));
        let moved = format!("# A comment.\n\n{}", TEMPLATE.replace("      Visib", "    Visib"));
        let mut later = finding.clone();
        later.labels[0].place = at("./infra/template.yaml", &moved, "45");
        assert_eq!(of(&later, Some(&moved)), first);
        assert_eq!(first.len(), 16);
    }

    #[test]
    fn rule_path_function_and_line_tell_findings_apart() {
        let finding = visibility();
        let first = of(&finding, Some(TEMPLATE));
        let mut rule = finding.clone();
        rule.rule = "visibility-equals-function-timeout";
        let mut function = finding.clone();
        function.function = Some("Reader".to_owned());
        let mut path = finding.clone();
        path.labels[0].place.path = "other.yaml".into();
        for other in [&rule, &function, &path] {
            assert_ne!(of(other, Some(TEMPLATE)), first, "{other:?}");
        }
        assert_ne!(of(&finding, Some(&TEMPLATE.replace("45", "46"))), first);
        assert_ne!(of(&placeless(), None), of(&finding, None));
    }

    #[test]
    fn of_a_line_with_more_only_the_setting_counts() {
        let long = format!("{{\"A\": {:?}, \"VisibilityTimeout\": 45}}", "x".repeat(LONGEST_LINE));
        let mut finding = visibility();
        finding.labels[0].place = at("t.json", &long, "45");
        let first = of(&finding, Some(&long));
        let other = long.replace("xx", "yy");
        assert_eq!(of(&finding, Some(&other)), first);
    }
}
