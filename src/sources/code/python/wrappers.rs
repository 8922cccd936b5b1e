//! Clients of libraries that bring their own defaults: anthropic, langchain-aws, strands, litellm.

use super::clients::Options;
use super::program::Program;
use super::scope::Call;
use super::setting::{Found, not_nothing};
use super::value::{At, Dict, Value};
use crate::engine::deployment::{Client, ModelCall, Setting};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrapper {
    Anthropic,
    Langchain,
    Strands,
    StrandsAgent,
    Litellm,
}

/// The wrapper that a library's function or class is.
pub(super) fn wrapper(path: &str) -> Option<Wrapper> {
    let (package, last) = (path.split('.').next()?, path.rsplit('.').next()?);
    if path.contains("()") {
        return None;
    }
    match (package, last) {
        ("anthropic", "AnthropicBedrock" | "AsyncAnthropicBedrock") => Some(Wrapper::Anthropic),
        (
            "langchain_aws" | "langchain" | "langchain_community",
            "ChatBedrockConverse" | "ChatBedrock" | "BedrockLLM" | "BedrockChat" | "Bedrock",
        ) => Some(Wrapper::Langchain),
        ("strands", "BedrockModel") => Some(Wrapper::Strands),
        ("strands", "Agent") => Some(Wrapper::StrandsAgent),
        ("litellm", "completion" | "acompletion") => Some(Wrapper::Litellm),
        _ => None,
    }
}

impl<'t> Program<'t> {
    pub(super) fn wrapper_client(&self, wrapper: Wrapper, call: &Call<'t>) -> Option<Client> {
        let arguments = self.arguments(call.node, call.scope, &None);
        let named = &arguments.named;
        let place = self.statement(call);
        let retries = |key: &str| self.count(self.option(named, key), 1);
        match wrapper {
            Wrapper::Anthropic => {
                const WHOSE: &str = "default of anthropic";
                let own = |key: &str| self.option(named, key).or_else(|| self.request_option(key));
                let options = Options {
                    read_timeout_s: self.httpx_seconds(own("timeout")).or_default(Some(600.0), WHOSE),
                    attempts: self.count(own("max_retries"), 1).or_default(vec![3], WHOSE),
                    attempts_from_environment: false,
                    pool: Setting::default_of(1000.0, WHOSE),
                    tcp_keepalive: true,
                };
                Some(options.client(place, "anthropic"))
            }
            Wrapper::Langchain => {
                // A client that is handed in is one of its own.
                if not_nothing(self.option(named, "client")).is_some_and(|(client, _)| !is_unknown(&client.value)) {
                    return None;
                }
                let mut options = self.options(self.option(named, "config"));
                let timeout = self.seconds(not_nothing(self.option(named, "timeout")));
                if !timeout.is_unset() {
                    options.read_timeout_s = timeout;
                }
                let attempts = retries("max_retries");
                if !attempts.is_unset() {
                    options.attempts = attempts;
                    options.attempts_from_environment = false;
                }
                Some(options.client(place, "langchain-aws"))
            }
            Wrapper::Strands => {
                let config = not_nothing(self.option(named, "boto_client_config"));
                let own = config.is_none();
                let mut options = self.options(config);
                if own {
                    options.read_timeout_s = Setting::default_of(Some(120.0), "default of strands");
                }
                Some(options.client(place, "strands"))
            }
            Wrapper::StrandsAgent => {
                // Without a model, or with the name of one, the agent makes its own client.
                match not_nothing(self.option(named, "model")).map(|(model, _)| model.value) {
                    None if arguments.positional.is_empty() => {}
                    Some(Value::Text(_)) => {}
                    _ => return None,
                }
                let mut options = self.options(None);
                options.read_timeout_s = Setting::default_of(Some(120.0), "default of strands");
                Some(options.client(place, "strands"))
            }
            Wrapper::Litellm => {
                const WHOSE: &str = "default of litellm";
                self.litellm_model(call)?;
                let timeout = ["timeout", "request_timeout"].iter().find_map(|key| {
                    let timeout = self.httpx_seconds(not_nothing(self.option(named, key)));
                    (!timeout.is_unset()).then_some(timeout)
                });
                let general = || self.httpx_seconds(self.library_setting("litellm.request_timeout"));
                let attempts = retries("num_retries");
                let attempts = if attempts.is_unset() { retries("max_retries") } else { attempts };
                let general_attempts = || self.count(self.library_setting("litellm.num_retries"), 1);
                let attempts = if attempts.is_unset() { general_attempts() } else { attempts };
                let options = Options {
                    read_timeout_s: timeout.unwrap_or_else(general).or_default(Some(6000.0), WHOSE),
                    attempts: attempts.or_default(vec![1], WHOSE),
                    attempts_from_environment: false,
                    pool: Setting::default(),
                    tcp_keepalive: false,
                };
                let mut client = options.client(place, "litellm");
                client.pool = Setting::default();
                Some(client)
            }
        }
    }

    /// An option that a request of anthropic sets for itself: `messages.create(timeout=30)`, `with_options(max_retries=0)`.
    fn request_option(&self, key: &str) -> Found<'t> {
        self.all.calls.iter().find_map(|call| {
            let node = call.node.child_by_field_name("function").filter(|function| function.kind() == "attribute")?;
            let name = self.text(node.child_by_field_name("attribute")?, call.scope);
            if !matches!(name, "create" | "stream" | "parse" | "with_options" | "copy") {
                return None;
            }
            let callee = self.eval(&At { node, scope: call.scope, env: None }).value;
            let arguments = self.arguments(call.node, call.scope, &None);
            let given = wrapper_use(&callee) == Some(Wrapper::Anthropic) && arguments.named.get(key).is_some();
            given.then(|| self.option(&arguments.named, key)).flatten()
        })
    }

    /// The model of a call of litellm, where Bedrock has it.
    pub(super) fn litellm_model(&self, call: &Call<'t>) -> Option<Setting<String>> {
        let arguments = self.arguments(call.node, call.scope, &None);
        let model = match arguments.positional.first() {
            Some(model) => Some((self.eval(model), None)),
            None => self.option(&arguments.named, "model"),
        };
        let starts = match &model.as_ref()?.0.value {
            Value::Text(text) => text.clone(),
            Value::Unknown(unknown) => unknown.starts.clone()?,
            _ => return None,
        };
        starts.starts_with("bedrock/").then(|| self.text_setting(model))
    }

    /// What a file assigns to a name of a library.
    fn library_setting(&self, path: &str) -> Found<'t> {
        let (_, name) = path.rsplit_once('.')?;
        self.all.settings.iter().rev().find_map(|(target, value, scope)| {
            let at = |node| At { node, scope: *scope, env: None };
            if self.text(target.child_by_field_name("attribute")?, *scope) != name {
                return None;
            }
            match self.eval(&at(*target)).value {
                Value::Library(found) if &*found == path => Some((self.eval(&at(*value)), Some(self.span(*target, *scope)))),
                _ => None,
            }
        })
    }

    /// Seconds, or the read timeout of an `httpx.Timeout`.
    fn httpx_seconds(&self, found: Found<'t>) -> Setting<Option<f64>> {
        let Some((value, place)) = &found else { return Setting::default() };
        match &value.value {
            Value::Made(made) if made.path.ends_with(".Timeout") => {
                let call = &made.call;
                let arguments = self.arguments(call.node, call.scope, &call.env);
                let general = || {
                    let first = arguments.positional.first().map(|first| (self.eval(first), *place));
                    first.or_else(|| self.option(&arguments.named, "timeout"))
                };
                self.seconds(self.option(&arguments.named, "read").or_else(general))
            }
            _ => self.seconds(found),
        }
    }

    /// The call that a wrapper's class or function stands for, where it states an output limit.
    pub(super) fn wrapper_call(&self, wrapper: Wrapper, call: &Call<'t>) -> Option<ModelCall> {
        let arguments = self.arguments(call.node, call.scope, &None);
        let named = &arguments.named;
        let stated = |dict: &Dict<'t>, keys: &[&str]| {
            let found = keys.iter().find_map(|key| dict.get(key).and_then(|_| self.option(dict, key)));
            self.number(found)
        };
        let text = |keys: &[&str]| {
            let found = keys.iter().find_map(|key| named.get(key).and_then(|_| self.option(named, key)));
            self.text_setting(found)
        };
        let (max_tokens, model) = match wrapper {
            Wrapper::Anthropic | Wrapper::StrandsAgent => return None,
            Wrapper::Strands => (stated(named, &["max_tokens"]), text(&["model_id"])),
            Wrapper::Litellm => {
                let model = self.litellm_model(call)?;
                (stated(named, &["max_tokens", "max_completion_tokens"]), model)
            }
            Wrapper::Langchain => {
                let mut limit = stated(named, &["max_tokens", "max_tokens_to_sample"]);
                if let (true, Some((kwargs, _))) = (limit.is_unset(), self.option(named, "model_kwargs"))
                    && let Value::Dict(dict) = kwargs.value
                {
                    limit = stated(&dict, &["max_tokens", "max_tokens_to_sample", "max_gen_len", "maxTokenCount"]);
                }
                (limit, text(&["model", "model_id"]))
            }
        };
        (!max_tokens.is_unset()).then(|| ModelCall { place: self.call_place(call), max_tokens, model })
    }
}

/// Whether a call of something that a library gave asks a model: `llm.invoke(...)`, `agent(...)`.
pub(super) fn wrapper_use(callee: &Value<'_>) -> Option<Wrapper> {
    match callee {
        Value::Made(made) => wrapper(&made.path).filter(|wrapper| *wrapper == Wrapper::StrandsAgent),
        Value::Library(path) => match path.split_once("()") {
            Some((made, _)) => wrapper(made).filter(|wrapper| *wrapper != Wrapper::Litellm),
            None => wrapper(path).filter(|wrapper| *wrapper == Wrapper::Litellm),
        },
        Value::Any(members) => members.iter().find_map(|member| wrapper_use(&member.value)),
        _ => None,
    }
}

fn is_unknown(value: &Value<'_>) -> bool {
    matches!(value, Value::Unknown(_))
}
