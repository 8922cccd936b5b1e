//! What is deployed, or will be: queues, functions, the mappings between them, and the model clients in their source.
//!
//! Every setting says where it is written, whose default it is, or why it is not known; readers of all dialects fill the
//! same types, and rules see nothing else.

use super::fact::{Fact, Place, Source};

/// Settings of one or more stacks. Links between them are indices into the lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deployment {
    pub queues: Vec<Queue>,
    pub functions: Vec<Function>,
    pub mappings: Vec<Mapping>,
    /// Names under which stacks export a queue's ARN or a function's: other stacks import them.
    pub exports: Vec<(String, Exported)>,
    /// Resources of the chain that cannot be told one by one, such as those of a loop over something unknown.
    pub unresolved: Vec<Unresolved>,
}

/// What an export stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exported {
    Queue(usize),
    Function(usize),
}

/// A setting: where it stands, and as much as is known of its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting<T> {
    pub state: State<T>,
    /// Where the setting itself stands, when it is written: the second place beside a literal that was followed to.
    pub place: Option<Place>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum State<T> {
    /// With its source: a literal, a flag, a default, live AWS.
    Known(Fact<T>),
    /// Not set, and nothing stands in for it.
    Unset,
    /// Set to something that cannot be resolved: never a default.
    Unresolved(Unresolved),
}

/// Why a value is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    /// The reference, in the dialect's words: "parameter `AnswerSeconds` has no default".
    pub why: String,
    /// How to give it: "--parameter `AnswerSeconds`=...".
    pub give: Option<String>,
    /// Where the reference stands.
    pub place: Option<Place>,
}

impl<T> Default for Setting<T> {
    fn default() -> Self {
        Self { state: State::Unset, place: None }
    }
}

impl<T> Setting<T> {
    pub fn known(value: T, source: Source, place: Option<Place>) -> Self {
        Self { state: State::Known(Fact::new(value, source)), place }
    }

    /// A literal, and the setting that holds it.
    pub fn written(value: T, literal: Place, setting: Place) -> Self {
        Self::known(value, Source::Written(literal), Some(setting))
    }

    /// A value that nobody wrote: the dialect's or the SDK's.
    pub fn default_of(value: T, whose: &'static str) -> Self {
        Self::known(value, Source::Default(whose), None)
    }

    pub fn unresolved(unresolved: Unresolved, setting: Option<Place>) -> Self {
        Self { state: State::Unresolved(unresolved), place: setting }
    }

    pub fn fact(&self) -> Option<&Fact<T>> {
        match &self.state {
            State::Known(fact) => Some(fact),
            State::Unset | State::Unresolved(_) => None,
        }
    }

    pub fn is_unset(&self) -> bool {
        matches!(self.state, State::Unset)
    }

    /// Whether the value is a default: known, and written nowhere.
    pub fn is_default(&self) -> bool {
        self.fact().is_some_and(|fact| matches!(fact.source, Source::Default(_)))
    }

    pub fn why_unresolved(&self) -> Option<&Unresolved> {
        match &self.state {
            State::Unresolved(unresolved) => Some(unresolved),
            _ => None,
        }
    }

    /// The literal's place, where there is one.
    pub fn literal(&self) -> Option<&Place> {
        match self.fact().map(|fact| &fact.source) {
            Some(Source::Written(place)) => Some(place),
            _ => None,
        }
    }

    /// The setting, or where it is unset a default.
    #[must_use]
    pub fn or_default(self, value: T, whose: &'static str) -> Self {
        if self.is_unset() { Self::default_of(value, whose) } else { self }
    }
}

impl<T> Setting<T> {
    fn move_places(&mut self, moved: &dyn Fn(&Place) -> Place) {
        if let Some(place) = &mut self.place {
            *place = moved(place);
        }
        match &mut self.state {
            State::Known(Fact { source: Source::Written(place), .. }) => *place = moved(place),
            State::Unresolved(Unresolved { place: Some(place), .. }) => *place = moved(place),
            State::Known(_) | State::Unset | State::Unresolved(_) => {}
        }
    }
}

impl<T: Copy> Setting<T> {
    pub fn value(&self) -> Option<T> {
        self.fact().map(|fact| fact.value)
    }
}

/// An SQS queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queue {
    /// The dialect's name for it: a logical id, an address, a name.
    pub name: String,
    /// Its name in SQS, where it is known: ARNs end in it.
    pub queue_name: Option<String>,
    pub place: Option<Place>,
    /// Seconds; SQS's default is 30.
    pub visibility_s: Setting<f64>,
    /// Seconds; SQS's default is 345,600.
    pub retention_s: Setting<f64>,
    pub fifo: Setting<bool>,
    /// Unset: there is no redrive policy, and so no dead-letter queue.
    pub redrive: Setting<Redrive>,
}

/// A redrive policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Redrive {
    pub max_receive_count: Setting<f64>,
    /// The dead-letter queue, where it is among those that are known.
    pub dead_letter: Option<usize>,
}

/// A Lambda function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    pub name: String,
    /// Its name in Lambda, where it is known.
    pub function_name: Option<String>,
    pub place: Option<Place>,
    /// Seconds.
    pub timeout_s: Setting<f64>,
    pub reserved_concurrency: Setting<f64>,
    pub in_vpc: bool,
    /// Runs on Lambda Managed Instances (a capacity provider), which may run longer.
    pub managed_instances: bool,
    /// Where a role lets it call a model.
    pub model_permission: Option<Place>,
    /// `AWS_MAX_ATTEMPTS` of its environment: all attempts, the first one counted.
    pub max_attempts: Setting<f64>,
    /// `AWS_RETRY_MODE` of its environment.
    pub retry_mode: Setting<String>,
    /// Where its source may be found.
    pub code: Option<CodeRef>,
    /// What its source shows; filled after the templates are read.
    pub source: SourceFacts,
}

/// Where a function's source may be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeRef {
    /// Folders that may hold it, best first, relative to the working folder, with `/`; empty where only the handler is known.
    pub folders: Vec<String>,
    /// `handler.main`, `src/rank.handler`, `estate.LeaseReader::handleRequest`.
    pub handler: String,
    /// `python3.13`.
    pub runtime: Option<String>,
    /// Source that stands in the template itself.
    pub inline: Option<Inline>,
}

/// Source in a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inline {
    pub text: String,
    /// The scalar that holds it.
    pub place: Place,
}

/// An event source mapping from a queue to a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    pub place: Option<Place>,
    pub queue: Link,
    pub function: Link,
    pub batch_size: Setting<f64>,
    /// Seconds.
    pub batch_window_s: Setting<f64>,
    pub maximum_concurrency: Setting<f64>,
    /// Where provisioned pollers are configured.
    pub provisioned: Option<Place>,
    pub report_batch_item_failures: Setting<bool>,
    /// Unset is enabled.
    pub enabled: Setting<bool>,
}

/// What a mapping points at.
#[derive(Clone, Debug, PartialEq)]
pub enum Link {
    /// An index into the deployment's queues or functions.
    To(usize),
    /// An export of another stack, by its name, until the stacks are joined.
    Import {
        name: String,
        place: Place,
    },
    /// Named in full (an ARN's last part), and in none of the files so far.
    Named {
        name: String,
        place: Place,
    },
    Unresolved(Unresolved),
}

/// What a function's source shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceFacts {
    pub clients: Vec<Client>,
    pub calls: Vec<ModelCall>,
    /// Calls at a time: the literal size of a thread pool or semaphore that the calls run under.
    pub parallel_calls: Option<Fact<f64>>,
    /// Retry layers around the calls, with what they are: "tenacity's `retry`".
    pub nested_retries: Vec<(Place, String)>,
}

impl SourceFacts {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Moves every place: source that stands inside another file is read by itself, and shown where it stands.
    pub fn move_places(&mut self, moved: &dyn Fn(&Place) -> Place) {
        let shift = |place: &mut Place| *place = moved(place);
        for client in &mut self.clients {
            shift(&mut client.place);
            client.read_timeout_s.move_places(moved);
            client.attempts.move_places(moved);
            client.pool.move_places(moved);
            client.ignored.iter_mut().for_each(|option| shift(&mut option.place));
        }
        for call in &mut self.calls {
            shift(&mut call.place);
            call.max_tokens.move_places(moved);
            call.model.move_places(moved);
        }
        self.nested_retries.iter_mut().for_each(|(place, _)| shift(place));
        if let Some(Source::Written(place)) = self.parallel_calls.as_mut().map(|fact| &mut fact.source) {
            shift(place);
        }
    }
}

/// A client of bedrock-runtime, where it is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Client {
    /// The line where the expression or declaration that makes it begins.
    pub place: Place,
    /// "botocore", "the AWS SDK for JavaScript": who sets what is left out.
    pub sdk: &'static str,
    /// Seconds that one attempt may wait for an answer; a known `None`: it waits for ever.
    pub read_timeout_s: Setting<Option<f64>>,
    /// Attempts in all; more than one where it depends on the SDK's version.
    pub attempts: Setting<Vec<u32>>,
    /// Whether the source leaves the count to the environment (`AWS_MAX_ATTEMPTS`) and the SDK.
    pub attempts_from_environment: bool,
    /// Seconds after which all attempts together are cut off, where something does: they are still as many.
    pub whole_call_s: Option<f64>,
    /// Options that the SDK does not read, though they look like a read timeout.
    pub ignored: Vec<IgnoredOption>,
    /// Size of the connection pool.
    pub pool: Setting<f64>,
    /// Whether TCP keepalive is on.
    pub tcp_keepalive: bool,
}

/// An option without effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredOption {
    pub place: Place,
    pub option: String,
    /// Why, and what works instead.
    pub why: String,
}

/// A call of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCall {
    pub place: Place,
    /// Unset: the call states no output limit. Unresolved: it may, but the source does not show it.
    pub max_tokens: Setting<f64>,
    pub model: Setting<String>,
}

impl Deployment {
    /// Takes in the settings of more files; their links move along.
    pub fn merge(&mut self, other: Self) {
        let (queues, functions) = (self.queues.len(), self.functions.len());
        self.queues.extend(other.queues.into_iter().map(|mut queue| {
            if let State::Known(redrive) = &mut queue.redrive.state {
                redrive.value.dead_letter = redrive.value.dead_letter.map(|index| index + queues);
            }
            queue
        }));
        self.functions.extend(other.functions);
        self.mappings.extend(other.mappings.into_iter().map(|mut mapping| {
            if let Link::To(index) = &mut mapping.queue {
                *index += queues;
            }
            if let Link::To(index) = &mut mapping.function {
                *index += functions;
            }
            mapping
        }));
        self.unresolved.extend(other.unresolved);
        self.exports.extend(other.exports.into_iter().map(|(name, exported)| {
            let moved = match exported {
                Exported::Queue(index) => Exported::Queue(index + queues),
                Exported::Function(index) => Exported::Function(index + functions),
            };
            (name, moved)
        }));
    }

    /// Follows links from one stack to another: imports to exports, and names in full to the one queue or function that
    /// has it. A name that two have stays a name.
    pub fn join(&mut self) {
        let of_queue = |link: &Link| match link {
            Link::Import { name, .. } => self.exports.iter().find_map(|(export, to)| match to {
                Exported::Queue(index) if export == name => Some(*index),
                _ => None,
            }),
            Link::Named { name, .. } => only(&self.queues, |queue| queue.queue_name.as_deref() == Some(name)),
            Link::To(_) | Link::Unresolved(_) => None,
        };
        let of_function = |link: &Link| match link {
            Link::Import { name, .. } => self.exports.iter().find_map(|(export, to)| match to {
                Exported::Function(index) if export == name => Some(*index),
                _ => None,
            }),
            Link::Named { name, .. } => only(&self.functions, |function| function.function_name.as_deref() == Some(name)),
            Link::To(_) | Link::Unresolved(_) => None,
        };
        let found: Vec<_> =
            self.mappings.iter().map(|mapping| (of_queue(&mapping.queue), of_function(&mapping.function))).collect();
        for (mapping, (queue, function)) in self.mappings.iter_mut().zip(found) {
            if let Some(index) = queue {
                mapping.queue = Link::To(index);
            }
            if let Some(index) = function {
                mapping.function = Link::To(index);
            }
        }
    }
}

fn only<T>(list: &[T], fits: impl Fn(&T) -> bool) -> Option<usize> {
    let mut found = list.iter().enumerate().filter(|(_, item)| fits(item)).map(|(index, _)| index);
    let first = found.next()?;
    found.next().is_none().then_some(first)
}
