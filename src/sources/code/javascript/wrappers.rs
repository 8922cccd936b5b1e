//! Clients of other packages: the Anthropic SDK, `LangChain`, Strands Agents, the AI SDK.

use super::clients::{Reader, whole};
use super::handlers::{Defaults, PLAIN, ignore, limit_of_ms};
use super::lookup::Lookup;
use super::program::Spot;
use super::settings::{given, map};
use super::syntax::{argument, field};
use super::value::{Found, Symbol, Value};
use crate::engine::deployment::{Client, Setting, SourceFacts};

const ANTHROPIC: &str = "default of the Anthropic SDK";
const AI: &str = "default of the AI SDK";

impl<'t> Reader<'_, 't> {
    /// Adds clients and calls through other packages.
    pub(super) fn wrappers(&self, facts: &mut SourceFacts) {
        let mut anthropic: Vec<(Spot<'t>, Vec<Spot<'t>>)> = Vec::new();
        for spot in self.nodes.iter().copied().filter(|spot| spot.node.kind() == "new_expression") {
            let Some(symbol) = self.symbol(spot) else { continue };
            if is_anthropic(&symbol) {
                anthropic.push((spot, Vec::new()));
            } else if symbol.is("@langchain/aws", &["ChatBedrockConverse"]) {
                for spot in self.variants(spot) {
                    self.langchain(spot, facts);
                }
            } else if symbol.package.starts_with("@strands-agents/sdk") && symbol.last() == "BedrockModel" {
                for spot in self.variants(spot) {
                    self.strands(spot, facts);
                }
            }
        }
        for spot in self.nodes.iter().copied().filter(|spot| spot.node.kind() == "call_expression") {
            if let Some(client) = self.messages(spot) {
                for spot in self.variants(spot) {
                    let input = |name: &str| self.program.option(spot, 0, name);
                    self.add(&mut facts.calls, spot, self.program.number(&input("max_tokens")), &input("model"));
                }
                let one = anthropic.len() == 1;
                for (new, calls) in &mut anthropic {
                    if client.map_or(one, |client| client == new.id()) {
                        calls.push(spot);
                    }
                }
            } else if self.generates(spot).is_some() {
                for spot in self.variants(spot) {
                    self.ai(spot, facts);
                }
            }
        }
        for (new, calls) in anthropic {
            for spot in self.variants(new) {
                push(&mut facts.clients, self.anthropic(spot, &calls));
            }
        }
    }

    fn anthropic(&self, spot: Spot<'t>, calls: &[Spot<'t>]) -> Client {
        let program = self.program;
        let option = |name: &str| {
            // What every call passes beside its input stands over the client's own.
            let mut of_calls = calls.iter().map(|call| program.option(*call, 1, name));
            let first = of_calls.next().filter(|first| program.number(first).value().is_some());
            match first {
                Some(first) if of_calls.all(|other| program.number(&other).value() == program.number(&first).value()) => first,
                _ => program.option(spot, 0, name),
            }
        };
        let timeout = map(program.number(&option("timeout")), limit_of_ms);
        let retries = program.number(&option("maxRetries"));
        Client {
            place: self.place(spot),
            sdk: "anthropic",
            read_timeout_s: timeout.or_default(Some(600.0), ANTHROPIC),
            attempts: map(retries, |retries| vec![whole(retries + 1.0)]).or_default(vec![3], ANTHROPIC),
            attempts_from_environment: false,
            whole_call_s: None,
            ignored: Vec::new(),
            pool: Setting::default(),
            tcp_keepalive: false,
        }
    }

    /// Whether a call is `client.messages.create(...)` or `.stream(...)` of an Anthropic client, and of which.
    pub(super) fn messages(&self, call: Spot<'t>) -> Option<Option<(usize, usize)>> {
        let program = self.program;
        let callee = field(call.node, "function").filter(|callee| callee.kind() == "member_expression")?;
        let name = field(callee, "property").map(|property| program.text(call.at(property)))?;
        if !matches!(name, "create" | "stream" | "parse") {
            return None;
        }
        let messages = field(callee, "object").filter(|object| object.kind() == "member_expression")?;
        if field(messages, "property").is_none_or(|property| program.text(call.at(property)) != "messages") {
            return None;
        }
        let mut root = field(messages, "object")?;
        if root.kind() == "member_expression"
            && field(root, "property").is_some_and(|property| program.text(call.at(property)) == "beta")
        {
            root = field(root, "object")?;
        }
        match program.evaluate(call.at(root)) {
            Found { value: Value::Made(symbol), spot } if is_anthropic(&symbol) => Some(Some(spot.id())),
            _ => None,
        }
    }

    fn langchain(&self, spot: Spot<'t>, facts: &mut SourceFacts) {
        let program = self.program;
        let index = match argument(spot.node, 0).map(|node| program.evaluate(spot.at(node)).value) {
            // The model's id may stand before the options.
            Some(Value::Text(_)) => 1,
            _ => 0,
        };
        let option = |name: &str| program.option(spot, index, name);
        let model = if index == 1 { given(spot, 0) } else { option("model") };
        self.add(&mut facts.calls, spot, program.number(&option("maxTokens")), &model);
        if self.is_own_client(&option("client")) {
            return;
        }
        let inner = options(&option("clientOptions"));
        let mut client = self.version_3(spot, inner, &[], PLAIN);
        if client.read_timeout_s.literal().is_none() {
            let why = "`ChatBedrockConverse` has no option `timeout`: set `clientOptions: { requestHandler: { requestTimeout: ... } }`";
            ignore(program, &mut client.ignored, &option("timeout"), why);
        }
        push(&mut facts.clients, client);
    }

    fn strands(&self, spot: Spot<'t>, facts: &mut SourceFacts) {
        let program = self.program;
        let option = |name: &str| program.option(spot, 0, name);
        self.add(&mut facts.calls, spot, program.number(&option("maxTokens")), &option("modelId"));
        let stands_in = self.versions.at_least("@strands-agents/sdk", [1, 1, 0]);
        let defaults =
            if stands_in { Defaults { request_timeout_s: Some(120.0), whose: "default of Strands Agents" } } else { PLAIN };
        push(&mut facts.clients, self.version_3(spot, options(&option("clientConfig")), &[], defaults));
    }

    /// A client that is made elsewhere, and read there.
    fn is_own_client(&self, client: &Lookup<'t>) -> bool {
        match client {
            Lookup::Entry { value, .. } => {
                matches!(self.program.evaluate(*value).value, Value::Made(symbol) if super::clients::is_client(&symbol))
            }
            _ => false,
        }
    }

    /// The Bedrock model that a call of the AI SDK uses.
    pub(super) fn generates(&self, call: Spot<'t>) -> Option<Found<'t>> {
        let symbol = self.symbol(call).filter(|symbol| symbol.package == "ai")?;
        if !matches!(symbol.last(), "generateText" | "streamText" | "generateObject" | "streamObject") {
            return None;
        }
        let mut model = self.program.got(self.program.option(call, 0, "model"), call);
        for _ in 0..4 {
            match &model.value {
                Value::Made(symbol) if symbol.package.starts_with("@ai-sdk/amazon-bedrock") => return Some(model),
                Value::Made(symbol) if symbol.is("ai", &["wrapLanguageModel"]) => {
                    model = self.program.got(self.program.option(model.spot, 0, "model"), model.spot);
                }
                _ => return None,
            }
        }
        None
    }

    fn ai(&self, call: Spot<'t>, facts: &mut SourceFacts) {
        let program = self.program;
        let Some(model) = self.generates(call) else { return };
        let option = |name: &str| program.option(call, 0, name);
        let limit = match option("maxOutputTokens") {
            Lookup::Absent => option("maxTokens"),
            found => found,
        };
        self.add(&mut facts.calls, call, program.number(&limit), &given(model.spot, 0));
        let retries = program.number(&option("maxRetries"));
        let attempts = map(retries, |retries| vec![whole(retries + 1.0)]).or_default(vec![3], AI);
        let total = match option("timeout") {
            Lookup::Entry { key, value } => {
                let total = program.lookup(value, "totalMs");
                let plain = matches!(program.evaluate(value).value, Value::Number(_));
                map(program.number(&if plain { Lookup::Entry { key, value } } else { total }), |ms| ms / 1000.0)
            }
            _ => Setting::default(),
        };
        let signal = self.signal(&option("abortSignal"));
        let bound = [signal, total].into_iter().filter(|setting| setting.value().is_some());
        let bound = bound.reduce(|a, b| if b.value() < a.value() { b } else { a });
        let (read_timeout_s, whole_call_s) = match bound {
            Some(bound) => {
                let whole = bound.value();
                (map(bound, Some), whole)
            }
            None => (Setting::default_of(None, AI), None),
        };
        let client = Client {
            place: self.place(call),
            sdk: "the AI SDK",
            read_timeout_s,
            attempts,
            attempts_from_environment: false,
            whole_call_s,
            ignored: Vec::new(),
            pool: Setting::default(),
            tcp_keepalive: false,
        };
        push(&mut facts.clients, client);
    }
}

fn is_anthropic(symbol: &Symbol) -> bool {
    symbol.package == "@anthropic-ai/bedrock-sdk" && matches!(symbol.last(), "" | "AnthropicBedrock" | "AnthropicBedrockMantle")
}

fn push(clients: &mut Vec<Client>, client: Client) {
    if !clients.contains(&client) {
        clients.push(client);
    }
}

fn options<'t>(lookup: &Lookup<'t>) -> Option<Spot<'t>> {
    match lookup {
        Lookup::Entry { value, .. } => Some(*value),
        Lookup::Value(found) | Lookup::Unknown(found) => Some(found.spot),
        Lookup::Absent => None,
    }
}
