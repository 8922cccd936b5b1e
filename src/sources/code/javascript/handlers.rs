//! How long a client of the AWS SDK waits for an answer: its request handler's options, as the handler's version reads them.

use super::lookup::Lookup;
use super::program::{Program, Spot};
use super::settings::map;
use super::syntax::field;
use super::value::{Found, Symbol, Value};
use super::versions::{CLIENT, Version, Versions};
use crate::engine::deployment::{IgnoredOption, Setting, State, Unresolved};

pub(super) const SDK: &str = "the AWS SDK for JavaScript";
pub(super) const SDK_DEFAULT: &str = "default of the AWS SDK for JavaScript";

/// Seconds, or for ever.
pub(super) type Limit = Setting<Option<f64>>;

/// What the request handler makes of a client.
pub(super) struct Waiting {
    pub(super) limit: Limit,
    pub(super) ignored: Vec<IgnoredOption>,
    pub(super) pool: Setting<f64>,
    pub(super) tcp_keepalive: bool,
    /// How to set a read timeout.
    pub(super) remedy: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Http1,
    Http2,
    Fetch,
}

/// A handler: what it is, of which version, and where its options are.
struct Handler<'t> {
    kind: Kind,
    version: Version,
    options: Option<Spot<'t>>,
    /// Whether the client makes it with its own options.
    own: bool,
}

/// What stands in for what is not set.
#[derive(Clone, Copy)]
pub(super) struct Defaults {
    /// Seconds that a wrapper sets as `requestTimeout` where the client's options make the handler.
    pub(super) request_timeout_s: Option<f64>,
    pub(super) whose: &'static str,
}

pub(super) const PLAIN: Defaults = Defaults { request_timeout_s: None, whose: SDK_DEFAULT };

const HTTP2: &str = "`requestHandler: { requestTimeout: ... }`";
const HTTP1: &str = "`requestHandler: { socketTimeout: ... }`, or `requestTimeout` with `throwOnRequestTimeout: true`";
const HTTP1_OLD: &str = "`requestHandler: { requestTimeout: ... }`";

/// Reads what `requestHandler` of a client's options means; `per_send` is a `requestTimeout` that every call passes.
pub(super) fn waiting<'t>(
    program: &Program<'t>,
    versions: &Versions,
    handler: &Lookup<'t>,
    per_send: Option<Setting<f64>>,
    defaults: Defaults,
) -> Waiting {
    let default = |options, own| {
        let kind = if versions.at_least(CLIENT, [3, 798, 0]) { Kind::Http2 } else { Kind::Http1 };
        Handler { kind, version: versions.handler_of_client(), options, own }
    };
    let found = match handler {
        Lookup::Absent => None,
        Lookup::Entry { value, .. } => Some(program.evaluate(*value)),
        Lookup::Value(found) | Lookup::Unknown(found) => Some(found.clone()),
    };
    let known = match (&found, handler) {
        (None | Some(Found { value: Value::Nothing, .. }), _) => Some(default(None, true)),
        (Some(Found { value: Value::Object, .. }), Lookup::Entry { value, .. }) => Some(default(Some(*value), false)),
        (Some(Found { value: Value::Made(symbol), spot }), _) => made(versions, symbol, *spot),
        // Options with a spread or a condition: each of them is looked up.
        (Some(_), Lookup::Entry { value, .. }) if is_options(program, *value) => Some(default(Some(*value), false)),
        _ => None,
    };
    let Some(known) = known else {
        let why = found.as_ref().map(Found::why).unwrap_or_default();
        let place = found.map(|found| program.place(found.spot));
        let key = handler.key().map(|key| program.place(key));
        let limit = Setting::unresolved(Unresolved { why, give: None, place }, key);
        return Waiting { limit, ignored: Vec::new(), pool: Setting::default(), tcp_keepalive: false, remedy: HTTP2 };
    };
    let option = |name: &str| known.options.map_or(Lookup::Absent, |options| program.lookup(options, name));
    let seconds = |name: &str| map(program.number(&option(name)), limit_of_ms);
    let mut request = per_send.map_or_else(|| seconds("requestTimeout"), |setting| map(setting, limit_of_ms));
    if let (true, Some(stands_in), Kind::Http1 | Kind::Http2) = (
        request.is_unset() && !matches!(found, Some(Found { value: Value::Made(_), .. })),
        defaults.request_timeout_s,
        known.kind,
    ) {
        request = Setting::default_of(Some(stands_in), defaults.whose);
    }
    let socket = seconds("socketTimeout");
    let mut ignored = Vec::new();
    let (limit, remedy) = match known.kind {
        Kind::Http2 => {
            let session = seconds("sessionTimeout");
            let isolated = known.own || program.boolean(&option("disableConcurrentStreams")).value() == Some(true);
            let idle = isolated && known.version >= [4, 12, 0] && session.is_unset();
            ignore(
                program,
                &mut ignored,
                &option("socketTimeout"),
                "the HTTP/2 request handler does not read `socketTimeout`: use `requestTimeout`",
            );
            let limits = [request, session];
            let limit = shortest(limits, if idle { Some(300.0) } else { None }, defaults.whose);
            (limit, HTTP2)
        }
        Kind::Http1 if known.version >= [4, 4, 0] => {
            let throws = program.boolean(&option("throwOnRequestTimeout"));
            match (&throws.state, request.value()) {
                (State::Known(fact), _) if fact.value => (shortest([request, socket], None, defaults.whose), HTTP1),
                (State::Unresolved(unresolved), Some(Some(_))) => {
                    let limit = Setting::unresolved(unresolved.clone(), throws.place.clone());
                    (shortest([limit, socket], None, defaults.whose), HTTP1)
                }
                // Zero: no limit, as written.
                (_, Some(None)) => (shortest([request, socket], None, defaults.whose), HTTP1),
                _ => {
                    ignore_written(
                        &mut ignored,
                        &request,
                        "requestTimeout",
                        "`NodeHttpHandler` only logs a warning when `requestTimeout` has passed: set `throwOnRequestTimeout: true` \
                         beside it, or use `socketTimeout`",
                    );
                    (shortest([socket], None, defaults.whose), HTTP1)
                }
            }
        }
        Kind::Http1 => {
            let limit = if request.is_unset() { socket } else { request };
            (shortest([limit], None, defaults.whose), HTTP1_OLD)
        }
        Kind::Fetch => (shortest([request], None, defaults.whose), HTTP1_OLD),
    };
    if known.kind != Kind::Fetch {
        ignore(
            program,
            &mut ignored,
            &option("timeout"),
            &format!("the request handler has no option `timeout`: use {remedy}"),
        );
    }
    // A limit that holds makes the others harmless.
    if limit.literal().is_some() {
        ignored.clear();
    }
    let (pool, tcp_keepalive) =
        if known.kind == Kind::Http1 { agent(program, &option("httpsAgent")) } else { (Setting::default(), false) };
    Waiting { limit, ignored, pool, tcp_keepalive, remedy }
}

/// Milliseconds to seconds; zero is no limit.
pub(super) fn limit_of_ms(ms: f64) -> Option<f64> {
    (ms > 0.0).then_some(ms / 1000.0)
}

/// The shortest of limits; what is not known hides it, and none at all is the default.
fn shortest<const N: usize>(limits: [Limit; N], default: Option<f64>, whose: &'static str) -> Limit {
    let mut best: Option<Limit> = None;
    for limit in limits {
        match &limit.state {
            State::Unset => continue,
            State::Unresolved(_) => return limit,
            State::Known(_) => {}
        }
        let length = |limit: &Limit| limit.value().flatten().unwrap_or(f64::INFINITY);
        if best.as_ref().is_none_or(|best| length(&limit) < length(best)) {
            best = Some(limit);
        }
    }
    match (best, default) {
        (Some(best), Some(default)) if best.value().flatten().is_none_or(|limit| limit > default) => {
            Setting::default_of(Some(default), whose)
        }
        (Some(best), _) => best,
        (None, default) => Setting::default_of(default, whose),
    }
}

/// Notes an option that is there, and does not ask for no limit, as one without effect.
pub(super) fn ignore<'t>(program: &Program<'t>, ignored: &mut Vec<IgnoredOption>, option: &Lookup<'t>, why: &str) {
    let Some(key) = option.key() else { return };
    let setting = program.number(option);
    if !setting.is_unset() && setting.value() != Some(0.0) {
        let option = program.text(key).to_owned();
        ignored.push(IgnoredOption { place: program.place(key), option, why: why.to_owned() });
    }
}

fn ignore_written(ignored: &mut Vec<IgnoredOption>, setting: &Limit, option: &str, why: &str) {
    if let Some(place) = &setting.place {
        ignored.push(IgnoredOption { place: place.clone(), option: option.to_owned(), why: why.to_owned() });
    }
}

fn made<'t>(versions: &Versions, symbol: &Symbol, spot: Spot<'t>) -> Option<Handler<'t>> {
    let version = match symbol.package.as_str() {
        "@smithy/node-http-handler" => versions.handler_of_code(),
        "@aws-sdk/node-http-handler" => [3, 0, 0],
        "@smithy/fetch-http-handler" | "@aws-sdk/fetch-http-handler" => [4, 0, 0],
        _ => return None,
    };
    let kind = match symbol.path.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["NodeHttpHandler"] | ["NodeHttpHandler", "create"] => Kind::Http1,
        ["NodeHttp2Handler"] | ["NodeHttp2Handler", "create"] => Kind::Http2,
        ["FetchHttpHandler"] | ["FetchHttpHandler", "create"] => Kind::Fetch,
        _ => return None,
    };
    let options = super::syntax::argument(spot.node, 0).map(|node| spot.at(node));
    Some(Handler { kind, version, options, own: false })
}

fn is_options<'t>(program: &Program<'t>, spot: Spot<'t>) -> bool {
    let node = super::syntax::unwrap(spot.node);
    match node.kind() {
        "ternary_expression" => {
            let object = |name| field(node, name).is_some_and(|node| super::syntax::unwrap(node).kind() == "object");
            object("consequence") && object("alternative")
        }
        "call_expression" => field(node, "function").is_some_and(|callee| program.text(spot.at(callee)) == "Object.assign"),
        _ => false,
    }
}

/// The connection pool, and whether TCP keepalive is on.
fn agent<'t>(program: &Program<'t>, option: &Lookup<'t>) -> (Setting<f64>, bool) {
    let own = || (Setting::default_of(50.0, SDK_DEFAULT), true);
    let found = match option {
        Lookup::Absent => return own(),
        Lookup::Entry { value, .. } => program.evaluate(*value),
        Lookup::Value(found) | Lookup::Unknown(found) => found.clone(),
    };
    let keeps = |setting: &Setting<bool>| setting.value();
    match (&found.value, option) {
        (Value::Nothing, _) => own(),
        (Value::Object, Lookup::Entry { value, .. }) => {
            let size = program.number(&program.lookup(*value, "maxSockets")).or_default(50.0, SDK_DEFAULT);
            (size, keeps(&program.boolean(&program.lookup(*value, "keepAlive"))).unwrap_or(true))
        }
        (Value::Made(symbol), _) if symbol.last() == "Agent" => {
            let size = program.number(&program.option(found.spot, 0, "maxSockets"));
            (size, keeps(&program.boolean(&program.option(found.spot, 0, "keepAlive"))).unwrap_or(false))
        }
        _ => (
            Setting::unresolved(Unresolved { why: found.why(), give: None, place: Some(program.place(found.spot)) }, None),
            false,
        ),
    }
}

/// Cuts a client's waiting off where every call of it passes a signal that aborts sooner: the limit of an attempt, and that
/// of all together.
pub(super) fn abort(read: Limit, signal: Setting<f64>) -> (Limit, Option<f64>) {
    let Some(whole) = signal.value().filter(|limit| *limit > 0.0) else { return (read, None) };
    match read.value() {
        Some(Some(read_s)) if whole > read_s => (read, Some(whole)),
        _ => (map(signal, Some), Some(whole)),
    }
}
