//! Calls of models, and the output limits that they state.

use super::eval::followed;
use super::program::Program;
use super::scope::{Call, children};
use super::setting::{Found, not_nothing};
use super::value::{At, Dict, Value};
use super::wrappers::{Wrapper, wrapper_use};
use crate::engine::deployment::{ModelCall, Setting, State, Unresolved};

const METHODS: [&str; 4] = ["converse", "converse_stream", "invoke_model", "invoke_model_with_response_stream"];

/// Where the bodies of requests state their output limit.
const LIMITS: [&[&str]; 12] = [
    &["max_tokens"],
    &["max_completion_tokens"],
    &["max_tokens_to_sample"],
    &["max_gen_len"],
    &["max_new_tokens"],
    &["maxTokenCount"],
    &["maxTokens"],
    &["textGenerationConfig", "maxTokenCount"],
    &["inferenceConfig", "maxTokens"],
    &["inferenceConfig", "max_new_tokens"],
    &["inferenceConfig", "maxNewTokens"],
    &["parameters", "max_new_tokens"],
];

/// Keys of bodies that only models without output tokens take.
const OTHER_BODIES: [&str; 9] = [
    "texts",
    "taskType",
    "text_prompts",
    "documents",
    "embeddingTypes",
    "embeddingConfig",
    "inputImage",
    "aspect_ratio",
    "output_format",
];

/// Parts of the ids of models that put out no tokens.
const OTHER_MODELS: [&str; 9] = ["embed", "rerank", "image", "canvas", "stability.", "stable-", "sd3-", "nova-reel", "upscale"];

/// How sure it is that a method is a bedrock-runtime client's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sure {
    Yes,
    Maybe,
    No,
}

impl<'t> Program<'t> {
    /// The call of a model that a call is, or hands on to something that makes it.
    ///
    /// `known`: whether the files make a client, so that an unknown receiver may be one.
    pub(super) fn model_call(&self, call: &Call<'t>, known: bool) -> Option<ModelCall> {
        let function = call.node.child_by_field_name("function")?;
        let arguments = call.node.child_by_field_name("arguments").map(children).unwrap_or_default();
        // A method that is handed on alone (`retry(client.converse)`) is wrapped, not called: no request goes with it.
        let alone = arguments.len() == 1;
        let handed = arguments.into_iter().filter(|node| !alone && node.kind() == "attribute");
        let method = std::iter::once(function).chain(handed).find_map(|node| {
            let (sure, method) = self.method_of(node, call, node.id() == function.id());
            (sure == Sure::Yes || (sure == Sure::Maybe && known)).then_some(method)
        })?;
        self.request(call, method.starts_with("invoke"))
    }

    /// The method of a client that a node names.
    fn method_of(&self, node: tree_sitter::Node<'t>, call: &Call<'t>, called: bool) -> (Sure, &'static str) {
        let name = match node.kind() {
            "attribute" => node.child_by_field_name("attribute").map_or("", |name| self.text(name, call.scope)),
            "identifier" if called => "",
            _ => return (Sure::No, ""),
        };
        let method = METHODS.iter().find(|method| **method == name).copied();
        if node.kind() == "attribute" && method.is_none() {
            return (Sure::No, "");
        }
        let value = self.eval(&At { node, scope: call.scope, env: None }).value;
        method_in(&value, method)
    }

    fn request(&self, call: &Call<'t>, with_body: bool) -> Option<ModelCall> {
        let arguments = self.arguments(call.node, call.scope, &None);
        let model_id = self.option(&arguments.named, "modelId");
        let starts = match model_id.as_ref().map(|(value, _)| &value.value) {
            Some(Value::Unknown(unknown)) => unknown.starts.as_deref().unwrap_or("").to_ascii_lowercase(),
            _ => String::new(),
        };
        let model = self.text_setting(model_id);
        let max_tokens = if with_body {
            if puts_out_no_tokens(&model, &starts) {
                return None;
            }
            self.body_limit(&arguments.named, &model)?
        } else {
            let config = not_nothing(self.option(&arguments.named, "inferenceConfig"));
            let limit = self.limit_in(config, &[&["maxTokens"]]);
            // A managed prompt has its own.
            match (&model.state, limit.is_unset()) {
                (State::Known(id), true) if id.value.contains(":prompt/") => {
                    let why = "the limit of a managed prompt".to_owned();
                    Setting::unresolved(Unresolved { why, give: None, place: model.place.clone() }, None)
                }
                _ => limit,
            }
        };
        Some(ModelCall { place: self.call_place(call), max_tokens, model })
    }

    /// The limit in the body of `invoke_model`; `None` where the body is of a model that puts out no tokens.
    fn body_limit(&self, named: &Dict<'t>, model: &Setting<String>) -> Option<Setting<f64>> {
        let Some((body, place)) = self.option(named, "body") else { return Some(Setting::default()) };
        let content = match &body.value {
            Value::Json(content) => (**content).clone(),
            Value::Text(_) => {
                let at = At { node: self.node_at(body.span), scope: self.module(body.span.module), env: None };
                self.unknown(&at, "a body that is written as a text".to_owned())
            }
            _ => body,
        };
        if let Value::Dict(dict) = &content.value
            && model.fact().is_none()
        {
            if OTHER_BODIES.iter().any(|key| dict.get(key).is_some()) {
                return None;
            }
            // Titan's embeddings and its texts are asked for alike.
            if dict.get("inputText").is_some() && dict.get("textGenerationConfig").is_none() {
                let why = "the model is not known, and may put out no tokens".to_owned();
                let unresolved = Unresolved { why, give: None, place: model.place.clone() };
                return Some(Setting::unresolved(unresolved, None));
            }
        }
        Some(self.limit_in(Some((content, place)), &LIMITS))
    }

    /// A limit in a dictionary, under one of several keys.
    fn limit_in(&self, found: Found<'t>, paths: &[&[&str]]) -> Setting<f64> {
        let Some((value, place)) = found else { return Setting::default() };
        let Value::Dict(dict) = &value.value else {
            // Not a dictionary: unresolved, with why.
            return self.setting(Some((value, place)), "a dictionary", |_| None);
        };
        let mut open = None;
        for path in paths {
            let Some((first, rest)) = path.split_first() else { continue };
            let Some(entry) = dict.get(first) else { continue };
            let at = place.map_or(entry.place, |reference| followed(entry, reference));
            let inner = (self.held(&entry.value), Some(at));
            let limit =
                if rest.is_empty() { self.number(Some(inner)) } else { self.limit_in(not_nothing(Some(inner)), &[rest]) };
            match limit.state {
                State::Known(_) => return limit,
                State::Unresolved(_) => open = Some(limit),
                State::Unset => {}
            }
        }
        open.unwrap_or_else(|| match &dict.open {
            Some(unknown) => Setting::unresolved(unknown.unresolved.clone(), None),
            None => Setting::default(),
        })
    }

    /// A request through a wrapper's own client: `client.messages.create(...)`.
    pub(super) fn wrapper_request(&self, call: &Call<'t>) -> Option<ModelCall> {
        let function = call.node.child_by_field_name("function").filter(|function| function.kind() == "attribute")?;
        let name = self.text(function.child_by_field_name("attribute")?, call.scope);
        if !matches!(name, "create" | "stream" | "parse") {
            return None;
        }
        let callee = self.eval(&At { node: function, scope: call.scope, env: None }).value;
        let is_messages = matches!(&callee, Value::Library(path) if path.rsplit('.').nth(1) == Some("messages"));
        if wrapper_use(&callee) != Some(Wrapper::Anthropic) || !is_messages {
            return None;
        }
        let arguments = self.arguments(call.node, call.scope, &None);
        Some(ModelCall {
            place: self.call_place(call),
            max_tokens: self.number(self.option(&arguments.named, "max_tokens")),
            model: self.text_setting(self.option(&arguments.named, "model")),
        })
    }
}

fn puts_out_no_tokens(model: &Setting<String>, starts: &str) -> bool {
    let any = |text: &str| OTHER_MODELS.iter().any(|part| text.contains(part));
    match &model.state {
        State::Known(id) => any(&id.value.to_ascii_lowercase()),
        State::Unset => false,
        State::Unresolved(unresolved) => {
            let why = unresolved.why.to_ascii_lowercase();
            any(starts) || why.contains("embed") || why.contains("rerank")
        }
    }
}

/// The method of a client that a value is; `named` is what the source calls it.
fn method_in(value: &Value<'_>, named: Option<&'static str>) -> (Sure, &'static str) {
    match value {
        Value::Library(path) => {
            let method = path.strip_prefix(super::CLIENT).and_then(|rest| rest.strip_prefix("()."));
            match (METHODS.iter().find(|known| Some(**known) == method), named) {
                (Some(method), _) => (Sure::Yes, method),
                // A client of a service that is not known.
                (None, Some(named)) if path.contains("client().") => (Sure::Maybe, named),
                _ => (Sure::No, ""),
            }
        }
        Value::Any(members) => {
            let found: Vec<_> = members.iter().map(|member| method_in(&member.value, named)).collect();
            let of = |sure| found.iter().find(|(found, _)| *found == sure).copied();
            of(Sure::Yes).or_else(|| of(Sure::Maybe)).unwrap_or((Sure::No, ""))
        }
        Value::Unknown(_) => named.map_or((Sure::No, ""), |named| (Sure::Maybe, named)),
        _ => (Sure::No, ""),
    }
}
