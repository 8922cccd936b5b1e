//! Numbers as people read them.

/// `157,800`, `66.7`, `0.85`: whole from 1,000 up, three figures below.
pub fn quantity(value: f64) -> String {
    let places = match value.abs() {
        size if size >= 1000.0 || (size >= 1.0 && value.fract() == 0.0) => 0,
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ if value == 0.0 => 0,
        _ => 2,
    };
    grouped(value, places)
}

/// With commas between thousands: `6,000,000`.
pub fn count(value: f64) -> String {
    grouped(value, 0)
}

/// Workers that a limit allows: `6.34`, `246.15`, `43,478`. Cut, not rounded: 5.999 workers are not 6.
pub fn workers(value: f64) -> String {
    if value >= 1000.0 { grouped(value.floor(), 0) } else { grouped(((value + 1e-9) * 100.0).floor() / 100.0, 2) }
}

fn grouped(value: f64, places: usize) -> String {
    let text = format!("{:.places$}", value.abs());
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(whole, fraction)| (whole, Some(fraction)));
    let mut out = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    if value < 0.0 && out.chars().any(|c| c.is_ascii_digit() && c != '0') { format!("-{out}") } else { out }
}

/// `79 %`, `0.4 %`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let places = usize::from(percent < 10.0 && percent.fract() > 1e-9);
    format!("{} %", grouped(percent, places))
}

/// A probability: `below 0.01 %`, `3.2 %`.
pub fn chance(probability: f64) -> String {
    if probability < 1e-4 {
        "below 0.01 %".to_owned()
    } else if probability > 0.9999 {
        "above 99.99 %".to_owned()
    } else if probability < 0.01 {
        format!("{:.2} %", probability * 100.0)
    } else {
        format!("{:.1} %", probability * 100.0)
    }
}

/// `45 s`, `4 min 30 s`, `7 h 5 min`, `2 d 3 h`.
pub fn duration(seconds: f64) -> String {
    if seconds < 10.0 {
        return format!("{} s", quantity(seconds));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating is right for a length of time")]
    let total = seconds.round() as u64;
    let (days, hours, minutes, seconds) = (total / 86_400, total / 3600 % 24, total / 60 % 60, total % 60);
    let parts = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s")];
    let first = parts.iter().position(|(amount, _)| *amount > 0).unwrap_or(3);
    let shown = parts[first..].iter().take(2).filter(|(amount, _)| *amount > 0);
    shown.map(|(amount, unit)| format!("{amount} {unit}")).collect::<Vec<_>>().join(" ")
}

/// `1 message`, `5 messages`.
pub fn plural(amount: f64, noun: &str) -> String {
    let number = quantity(amount);
    if number == "1" { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (value, text) in
            [(157_800.0, "157,800"), (66.666, "66.7"), (0.853, "0.85"), (4.5, "4.50"), (5.0, "5"), (0.0, "0"), (999.6, "1,000")]
        {
            assert_eq!(quantity(value), text, "{value}");
        }
        for (value, text) in [(5.999, "5.99"), (6.0 - 1e-12, "6.00"), (43_478.26, "43,478"), (0.0, "0.00")] {
            assert_eq!(workers(value), text, "{value}");
        }
        for (share, text) in [(0.789, "79 %"), (0.004, "0.4 %"), (1.2, "120 %"), (0.0, "0 %"), (0.05, "5 %")] {
            assert_eq!(percent(share), text, "{share}");
        }
        for (seconds, text) in [
            (4.5, "4.50 s"),
            (45.0, "45 s"),
            (270.0, "4 min 30 s"),
            (3600.0, "1 h"),
            (25_500.0, "7 h 5 min"),
            (183_600.0, "2 d 3 h"),
        ] {
            assert_eq!(duration(seconds), text, "{seconds}");
        }
        for (probability, text) in [(0.0, "below 0.01 %"), (0.0032, "0.32 %"), (0.032, "3.2 %"), (1.0, "above 99.99 %")] {
            assert_eq!(chance(probability), text);
        }
        assert_eq!((plural(1.0, "call").as_str(), plural(2.0, "call").as_str()), ("1 call", "2 calls"));
    }
}
