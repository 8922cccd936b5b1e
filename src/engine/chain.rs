//! One chain: a queue, the mapping that reads it, the function, and the model client in it.

use std::collections::BTreeMap;

use super::deployment::{Client, Deployment, Function, Link, Mapping, Queue, Redrive, Setting, Unresolved};
use super::fact::{Fact, Place, Source};

/// A queue and a function, with everything between and around them.
#[derive(Clone, Debug)]
pub struct Chain<'d> {
    pub queue: End<'d, Queue>,
    pub function: End<'d, Function>,
    /// `None` where there is no queue in front: a client that is checked alone.
    pub mapping: Option<&'d Mapping>,
    /// All mappings of queues to this function, this one among them.
    pub siblings: Vec<&'d Mapping>,
    pub dead_letter: Option<&'d Queue>,
}

/// One end of a mapping.
#[derive(Clone, Debug)]
pub enum End<'d, T> {
    To(&'d T),
    /// Its name is known, and none of its settings.
    Named(String, Unresolved),
    Unresolved(Unresolved),
    /// There is none.
    None,
}

impl<'d, T> End<'d, T> {
    pub fn get(&self) -> Option<&'d T> {
        match self {
            Self::To(found) => Some(found),
            _ => None,
        }
    }

    /// Why nothing is known of it.
    pub fn unresolved(&self) -> Option<&Unresolved> {
        match self {
            Self::Named(_, unresolved) | Self::Unresolved(unresolved) => Some(unresolved),
            Self::To(_) | Self::None => None,
        }
    }
}

/// What is known besides the deployment.
pub struct Context<'a> {
    /// X: seconds of the slowest call.
    pub slowest_call_s: Option<Fact<f64>>,
    /// c: calls of one message.
    pub calls_per_message: f64,
    /// p: calls at a time, over what the source shows.
    pub parallel_calls: Option<f64>,
    /// o: seconds of work per message outside the call.
    pub overhead_s: f64,
    /// Calls in flight that a plan or a load test allows.
    pub allowed_in_flight: Option<Fact<f64>>,
    /// The largest output limit of a model, by its id.
    pub model_maximum: &'a dyn Fn(&str) -> Option<f64>,
}

/// The margin over the slowest call that a read timeout should have: a quarter covers the drift between two measurements.
pub const MARGIN: f64 = 1.25;

impl Deployment {
    /// Every chain, in the order of the mappings; then functions that have a model client and no queue, where `alone` says
    /// to look at those.
    pub fn chains(&self) -> Vec<Chain<'_>> {
        let mut of_function: BTreeMap<usize, Vec<&Mapping>> = BTreeMap::new();
        for mapping in &self.mappings {
            if let Link::To(function) = mapping.function {
                of_function.entry(function).or_default().push(mapping);
            }
        }
        self.mappings.iter().filter_map(|mapping| self.chain(mapping, &of_function)).collect()
    }

    fn chain<'d>(&'d self, mapping: &'d Mapping, of_function: &BTreeMap<usize, Vec<&'d Mapping>>) -> Option<Chain<'d>> {
        let queue = match &mapping.queue {
            Link::To(index) => End::To(self.queues.get(*index)?),
            other => named(other, "queue"),
        };
        let function = match &mapping.function {
            Link::To(index) => End::To(self.functions.get(*index)?),
            other => named(other, "function"),
        };
        // Nothing can be said of a mapping whose both ends are unknown.
        if queue.get().is_none() && function.get().is_none() {
            return None;
        }
        let siblings = match mapping.function {
            Link::To(function) => of_function.get(&function).cloned().unwrap_or_default(),
            _ => Vec::new(),
        };
        let dead_letter = queue.get().and_then(|queue| queue.redrive.fact()).and_then(|redrive| redrive.value.dead_letter);
        Some(Chain {
            queue,
            function,
            mapping: Some(mapping),
            siblings,
            dead_letter: dead_letter.and_then(|index| self.queues.get(index)),
        })
    }

    /// Why mappings are no chains: neither end of them is known. Of a queue or of a stream, that cannot be told either.
    pub fn unknown_mappings(&self) -> Vec<Unresolved> {
        let ends = |mapping: &Mapping| {
            let (queue, function): (End<'_, Queue>, End<'_, Function>) =
                (named(&mapping.queue, "queue"), named(&mapping.function, "function"));
            [queue.unresolved().cloned(), function.unresolved().cloned()]
        };
        let unknown = self.mappings.iter().map(ends).filter(|ends| ends.iter().all(Option::is_some));
        unknown.flatten().flatten().collect()
    }

    /// Functions with a model client that no mapping leads to.
    pub fn clients_alone(&self) -> Vec<Chain<'_>> {
        let mapped: Vec<bool> = self.mappings.iter().fold(vec![false; self.functions.len()], |mut mapped, mapping| {
            if let Link::To(index) = mapping.function
                && let Some(slot) = mapped.get_mut(index)
            {
                *slot = true;
            }
            mapped
        });
        let functions = self.functions.iter().enumerate();
        functions
            .filter(|(index, function)| {
                !mapped.get(*index).is_some_and(|mapped| *mapped) && !function.source.clients.is_empty()
            })
            .map(|(_, function)| Chain {
                queue: End::None,
                function: End::To(function),
                mapping: None,
                siblings: Vec::new(),
                dead_letter: None,
            })
            .collect()
    }

    /// Lets functions' environments decide what their source leaves to them: `AWS_MAX_ATTEMPTS` counts all attempts in
    /// every SDK, and `AWS_RETRY_MODE` picks botocore's default.
    pub fn apply_environment(&mut self) {
        for function in &mut self.functions {
            let count = function.max_attempts.clone();
            let mode = function.retry_mode.fact().map(|fact| fact.value.clone());
            for client in function.source.clients.iter_mut().filter(|client| client.attempts_from_environment) {
                if let Some(unresolved) = count.why_unresolved() {
                    client.attempts = Setting::unresolved(unresolved.clone(), count.place.clone());
                } else if let Some(fact) = count.fact() {
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count; saturates")]
                    let total = fact.value.max(1.0) as u32;
                    client.attempts = Setting::known(vec![total], fact.source.clone(), count.place.clone());
                } else if client.attempts.is_default()
                    && let (Some(mode), Some(fact)) = (&mode, client.attempts.fact())
                    && fact.value.len() > 1
                {
                    let of_mode = if mode == "legacy" { fact.value.iter().max() } else { fact.value.iter().min() };
                    let source = fact.source.clone();
                    client.attempts = Setting::known(of_mode.into_iter().copied().collect(), source, None);
                }
            }
        }
    }
}

fn named<'d, T>(link: &Link, what: &str) -> End<'d, T> {
    match link {
        Link::Named { name, place } => {
            let why = format!("the {what} `{name}` is in none of the files");
            End::Named(name.clone(), Unresolved { why, give: None, place: Some(place.clone()) })
        }
        Link::Import { name, place } => {
            let why = match name.strip_prefix("ssm:") {
                Some(parameter) => format!("the {what} is read from the SSM parameter `{parameter}` on deployment"),
                None => format!("the {what} is imported from another stack as `{name}`"),
            };
            let give = Some("check the stack that exports it in the same run".to_owned());
            End::Unresolved(Unresolved { why, give, place: Some(place.clone()) })
        }
        Link::Unresolved(unresolved) => End::Unresolved(unresolved.clone()),
        Link::To(_) => End::None,
    }
}

impl Chain<'_> {
    pub fn queue_name(&self) -> Option<&str> {
        match &self.queue {
            End::To(queue) => Some(&queue.name),
            End::Named(name, _) => Some(name),
            _ => None,
        }
    }

    pub fn function_name(&self) -> Option<&str> {
        match &self.function {
            End::To(function) => Some(&function.name),
            End::Named(name, _) => Some(name),
            _ => None,
        }
    }

    pub fn visibility_s(&self) -> Option<f64> {
        self.queue.get()?.visibility_s.value()
    }

    pub fn timeout_s(&self) -> Option<f64> {
        self.function.get()?.timeout_s.value()
    }

    /// 0 where it is not known: then no rule depends on it.
    pub fn window_s(&self) -> f64 {
        self.mapping.and_then(|mapping| mapping.batch_window_s.value()).unwrap_or(0.0)
    }

    pub fn batch_size(&self) -> Option<f64> {
        self.mapping?.batch_size.value()
    }

    pub fn is_fifo(&self) -> bool {
        self.queue.get().is_some_and(|queue| queue.fifo.value() == Some(true))
    }

    pub fn redrive(&self) -> Option<&Redrive> {
        self.queue.get()?.redrive.fact().map(|fact| &fact.value)
    }

    pub fn clients(&self) -> &[Client] {
        self.function.get().map_or(&[], |function| &function.source.clients)
    }

    /// The client that the chain is drawn with: the one that may wait longest.
    pub fn client(&self) -> Option<&Client> {
        let longest = |client: &&Client| {
            let limit = client.read_timeout_s.value().map(|limit| limit.unwrap_or(f64::INFINITY));
            let attempts = client.attempts.fact().and_then(|fact| fact.value.iter().max().copied()).unwrap_or(1);
            limit.map_or(-1.0, |limit| limit * f64::from(attempts))
        };
        // `max_by` keeps the last of equals; the first one is the one to name.
        self.clients().iter().rev().max_by(|a, b| longest(a).total_cmp(&longest(b)))
    }

    /// p: said, or shown by the source, or 1.
    pub fn parallel_calls(&self, context: &Context<'_>) -> f64 {
        let shown = self.function.get().and_then(|function| function.source.parallel_calls.as_ref());
        context.parallel_calls.or(shown.map(|fact| fact.value)).unwrap_or(1.0).max(1.0)
    }

    /// Rounds of calls, one after the other, that a batch takes: ceil(B·c/p). A chain without a mapping makes one.
    pub fn rounds(&self, context: &Context<'_>) -> Option<f64> {
        let batch = if self.mapping.is_some() { self.batch_size()? } else { 1.0 };
        Some((batch * context.calls_per_message / self.parallel_calls(context) - 1e-9).ceil().max(1.0))
    }

    /// B·o: seconds of work outside the calls.
    pub fn overhead_s(&self, context: &Context<'_>) -> f64 {
        self.batch_size().unwrap_or(1.0) * context.overhead_s
    }

    /// Whether anything shows that the function calls a model.
    pub fn calls_model(&self) -> bool {
        self.function.get().is_some_and(|function| {
            function.model_permission.is_some() || !function.source.clients.is_empty() || !function.source.calls.is_empty()
        })
    }

    /// Every setting of the chain that cannot be resolved, with its name in JSON.
    pub fn unresolved(&self) -> Vec<(&'static str, &Unresolved)> {
        fn of<T>(setting: &Setting<T>) -> Option<&Unresolved> {
            setting.why_unresolved()
        }
        let mut found = vec![("queue", self.queue.unresolved()), ("function", self.function.unresolved())];
        if let Some(queue) = self.queue.get() {
            found.extend([
                ("visibility_timeout_s", of(&queue.visibility_s)),
                ("fifo", of(&queue.fifo)),
                ("max_receive_count", of(&queue.redrive)),
            ]);
            found.extend(queue.redrive.fact().map(|redrive| ("max_receive_count", of(&redrive.value.max_receive_count))));
        }
        if let Some(function) = self.function.get() {
            found.extend([
                ("lambda_timeout_s", of(&function.timeout_s)),
                ("reserved_concurrency", of(&function.reserved_concurrency)),
            ]);
            for client in &function.source.clients {
                found.extend([("read_timeout_s", of(&client.read_timeout_s)), ("client_attempts", of(&client.attempts))]);
            }
        }
        if let Some(mapping) = self.mapping {
            found.extend([
                ("batch_size", of(&mapping.batch_size)),
                ("batch_window_s", of(&mapping.batch_window_s)),
                ("maximum_concurrency", of(&mapping.maximum_concurrency)),
                ("report_batch_item_failures", of(&mapping.report_batch_item_failures)),
            ]);
        }
        found.into_iter().filter_map(|(name, why)| Some((name, why?))).collect()
    }
}

/// Where a setting is shown: the literal, or the setting, or what it belongs to.
pub fn shown<'s, T>(setting: &'s Setting<T>, owner: Option<&'s Place>) -> Option<&'s Place> {
    setting.literal().or(setting.place.as_ref()).or(owner)
}

/// How a value is said with its origin: `60 s`, `60 s by default`.
pub fn origin<T>(setting: &Setting<T>) -> &'static str {
    match setting.fact().map(|fact| &fact.source) {
        Some(Source::Default(_)) => " by default",
        Some(Source::Flag(_)) => " by the command line",
        Some(Source::Live { .. }) => " live",
        _ => "",
    }
}
