//! Clients of bedrock-runtime that botocore makes, and their settings.

use std::rc::Rc;

use super::program::Program;
use super::scope::Call;
use super::setting::{Found, joined, not_nothing};
use super::value::{At, Dict, Span, Traced, Value};
use crate::engine::deployment::{Client, Setting};
use crate::engine::fact::Place;

const BOTOCORE: &str = "default of botocore";

/// What a `Config` says, or its absence.
pub(super) struct Options {
    pub(super) read_timeout_s: Setting<Option<f64>>,
    pub(super) attempts: Setting<Vec<u32>>,
    pub(super) attempts_from_environment: bool,
    pub(super) pool: Setting<f64>,
    pub(super) tcp_keepalive: bool,
}

impl Options {
    /// With botocore's defaults for what is not set.
    pub(super) fn client(self, place: Place, sdk: &'static str) -> Client {
        Client {
            place,
            sdk,
            read_timeout_s: self.read_timeout_s.or_default(Some(60.0), BOTOCORE),
            attempts: self.attempts,
            attempts_from_environment: self.attempts_from_environment,
            whole_call_s: None,
            ignored: Vec::new(),
            pool: self.pool.or_default(10.0, BOTOCORE),
            tcp_keepalive: self.tcp_keepalive,
        }
    }
}

impl<'t> Program<'t> {
    /// Where the statement that a call is part of begins.
    pub(super) fn statement(&self, call: &Call<'t>) -> Place {
        let own = self.span(call.node, call.scope);
        let start = call.statement.map_or(own.start, |statement| statement.start_byte().min(own.start));
        let function = call.node.child_by_field_name("function").map_or(own.end, |function| function.end_byte());
        let text = self.text(call.statement.unwrap_or(call.node), call.scope);
        let line = start + text.find('\n').unwrap_or(text.len());
        self.place(Span { start, end: function.min(line), ..own })
    }

    /// Where a call begins.
    pub(super) fn call_place(&self, call: &Call<'t>) -> Place {
        self.statement(&Call { statement: None, ..*call })
    }

    /// The client that a call of botocore makes.
    pub(super) fn botocore_client(&self, call: &Call<'t>) -> Client {
        let arguments = self.arguments(call.node, call.scope, &None);
        let config = self.option(&arguments.named, "config").or_else(|| {
            let config: &At<'t> = arguments.positional.get(9)?;
            Some((self.eval(config), None))
        });
        self.options(config).client(self.statement(call), "botocore")
    }

    /// The options of a `Config` that an argument gives.
    pub(super) fn options(&self, config: Found<'t>) -> Options {
        let alternatives: Vec<Traced<'t>> = match config {
            None => Vec::new(),
            Some((Traced { value: Value::Any(members), .. }, _)) => members.to_vec(),
            Some((one, _)) => vec![one],
        };
        let mut dicts: Vec<Rc<Dict<'t>>> = alternatives.iter().map(|one| self.config_dict(one)).collect();
        if dicts.is_empty() {
            dicts.push(Rc::default());
        }
        let (attempts, from_environment): (Vec<_>, Vec<_>) = dicts.iter().map(|dict| self.attempts(dict)).unzip();
        let attempts = joined(attempts);
        Options {
            read_timeout_s: joined(dicts.iter().map(|dict| self.seconds(self.option(dict, "read_timeout"))).collect()),
            attempts_from_environment: attempts.fact().is_some() && from_environment.iter().all(|from| *from),
            attempts,
            pool: joined(dicts.iter().map(|dict| self.number(self.option(dict, "max_pool_connections"))).collect()),
            tcp_keepalive: dicts.iter().all(|dict| {
                let keepalive = self.option(dict, "tcp_keepalive");
                keepalive.is_some_and(|(value, _)| value.value.truth() == Some(true))
            }),
        }
    }

    fn config_dict(&self, config: &Traced<'t>) -> Rc<Dict<'t>> {
        match &config.value {
            Value::Config(dict) => Rc::clone(dict),
            Value::Nothing => Rc::default(),
            _ => {
                let module = config.span.module;
                let at = At { node: self.node_at(config.span), scope: self.module(module), env: None };
                Rc::new(Dict { entries: Vec::new(), open: Some(self.reason(config, &at)) })
            }
        }
    }

    /// Attempts, and whether the source leaves their count to the environment.
    fn attempts(&self, config: &Dict<'t>) -> (Setting<Vec<u32>>, bool) {
        let Some((retries, place)) = not_nothing(self.option(config, "retries")) else {
            let mode = self.text_setting(self.option(config, "defaults_mode"));
            let standard = mode.fact().is_some_and(|mode| mode.value != "legacy");
            return (Setting::default_of(if standard { vec![3] } else { vec![3, 5] }, BOTOCORE), true);
        };
        match &retries.value {
            Value::Dict(dict) => self.retries(dict, place),
            Value::Any(members) => {
                let (attempts, from): (Vec<_>, Vec<_>) = members
                    .iter()
                    .map(|member| match &member.value {
                        Value::Dict(dict) => self.retries(dict, place),
                        _ => (self.count(Some((member.clone(), place)), 1), false),
                    })
                    .unzip();
                let attempts = joined(attempts);
                let known = attempts.fact().is_some();
                (attempts, known && from.iter().all(|from| *from))
            }
            _ => (self.count(Some((retries, place)), 1), false),
        }
    }

    fn retries(&self, dict: &Dict<'t>, reference: Option<Span>) -> (Setting<Vec<u32>>, bool) {
        let total = self.count(self.inner_option(dict, "total_max_attempts", reference), 0);
        if !total.is_unset() {
            return (total, false);
        }
        let retries = self.count(self.inner_option(dict, "max_attempts", reference), 1);
        if !retries.is_unset() {
            return (retries, false);
        }
        let mode = self.text_setting(self.option(dict, "mode"));
        let attempts = match mode.fact().map(|mode| mode.value.as_str()) {
            Some("standard" | "adaptive") => vec![3],
            Some("legacy") => vec![5],
            _ => vec![3, 5],
        };
        (Setting::default_of(attempts, BOTOCORE), true)
    }
}
