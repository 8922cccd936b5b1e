//! Clients of the AWS SDK: version 3 with its request handlers, and version 2.

use std::cell::RefCell;
use std::collections::HashMap;

use super::handlers::{Defaults, PLAIN, SDK, SDK_DEFAULT, Waiting, abort, ignore, limit_of_ms, waiting};
use super::lookup::Lookup;
use super::program::{Program, Spot};
use super::settings::{given, map};
use super::syntax::{argument, field, is_function, named, walk};
use super::value::{Found, Symbol, Value};
use super::versions::Versions;
use crate::engine::deployment::{Client, Setting, State, Unresolved};
use crate::engine::fact::Place;

const PACKAGE: &str = super::versions::CLIENT;

/// Everything that the readers of clients and calls look at.
pub(super) struct Reader<'a, 't> {
    pub(super) program: &'a Program<'t>,
    pub(super) versions: &'a Versions,
    /// The nodes in use.
    pub(super) nodes: &'a [Spot<'t>],
    symbols: RefCell<HashMap<(usize, usize, usize), Option<Symbol>>>,
}

/// A call that sends something to the model, by the client or a method of it.
pub(super) struct Send<'t> {
    pub(super) call: Spot<'t>,
    /// The client's `new`, where the receiver leads to one.
    client: Option<(usize, usize)>,
}

impl<'a, 't> Reader<'a, 't> {
    pub(super) fn new(program: &'a Program<'t>, versions: &'a Versions, nodes: &'a [Spot<'t>]) -> Self {
        Self { program, versions, nodes, symbols: RefCell::new(HashMap::new()) }
    }

    /// What is called or constructed at a node, if it is of a package or a global.
    pub(super) fn symbol(&self, spot: Spot<'t>) -> Option<Symbol> {
        let key = (spot.module, spot.node.id(), spot.frame);
        if let Some(known) = self.symbols.borrow().get(&key) {
            return known.clone();
        }
        let symbol = self.symbol_at(spot);
        self.symbols.borrow_mut().insert(key, symbol.clone());
        symbol
    }

    fn symbol_at(&self, spot: Spot<'t>) -> Option<Symbol> {
        let callee = field(spot.node, "function").or_else(|| field(spot.node, "constructor"))?;
        match self.program.evaluate(spot.at(callee)).value {
            Value::Symbol(symbol) | Value::Made(symbol) => Some(symbol),
            _ => None,
        }
    }

    /// The ways in which an expression is come to: one for each call of the function around it, where several differ.
    pub(super) fn variants(&self, spot: Spot<'t>) -> Vec<Spot<'t>> {
        for function in self.program.functions_around(spot) {
            let function = spot.at(function);
            let sites = self.program.sites(function);
            if sites.len() > 1 {
                let enter = |call: &Spot<'t>| Spot { frame: self.program.enter(function, *call), ..spot };
                return sites.iter().take(16).map(enter).collect();
            }
        }
        vec![spot]
    }

    /// Where the statement, field or entry begins that makes a client.
    pub(super) fn place(&self, spot: Spot<'t>) -> Place {
        let module = self.program.module(spot);
        let begins = |node: &tree_sitter::Node<'t>| {
            node.kind().ends_with("_statement")
                || node.kind().ends_with("_declaration")
                || node.kind().ends_with("field_definition")
                || node.kind() == "pair"
        };
        let mut start = module.ancestors(spot.node).find(begins).filter(|node| !is_function(*node)).unwrap_or(spot.node);
        while let Some(outer) = module.parent(start).filter(|outer| outer.kind() == "export_statement") {
            start = outer;
        }
        let head = module.text(start).lines().next().map_or(0, str::len);
        let span = module.parsed.span(start);
        module.parsed.file.place(&(span.start..span.start + head))
    }

    /// Clients of the AWS SDK, versions 3 and 2.
    pub(super) fn aws_clients(&self) -> Vec<Client> {
        let made: Vec<(Spot<'t>, Symbol)> = self
            .nodes
            .iter()
            .filter(|spot| spot.node.kind() == "new_expression")
            .filter_map(|spot| Some((*spot, self.symbol(*spot)?)))
            .filter(|(_, symbol)| is_client(symbol))
            .collect();
        let sends = self.sends();
        let mut clients: Vec<Client> = Vec::new();
        for (spot, symbol) in &made {
            let mine: Vec<&Send<'t>> =
                sends.iter().filter(|send| send.client.map_or(made.len() == 1, |client| client == spot.id())).collect();
            for spot in self.variants(*spot) {
                let client = if is_version_2(symbol) {
                    self.version_2(spot)
                } else {
                    self.version_3(spot, argument(spot.node, 0).map(|node| spot.at(node)), &mine, PLAIN)
                };
                if !clients.contains(&client) {
                    clients.push(client);
                }
            }
        }
        clients
    }

    /// A client that `new` at a place makes out of options.
    pub(super) fn version_3(
        &self,
        spot: Spot<'t>,
        options: Option<Spot<'t>>,
        sends: &[&Send<'t>],
        defaults: Defaults,
    ) -> Client {
        let program = self.program;
        let option = |name: &str| options.map_or(Lookup::Absent, |options| program.lookup(options, name));
        let attempts = map(self.max_attempts(&option), |count| vec![whole(count)]);
        let left_out = attempts.is_unset();
        let attempts = attempts.or_default(vec![3], SDK_DEFAULT);
        let per_send = of_every_send(sends, |send| program.number(&program.option(send.call, 1, "requestTimeout")));
        let Waiting { limit, mut ignored, pool, tcp_keepalive, remedy } =
            waiting(program, self.versions, &option("requestHandler"), per_send, defaults);
        for name in ["requestTimeout", "socketTimeout", "timeout"] {
            let given = option(name);
            let same = limit.literal().is_some() && program.number(&given).value().map(limit_of_ms) == limit.value();
            if !same {
                let why = format!("the client does not read `{name}` among its own options: set {remedy}");
                ignore(program, &mut ignored, &given, &why);
            }
        }
        if let Lookup::Entry { value, .. } = option("httpOptions") {
            let why = format!("`httpOptions` is of version 2 of the SDK, and version 3 does not read it: set {remedy}");
            ignore(program, &mut ignored, &program.lookup(value, "timeout"), &why);
        }
        let signal = of_every_send(sends, |send| self.signal(&program.option(send.call, 1, "abortSignal")));
        let (read_timeout_s, whole_call_s) = match signal {
            Some(signal) => {
                ignored.clear();
                abort(limit, signal)
            }
            None => (limit, None),
        };
        let attempts_from_environment = left_out && attempts.is_default();
        Client {
            place: self.place(spot),
            sdk: SDK,
            read_timeout_s,
            attempts,
            attempts_from_environment,
            whole_call_s,
            ignored,
            pool,
            tcp_keepalive,
        }
    }

    fn max_attempts(&self, option: &impl Fn(&str) -> Lookup<'t>) -> Setting<f64> {
        let program = self.program;
        let strategy = option("retryStrategy");
        let found = match &strategy {
            Lookup::Entry { value, .. } => program.evaluate(*value),
            _ => return program.number(&option("maxAttempts")),
        };
        match &found.value {
            Value::Nothing => program.number(&option("maxAttempts")),
            Value::Made(symbol)
                if matches!(symbol.last(), "StandardRetryStrategy" | "ConfiguredRetryStrategy" | "AdaptiveRetryStrategy") =>
            {
                program.number(&given(found.spot, 0))
            }
            _ => {
                let place = strategy.key().map(|key| program.place(key));
                Setting::unresolved(Unresolved { why: found.why(), give: None, place: place.clone() }, place)
            }
        }
    }

    /// Seconds after which an abort signal fires: `AbortSignal.timeout(ms)`, or a controller that a timer aborts.
    pub(super) fn signal(&self, option: &Lookup<'t>) -> Setting<f64> {
        let program = self.program;
        let found = match option {
            Lookup::Absent => return Setting::default(),
            Lookup::Entry { value, .. } => program.evaluate(*value),
            Lookup::Value(found) | Lookup::Unknown(found) => found.clone(),
        };
        let ms = match &found.value {
            Value::Made(symbol) if symbol.is_global(&["AbortSignal", "timeout"]) => program.number(&given(found.spot, 0)),
            Value::Made(symbol) if symbol.is_global(&["AbortSignal", "any"]) => {
                let list = argument(found.spot.node, 0).into_iter().flat_map(named);
                let known = list
                    .map(|item| {
                        let at = found.spot.at(item);
                        map(self.signal(&Lookup::Entry { key: at, value: at }), |seconds| seconds * 1000.0)
                    })
                    .filter(|setting| setting.value().is_some());
                known.reduce(|a, b| if b.value() < a.value() { b } else { a }).unwrap_or_default()
            }
            Value::Symbol(symbol) if symbol.is_global(&["AbortController", "signal"]) => self.timer(found.spot),
            _ => Setting::default(),
        };
        let place = option.key().map(|key| program.place(key));
        Setting { place: place.or(ms.place.clone()), ..map(ms, |ms| ms / 1000.0) }
    }

    /// `setTimeout(() => controller.abort(), ms)`.
    fn timer(&self, controller: Spot<'t>) -> Setting<f64> {
        let program = self.program;
        let timers = program.module(controller).calls.get("setTimeout").into_iter().flatten();
        let mut found = timers.map(|node| controller.at(*node)).filter(|timer| {
            let mut aborts = false;
            if let Some(callback) = argument(timer.node, 0) {
                walk(callback, |node| {
                    if node.kind() == "member_expression"
                        && field(node, "property").is_some_and(|property| program.text(timer.at(property)) == "abort")
                    {
                        let object = field(node, "object").map(|object| program.evaluate(timer.at(object)));
                        aborts |= object.is_some_and(|object| object.spot.id() == controller.id());
                    }
                    true
                });
            }
            aborts
        });
        match (found.next(), found.next()) {
            (Some(timer), None) => program.number(&given(timer, 1)),
            _ => Setting::default(),
        }
    }

    /// Calls of `send` with a command of bedrock-runtime, and of the methods that stand for commands.
    pub(super) fn sends(&self) -> Vec<Send<'t>> {
        self.nodes.iter().filter_map(|spot| self.send(*spot)).collect()
    }

    pub(super) fn send(&self, call: Spot<'t>) -> Option<Send<'t>> {
        let program = self.program;
        let callee = field(call.node, "function").filter(|callee| callee.kind() == "member_expression")?;
        let name = field(callee, "property").map(|property| program.text(call.at(property)))?;
        if name != "send" && !super::calls::is_method(name) {
            return None;
        }
        let receiver = field(callee, "object").map(|object| program.evaluate(call.at(object)))?;
        let client = match &receiver.value {
            Value::Made(symbol) if is_client(symbol) => Some(receiver.spot.id()),
            _ => None,
        };
        let command = argument(call.node, 0).map(|node| program.evaluate(call.at(node)));
        let sends_command =
            matches!(command, Some(Found { value: Value::Made(symbol), .. }) if super::calls::is_command(&symbol));
        let counts = if name == "send" { sends_command } else { client.is_some() };
        counts.then_some(Send { call, client })
    }

    fn version_2(&self, spot: Spot<'t>) -> Client {
        const WHOSE: &str = "default of version 2 of the AWS SDK for JavaScript";
        let program = self.program;
        let http = program.option(spot, 0, "httpOptions");
        let timeout = match &http {
            Lookup::Entry { value, .. } => program.number(&program.lookup(*value, "timeout")),
            other => match program.number(other).state {
                State::Unresolved(unresolved) => Setting::unresolved(unresolved, None),
                _ => Setting::default(),
            },
        };
        let retries = program.number(&program.option(spot, 0, "maxRetries"));
        Client {
            place: self.place(spot),
            sdk: SDK,
            read_timeout_s: map(timeout, limit_of_ms).or_default(Some(120.0), WHOSE),
            attempts_from_environment: false,
            whole_call_s: None,
            attempts: map(retries, |retries| vec![whole(retries + 1.0)]).or_default(vec![4], WHOSE),
            ignored: Vec::new(),
            pool: Setting::default(),
            tcp_keepalive: false,
        }
    }
}

/// The largest value that every send passes; nothing where one does not, or it does not show.
fn of_every_send<'t>(sends: &[&Send<'t>], read: impl Fn(&Send<'t>) -> Setting<f64>) -> Option<Setting<f64>> {
    let mut largest: Option<Setting<f64>> = None;
    for send in sends {
        let setting = read(send);
        let value = setting.value()?;
        if largest.as_ref().and_then(Setting::value).is_none_or(|largest| value > largest) {
            largest = Some(setting);
        }
    }
    largest
}

/// A count of attempts: at least one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the bounds")]
pub(super) fn whole(count: f64) -> u32 {
    count.clamp(1.0, 1e6) as u32
}

pub(super) fn is_client(symbol: &Symbol) -> bool {
    symbol.is(PACKAGE, &["BedrockRuntimeClient"]) || symbol.is(PACKAGE, &["BedrockRuntime"]) || is_version_2(symbol)
}

fn is_version_2(symbol: &Symbol) -> bool {
    symbol.is("aws-sdk", &["BedrockRuntime"])
        || symbol.is("aws-sdk/clients/all", &["BedrockRuntime"])
        || symbol.is("aws-sdk/clients/bedrockruntime", &[])
}
