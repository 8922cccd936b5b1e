//! The chain of timeouts as bars to scale: each must hold the next, and what sticks out is drawn with `#`.

use super::number::quantity;
use super::terminal::{NARROWEST, WIDEST, wrap};

/// A time of the chain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    pub name: String,
    /// None where it is not known; infinite where it is known to have no end.
    pub seconds: Option<f64>,
    /// Attempts of a client, one after the other; empty where it is one piece. What is missing to the whole are pauses.
    pub parts: Vec<f64>,
    /// Said beside the number.
    pub note: String,
}

/// Fewer cells show no proportions.
const FEWEST: usize = 24;

/// What an open bar has more than the longest that ends.
const OPEN: usize = 4;

/// Times closer than this are equal.
const CLOSE: f64 = 1e-9;

/// Bars, the longest first as the chain wants them, and below them the slowest call, which one attempt must hold.
pub fn drawing(bars: &[Bar], slowest: Option<f64>, width: usize) -> Vec<String> {
    let slowest = slowest.map(|seconds| Bar { name: "slowest call".to_owned(), seconds: Some(seconds), ..Bar::default() });
    let rows: Vec<Row> = bars.iter().chain(&slowest).map(Row::new).collect();
    let columns = Columns::new(&rows, width.clamp(NARROWEST, WIDEST));
    let scale = Scale::new(&rows, columns.bar);
    let mut out = Vec::new();
    let mut holder: Option<&Row> = None;
    let mut overshoot = false;
    for (i, row) in rows.iter().enumerate() {
        let last = i + 1 == rows.len() && slowest.is_some();
        let limit =
            holder.and_then(|holder| if last { holder.parts.first().copied().or(holder.seconds) } else { holder.seconds });
        let bar = scale.bar(row, limit);
        overshoot |= bar.contains('#');
        columns.lines(row, &bar, &mut out);
        if row.seconds.is_some() {
            holder = Some(row);
        }
    }
    if overshoot {
        out.push(format!("{:name$}  # sticks out of what must hold it", "", name = columns.name));
    }
    out
}

/// A bar that has been looked at: only what is a time is left of its numbers.
struct Row {
    name: String,
    seconds: Option<f64>,
    parts: Vec<f64>,
    number: String,
    note: String,
}

impl Row {
    fn new(bar: &Bar) -> Self {
        let seconds = bar.seconds.filter(|seconds| *seconds >= 0.0);
        let ends = seconds.is_some_and(f64::is_finite);
        let whole = bar.parts.iter().all(|part| part.is_finite() && *part > 0.0);
        let parts = if ends && whole { bar.parts.clone() } else { Vec::new() };
        let number = match seconds {
            Some(seconds) if seconds.is_infinite() => "for ever".to_owned(),
            Some(seconds) => format!("{} s", quantity(seconds)),
            None => String::new(),
        };
        let mut notes = vec![sum(&parts, seconds.unwrap_or(0.0)), bar.note.replace(['\r', '\n'], " ")];
        notes.retain(|note| !note.is_empty());
        Self { name: bar.name.clone(), seconds, parts, number, note: notes.join(", ") }
    }
}

/// `3 x 60 s + 5 s`, `60 s + 30 s`; empty where there is one part.
fn sum(parts: &[f64], seconds: f64) -> String {
    let [first, _, ..] = parts else { return String::new() };
    let mut terms: Vec<String> = if parts.iter().all(|part| (part - first).abs() < CLOSE) {
        vec![format!("{} x {} s", parts.len(), quantity(*first))]
    } else {
        parts.iter().map(|part| format!("{} s", quantity(*part))).collect()
    };
    let pauses = seconds - parts.iter().sum::<f64>();
    if pauses > 1e-3 {
        terms.push(format!("{} s", quantity(pauses)));
    }
    terms.join(" + ")
}

/// Characters of each column.
struct Columns {
    name: usize,
    bar: usize,
    number: usize,
    /// Longer notes stand below.
    note: usize,
    width: usize,
}

impl Columns {
    fn new(rows: &[Row], width: usize) -> Self {
        let longest = |of: fn(&Row) -> &str| rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0);
        let (name, number) = (longest(|row| &row.name), longest(|row| &row.number));
        let free = width.saturating_sub(name + number + 4);
        let room = free.saturating_sub(FEWEST + 2);
        let notes = rows.iter().map(|row| row.note.chars().count()).filter(|length| *length > 0 && *length <= room);
        let note = notes.max().unwrap_or(0);
        let bar = free.saturating_sub(if note > 0 { note + 2 } else { 0 }).max(FEWEST / 2);
        Self { name, bar, number, note, width }
    }

    fn lines(&self, row: &Row, bar: &str, out: &mut Vec<String>) {
        let (name, number) = (self.name, self.number);
        let line = format!("{:name$}  {bar:width$}  {:>number$}", row.name, row.number, width = self.bar);
        if row.note.chars().count() <= self.note {
            out.push(format!("{line}  {}", row.note).trim_end().to_owned());
        } else {
            out.push(line.trim_end().to_owned());
            let indent = name + 2;
            for note in wrap(&row.note, self.width.saturating_sub(indent).max(FEWEST)) {
                out.push(format!("{:indent$}{note}", ""));
            }
        }
    }
}

/// Cells for times: to scale, at least one each, and more for the longer of any two.
struct Scale {
    /// By length.
    stops: Vec<(f64, usize)>,
    cells: usize,
}

impl Scale {
    fn new(rows: &[Row], cells: usize) -> Self {
        let times = rows.iter().flat_map(|row| row.seconds.into_iter().chain(row.parts.first().copied()));
        let mut times: Vec<f64> = times.filter(|time| time.is_finite() && *time > 0.0).collect();
        times.sort_by(f64::total_cmp);
        times.dedup_by(|a, b| (*a - *b).abs() < CLOSE);
        let open = rows.iter().any(|row| row.seconds.is_some_and(f64::is_infinite));
        let most = cells - if open { OPEN } else { 0 };
        let longest = times.last().copied().unwrap_or(1.0);
        let mut stops: Vec<(f64, usize)> = Vec::new();
        for time in times {
            let least = stops.last().map_or(1, |(_, cells)| cells + 1);
            stops.push((time, proportion(time / longest, most).max(least)));
        }
        let mut room = most;
        for (_, cells) in stops.iter_mut().rev() {
            *cells = (*cells).min(room);
            room = cells.saturating_sub(1).max(1);
        }
        Self { stops, cells }
    }

    fn cells(&self, time: f64) -> usize {
        if time.is_infinite() {
            return self.cells;
        }
        self.stops.iter().rev().find(|(stop, _)| *stop <= time + CLOSE).map_or(0, |(_, cells)| *cells)
    }

    fn bar(&self, row: &Row, limit: Option<f64>) -> String {
        let Some(seconds) = row.seconds else { return "(not known)".to_owned() };
        let length = self.cells(seconds);
        let limit = limit.map_or(length, |limit| self.cells(limit));
        let cuts = self.cuts(row, length);
        let cell = |i: usize| match i + 1 {
            end if end == length && seconds.is_infinite() => '>',
            end if end == length => {
                if i >= limit {
                    '#'
                } else {
                    '|'
                }
            }
            end if cuts.contains(&end) => '|',
            _ if i >= limit => '#',
            _ => '=',
        };
        (0..length).map(cell).collect()
    }

    /// Where attempts end; none if there is no room to see them.
    fn cuts(&self, row: &Row, length: usize) -> Vec<usize> {
        let (Some(first), Some(seconds)) = (row.parts.first(), row.seconds) else { return Vec::new() };
        if row.parts.len() * 2 > length {
            return Vec::new();
        }
        let mut ends = Vec::new();
        let mut time = 0.0;
        for (i, part) in row.parts.iter().enumerate() {
            time += part;
            let end = if i == 0 { self.cells(*first) } else { proportion(time / seconds, length) };
            if end < length && ends.last().is_none_or(|last| *last < end) {
                ends.push(end);
            }
        }
        ends
    }
}

/// A share of cells, rounded.
fn proportion(share: f64, cells: usize) -> usize {
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "columns are few")]
    let cells = (share.clamp(0.0, 1.0) * cells as f64).round() as usize;
    cells
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bar(name: &str, seconds: impl Into<Option<f64>>, parts: &[f64], note: &str) -> Bar {
        Bar { name: name.to_owned(), seconds: seconds.into(), parts: parts.to_vec(), note: note.to_owned() }
    }

    fn chain(visibility: f64, function: f64, attempts: &[f64]) -> [Bar; 3] {
        [
            bar("visibility timeout", visibility, &[], ""),
            bar("function timeout", function, &[], ""),
            bar("client", attempts.iter().sum::<f64>(), attempts, ""),
        ]
    }

    fn drawn(bars: &[Bar], slowest: Option<f64>, width: usize) -> String {
        drawing(bars, slowest, width).join("\n")
    }

    #[test]
    fn a_chain_that_holds() {
        insta::assert_snapshot!(drawn(&chain(540.0, 90.0, &[40.0, 40.0]), Some(30.0), 80), @"
        visibility timeout  ==========================================|  540 s
        function timeout    ======|                                       90 s
        client              ==|==|                                        80 s  2 x 40 s
        slowest call        =|                                            30 s
        ");
    }

    #[test]
    fn what_sticks_out_is_seen() {
        insta::assert_snapshot!(drawn(&chain(45.0, 90.0, &[60.0, 60.0, 60.0]), Some(70.0), 80), @"
        visibility timeout  ==========|                                   45 s
        function timeout    ===========###########                        90 s
        client              =============|========######|##############  180 s  3 x 60 s
        slowest call        ==============###                             70 s
                            # sticks out of what must hold it
        ");
    }

    #[test]
    fn a_little_more_is_more() {
        insta::assert_snapshot!(drawn(&chain(43_200.0, 30.0, &[30.5]), Some(30.6), 60), @"
        visibility timeout  =============================|  43,200 s
        function timeout    |                                   30 s
        client              =#                                30.5 s
        slowest call        ==#                               30.6 s
                            # sticks out of what must hold it
        ");
    }

    #[test]
    fn what_is_not_known_is_said_and_what_has_no_end_is_open() {
        let bars = [
            bar("visibility timeout", None, &[], "the queue belongs to another stack"),
            bar("function timeout", 60.0, &[], "template.yaml:9"),
            bar(
                "client",
                f64::INFINITY,
                &[f64::INFINITY],
                "the SDK's default has no limit, and nothing else stops a call that hangs",
            ),
        ];
        insta::assert_snapshot!(drawn(&bars, Some(20.0), 72), @"
        visibility timeout  (not known)
                            the queue belongs to another stack
        function timeout    ====================|          60 s  template.yaml:9
        client              =====================###>  for ever
                            the SDK's default has no limit, and nothing else
                            stops a call that hangs
        slowest call        ======|                        20 s
                            # sticks out of what must hold it
        ");
    }

    #[test]
    fn attempts_that_differ_and_pauses_are_said() {
        assert_eq!(sum(&[60.0, 60.0, 60.0], 183.5), "3 x 60 s + 3.50 s");
        assert_eq!(sum(&[60.0, 30.0], 90.0), "60 s + 30 s");
        assert_eq!(sum(&[60.0], 60.0), "");
    }

    #[test]
    fn zero_and_what_is_no_time_have_no_cells() {
        let bars = [bar("a", 0.0, &[], ""), bar("b", f64::NAN, &[], ""), bar("c", -1.0, &[], "")];
        insta::assert_snapshot!(drawn(&bars, None, 60), @"
        a                                                        0 s
        b  (not known)
        c  (not known)
        ");
    }

    proptest! {
        #[test]
        fn lines_fit_and_longer_times_have_longer_bars(
            times in prop::collection::vec(prop_oneof![0.0..50_000.0_f64, Just(f64::INFINITY), 1.0..3.0_f64], 3),
            attempts in 0..30usize,
            slowest in prop::option::of(0.0..900.0_f64),
            width in 60..121usize,
        ) {
            let mut bars = [bar("visibility timeout", times[0], &[], ""), bar("function timeout", times[1], &[], ""), bar("client", times[2], &[], "")];
            #[expect(clippy::cast_precision_loss, reason = "few")]
            let part = times[2] / attempts.max(1) as f64;
            bars[2].parts = vec![part; attempts];
            let lines = drawing(&bars, slowest, width);
            prop_assert!(lines.iter().all(|line| line.chars().count() <= width), "{lines:?}");
            let length = |i: usize| lines[i][20..].chars().take_while(|c| "=|#>".contains(*c)).count();
            for (a, b) in [(0, 1), (1, 0)] {
                if times[a] > times[b] + 1e-6 {
                    prop_assert!(length(a) > length(b), "{lines:?}");
                }
            }
            prop_assert!(times.iter().enumerate().all(|(i, time)| *time == 0.0 || length(i) > 0), "{lines:?}");
        }
    }
}
