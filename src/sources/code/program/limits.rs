//! How long a client waits and how often it tries, with limits around one attempt and around the whole call.

use super::Id;
use super::values::map;
use crate::engine::deployment::{Client, Setting, State, Unresolved};
use crate::engine::fact::Place;

/// More attempts than anybody means.
const MOST: f64 = 1e6;

/// What one client does with a slow answer.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) read: Setting<Option<f64>>,
    pub(crate) attempts: Setting<Vec<u32>>,
    pub(crate) from_environment: bool,
    /// A limit around all attempts together.
    pub(crate) whole: Option<f64>,
}

impl Limits {
    /// Limits of a configuration that cannot be followed.
    pub(crate) fn unresolved(why: Unresolved, place: Place) -> Self {
        Self {
            read: Setting::unresolved(why.clone(), Some(place.clone())),
            attempts: Setting::unresolved(why, Some(place)),
            from_environment: false,
            whole: None,
        }
    }

    /// The client that has these limits, without a pool or keepalive of its own.
    pub(crate) fn client(self, sdk: &'static str, place: Place) -> Client {
        Client {
            place,
            sdk,
            read_timeout_s: self.read,
            attempts: self.attempts,
            attempts_from_environment: self.from_environment,
            whole_call_s: self.whole,
            ignored: Vec::new(),
            pool: Setting::default(),
            tcp_keepalive: false,
        }
    }

    /// A limit around one attempt counts where it is shorter than the read timeout.
    pub(crate) fn bound_attempt(&mut self, bound: Setting<Option<f64>>) {
        if self.is_shorter(&bound) {
            self.read = bound;
        }
    }

    /// A limit around all attempts. Shorter than one of them it is what an attempt may wait; their count stays what it is,
    /// for a call that fails at once is tried again within the limit.
    pub(crate) fn bound_call(&mut self, bound: &Setting<Option<f64>>) {
        if self.is_shorter(bound) {
            self.read = bound.clone();
        }
        if let Some(Some(total)) = bound.value() {
            self.whole = Some(self.whole.map_or(total, |known| known.min(total)));
        }
    }

    /// Whether a limit ends an attempt before the read timeout does; one that is not known does where nothing else would.
    fn is_shorter(&self, bound: &Setting<Option<f64>>) -> bool {
        match (&bound.state, self.read.value()) {
            (State::Known(fact), Some(read)) => match (fact.value, read) {
                (Some(bound), Some(read)) => bound < read,
                (Some(_), None) => true,
                (None, _) => false,
            },
            (State::Unresolved(_), Some(None)) => true,
            _ => false,
        }
    }
}

/// Limits around calls, each with the expression that makes the call's client; `None` where that cannot be told.
pub(crate) type CallBounds = Vec<(Option<Id>, Option<Setting<Option<f64>>>)>;

/// The longest limit of a client's calls, if every one has a limit.
pub(crate) fn bound_of(client: Id, bounds: &CallBounds) -> Option<Setting<Option<f64>>> {
    let mut longest: Option<Setting<Option<f64>>> = None;
    for (_, bound) in bounds.iter().filter(|(of, _)| of.is_none_or(|of| of == client)) {
        let bound = bound.as_ref()?;
        let longer = match (&longest, bound.value()) {
            (None, _) | (Some(_), None) => true,
            (Some(known), Some(seconds)) => known.value().is_some_and(|known| known < seconds),
        };
        if longer {
            longest = Some(bound.clone());
        }
    }
    longest
}

/// A count of attempts out of a number; `extra` is 1 where the number counts retries.
pub(crate) fn attempts(number: Setting<f64>, extra: f64) -> Setting<Vec<u32>> {
    map(number, |value| {
        let total = value + extra;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number in range")]
        ((1.0..=MOST).contains(&total) && total.fract() == 0.0).then(|| vec![total as u32])
    })
}

/// Zero is without end, where the library says so.
pub(crate) fn zero_is_endless(setting: Setting<Option<f64>>) -> Setting<Option<f64>> {
    map(setting, |value| Some(value.filter(|seconds| *seconds > 0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fact::Source;

    fn limits(read: Option<f64>, attempts: &[u32]) -> Limits {
        Limits {
            read: Setting::default_of(read, "test"),
            attempts: Setting::default_of(attempts.to_vec(), "test"),
            from_environment: true,
            whole: None,
        }
    }

    fn bounded(read: Option<f64>, attempts: &[u32], call: f64) -> (Option<Option<f64>>, Vec<u32>, Option<f64>) {
        let mut limits = limits(read, attempts);
        limits.bound_call(&Setting::known(Some(call), Source::Default("test"), None));
        let attempts = limits.attempts.fact().map(|fact| fact.value.clone()).unwrap_or_default();
        (limits.read.value(), attempts, limits.whole)
    }

    #[test]
    fn a_limit_around_the_call_bounds_what_it_is_shorter_than() {
        assert_eq!(bounded(Some(30.0), &[3, 4], 180.0), (Some(Some(30.0)), vec![3, 4], Some(180.0)));
        assert_eq!(bounded(Some(30.0), &[3, 4], 20.0), (Some(Some(20.0)), vec![3, 4], Some(20.0)));
        assert_eq!(bounded(None, &[3], 20.0), (Some(Some(20.0)), vec![3], Some(20.0)));
        assert_eq!(bounded(Some(30.0), &[3, 4], 50.0), (Some(Some(30.0)), vec![3, 4], Some(50.0)), "the second is cut off");
    }

    #[test]
    fn counts_are_whole_and_positive() {
        let number = |value| Setting::known(value, Source::Default("test"), None);
        assert_eq!(attempts(number(2.0), 1.0).fact().map(|fact| fact.value.clone()), Some(vec![3]));
        assert!(attempts(number(0.0), 0.0).why_unresolved().is_some());
        assert!(attempts(number(1.5), 0.0).why_unresolved().is_some());
    }
}
