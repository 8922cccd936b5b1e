//! Calls of models: their output limits and model ids.

use super::clients::Reader;
use super::lookup::Lookup;
use super::program::Spot;
use super::value::{Found, Symbol, Value};
use super::versions::CLIENT;
use crate::engine::deployment::{ModelCall, Setting, State, Unresolved};
use crate::engine::fact::{Fact, Source};

const CONVERSE: [&str; 2] = ["ConverseCommand", "ConverseStreamCommand"];
const INVOKE: [&str; 2] = ["InvokeModelCommand", "InvokeModelWithResponseStreamCommand"];

/// Where a request body states its output limit, by model family.
const BODY_KEYS: [&[&str]; 8] = [
    &["max_tokens"],
    &["max_completion_tokens"],
    &["max_tokens_to_sample"],
    &["max_gen_len"],
    &["maxTokenCount"],
    &["max_new_tokens"],
    &["textGenerationConfig", "maxTokenCount"],
    &["inferenceConfig", "maxTokens"],
];
const BODY_KEY_OF_NOVA: [&str; 2] = ["inferenceConfig", "max_new_tokens"];

pub(super) fn is_command(symbol: &Symbol) -> bool {
    symbol.package == CLIENT && symbol.path.len() == 1 && CONVERSE.iter().chain(&INVOKE).any(|name| symbol.last() == *name)
}

/// Whether a client's method stands for a command.
pub(super) fn is_method(name: &str) -> bool {
    matches!(name, "converse" | "converseStream" | "invokeModel" | "invokeModelWithResponseStream")
}

/// Whether a model writes no text, by its id.
fn writes_no_text(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    ["embed", "rerank", "image", "stability.", "canvas", "nova-reel", "sonic"].iter().any(|part| model.contains(part))
}

impl<'t> Reader<'_, 't> {
    /// Calls through the AWS SDK.
    pub(super) fn aws_calls(&self) -> Vec<ModelCall> {
        let mut calls = Vec::new();
        for spot in self.nodes {
            let converse = match spot.node.kind() {
                "new_expression" => match self.symbol(*spot).filter(is_command) {
                    Some(symbol) => CONVERSE.contains(&symbol.last()),
                    None => continue,
                },
                "call_expression" => match self.send(*spot).and_then(|_| self.method(*spot)) {
                    Some(name) => name.starts_with("converse"),
                    None => continue,
                },
                _ => continue,
            };
            for spot in self.variants(*spot) {
                let input = |name: &str| self.program.option(spot, 0, name);
                let max_tokens = if converse { self.in_inference_config(&input) } else { self.in_body(&input("body")) };
                self.add(&mut calls, spot, max_tokens, &input("modelId"));
            }
        }
        calls
    }

    fn method(&self, call: Spot<'t>) -> Option<&'t str> {
        let callee = super::syntax::field(call.node, "function")?;
        let name = super::syntax::field(callee, "property").map(|property| self.program.text(call.at(property)))?;
        is_method(name).then_some(name)
    }

    /// Adds a call, unless its model writes no text.
    pub(super) fn add(&self, calls: &mut Vec<ModelCall>, spot: Spot<'t>, max_tokens: Setting<f64>, model: &Lookup<'t>) {
        let model = self.program.text_setting(model);
        if model.fact().is_some_and(|fact| writes_no_text(&fact.value)) {
            return;
        }
        // Without its arguments.
        let parsed = self.program.module(spot).parsed;
        let end = super::syntax::field(spot.node, "arguments").map_or(spot.node, |list| list).start_byte();
        let span = parsed.span(spot.node);
        let place = parsed.file.place(&(span.start..end.max(span.start)));
        let call = ModelCall { place, max_tokens, model };
        if !calls.contains(&call) {
            calls.push(call);
        }
    }

    fn in_inference_config(&self, input: &impl Fn(&str) -> Lookup<'t>) -> Setting<f64> {
        self.nested(input("inferenceConfig"), "maxTokens")
    }

    /// A number one level down.
    fn nested(&self, outer: Lookup<'t>, key: &str) -> Setting<f64> {
        let program = self.program;
        match outer {
            Lookup::Absent => Setting::default(),
            Lookup::Entry { value, .. } => program.number(&program.lookup(value, key)),
            Lookup::Value(found) => program.number(&program.property(&found, key)),
            Lookup::Unknown(_) => program.number(&outer),
        }
    }

    /// The limit in a request body: `JSON.stringify({ ... })`, also as bytes, or a text.
    fn in_body(&self, body: &Lookup<'t>) -> Setting<f64> {
        let mut found = match body {
            Lookup::Absent => return Setting::default(),
            Lookup::Entry { value, .. } => self.program.evaluate(*value),
            Lookup::Value(found) | Lookup::Unknown(found) => found.clone(),
        };
        for _ in 0..8 {
            let inner = match &found.value {
                Value::Made(symbol) if symbol.is_global(&["JSON", "stringify"]) => {
                    return match super::syntax::argument(found.spot.node, 0) {
                        Some(node) => self.in_object(found.spot.at(node)),
                        None => Setting::default(),
                    };
                }
                Value::Made(symbol)
                    if matches!(
                        symbol.last(),
                        "from" | "encode" | "fromString" | "fromUtf8" | "toUint8Array" | "transformToUint8Array"
                    ) =>
                {
                    super::syntax::argument(found.spot.node, 0)
                }
                Value::Text(text) => return self.in_text(text, &found, body),
                _ => None,
            };
            match inner {
                Some(node) => found = self.program.evaluate(found.spot.at(node)),
                None => break,
            }
        }
        let place = body.key().map(|key| self.program.place(key));
        let at = Some(self.program.place(found.spot));
        Setting::unresolved(Unresolved { why: found.why(), give: None, place: at }, place)
    }

    fn in_object(&self, object: Spot<'t>) -> Setting<f64> {
        let program = self.program;
        let mut unresolved = None;
        for keys in BODY_KEYS.iter().copied().chain([&BODY_KEY_OF_NOVA[..]]) {
            let setting = match keys {
                [outer, key] => self.nested(program.lookup(object, outer), key),
                [key] => program.number(&program.lookup(object, key)),
                _ => continue,
            };
            match setting.state {
                State::Known(_) => return setting,
                State::Unresolved(_) => unresolved = unresolved.or(Some(setting)),
                State::Unset => {}
            }
        }
        unresolved.unwrap_or_default()
    }

    fn in_text(&self, text: &str, found: &Found<'t>, body: &Lookup<'t>) -> Setting<f64> {
        let place = body.key().map(|key| self.program.place(key));
        let literal = self.program.place(found.spot);
        let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else {
            let why = "the body is no JSON that can be read".to_owned();
            return Setting::unresolved(Unresolved { why, give: None, place: Some(literal) }, place);
        };
        let number =
            BODY_KEYS.iter().copied().chain([&BODY_KEY_OF_NOVA[..]]).find_map(|keys| {
                keys.iter().try_fold(&value, |value, key| value.get(*key)).and_then(serde_json::Value::as_f64)
            });
        match number {
            Some(number) => Setting { state: State::Known(Fact::new(number, Source::Written(literal))), place },
            None => Setting::default(),
        }
    }
}
