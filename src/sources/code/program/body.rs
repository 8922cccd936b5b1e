//! The output limit in a request's body: JSON as a text, a map, or an object that becomes JSON.

use super::values::Literal;
use super::{Id, Kind, Program};
use crate::engine::deployment::{Setting, Unresolved};

/// Nested values that are looked into.
const DEPTH: usize = 12;

/// The names that models have for the output limit, in small letters and without underscores.
const LIMITS: &[&str] =
    &["maxtokens", "maxnewtokens", "maxtokenstosample", "maxtokencount", "maxgenlen", "maxcompletiontokens", "maxoutputtokens"];

/// Types that begin empty, and are filled by calls.
const COLLECTIONS: &[&str] = &[
    "HashMap",
    "LinkedHashMap",
    "TreeMap",
    "JSONObject",
    "JsonObject",
    "ObjectNode",
    "ObjectMapper",
    "Dictionary",
    "Gson",
    "ArrayList",
    "List",
    "JSONArray",
    "JsonArray",
];

/// Functions that fill a text's gaps.
const FORMATS: &[&str] = &["format", "formatted", "Format", "Sprintf"];

/// Functions that take entries of a map or a list.
const ENTRIES: &[&str] = &["put", "set", "add", "Add", "of", "entry", "ofEntries", "putArray", "putObject", "asList"];

pub(crate) fn is_limit(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| *c != '_').collect::<String>().to_ascii_lowercase();
    LIMITS.contains(&plain.as_str())
}

/// What a body shows.
enum Shown {
    Limit(Setting<f64>),
    /// All of it is there, and no limit is.
    Nothing,
    /// A part is not there.
    Hidden(Unresolved),
}

impl Program {
    /// The output limit in a body, where `setting` is what holds the body.
    pub(crate) fn body_limit(&self, body: Id) -> Setting<f64> {
        match self.shown(body, 0) {
            Shown::Limit(setting) => setting,
            Shown::Nothing => Setting::default(),
            Shown::Hidden(unresolved) => Setting::unresolved(unresolved, Some(self.place(body))),
        }
    }

    fn shown(&self, id: Id, depth: usize) -> Shown {
        let target = match self.follow(id) {
            Ok(target) if depth < DEPTH => target,
            Ok(target) => return Shown::Hidden(self.unfollowed(target)),
            Err(why) => return Shown::Hidden(self.unresolved(id, why)),
        };
        let here = match self.kind(target) {
            Kind::Text(text) | Kind::Template(text) => self.json(target, text),
            Kind::Binary { .. } => match self.text(target) {
                Ok(Literal { value, .. }) => self.json(target, &value),
                Err(unresolved) => Shown::Hidden(unresolved),
            },
            Kind::Null => Shown::Nothing,
            Kind::New { of, arguments, entries } => self.object(target, of, arguments, entries, depth),
            Kind::Call { object, name, arguments } => self.call(target, *object, &name.text, arguments, depth),
            // A type's or a library's name, as in `SdkBytes.fromUtf8String`.
            Kind::Name(name) if name.starts_with(char::is_uppercase) => Shown::Nothing,
            _ => Shown::Hidden(self.unfollowed(target)),
        };
        // What is put in by statements: `body.put("max_tokens", 900);`.
        let filled = self.chain(id).steps.into_iter().rev().find_map(|step| match step.arguments.as_slice() {
            [value] if is_limit(&step.name.text) && step.at != target => Some(self.limit(*value, self.step_place(&step))),
            arguments => self.pairs(arguments),
        });
        filled.map_or(here, Shown::Limit)
    }

    fn limit(&self, value: Id, place: crate::engine::fact::Place) -> Setting<f64> {
        match self.number(value) {
            Ok(literal) => literal.setting(place),
            Err(unresolved) => Setting::unresolved(unresolved, Some(place)),
        }
    }

    /// `"max_tokens", 900` among arguments.
    fn pairs(&self, arguments: &[Id]) -> Option<Setting<f64>> {
        arguments.windows(2).find_map(|pair| match self.kind(pair[0]) {
            Kind::Text(key) if is_limit(key) => Some(self.limit(pair[1], self.place(pair[0]))),
            _ => None,
        })
    }

    fn object(&self, at: Id, of: &str, arguments: &[Id], entries: &[Id], depth: usize) -> Shown {
        for &entry in entries {
            let Kind::Entry { name, value } = self.kind(entry) else { continue };
            if is_limit(&name.text) {
                return Shown::Limit(self.limit(*value, self.place_of(entry, &name.span)));
            }
        }
        for &entry in entries {
            let value = match self.kind(entry) {
                Kind::Entry { value, .. } => *value,
                _ => entry,
            };
            // A value may be anything; only what is written as an object can hold the limit.
            if let Ok(target) = self.follow(value)
                && matches!(self.kind(target), Kind::New { .. })
                && let Shown::Limit(setting) = self.shown(target, depth + 1)
            {
                return Shown::Limit(setting);
            }
        }
        if !entries.is_empty() {
            return Shown::Nothing;
        }
        let bare = super::names::bare(of);
        if let Some(class) = self.class(bare) {
            return match self.constructed(class, arguments) {
                Some(setting) => Shown::Limit(setting),
                None => Shown::Hidden(self.unfollowed(at)),
            };
        }
        if arguments.is_empty() {
            let known = bare.is_empty() || COLLECTIONS.contains(&bare);
            return if known { Shown::Nothing } else { Shown::Hidden(self.unfollowed(at)) };
        }
        self.any(arguments, depth)
    }

    /// The argument of a constructor whose parameter is named as the limit.
    fn constructed(&self, class: Id, arguments: &[Id]) -> Option<Setting<f64>> {
        self.within(class).into_iter().find_map(|id| {
            let Kind::Parameter { name, .. } = self.kind(id) else { return None };
            if !is_limit(name) {
                return None;
            }
            let siblings = self.kind(self.node(id).parent).children();
            let index =
                siblings.iter().filter(|&&one| matches!(self.kind(one), Kind::Parameter { .. })).position(|&one| one == id)?;
            let argument = *arguments.get(index)?;
            Some(self.limit(argument, self.place(argument)))
        })
    }

    fn call(&self, at: Id, object: Option<Id>, name: &str, arguments: &[Id], depth: usize) -> Shown {
        if let Some(setting) = self.pairs(arguments) {
            return Shown::Limit(setting);
        }
        if is_limit(name)
            && let [value] = arguments
        {
            return Shown::Limit(self.limit(*value, self.place(at)));
        }
        if FORMATS.contains(&name) {
            let text =
                object.filter(|&object| matches!(self.kind(object), Kind::Text(_) | Kind::Name(_)) && !self.is_library(object));
            return match text.or(arguments.first().copied()) {
                Some(text) => self.shown(text, depth + 1),
                None => Shown::Hidden(self.unfollowed(at)),
            };
        }
        let inner = match self.any(arguments, depth) {
            // Entries are values, not bodies: only objects in them count.
            Shown::Hidden(_) if ENTRIES.contains(&name) => Shown::Nothing,
            inner => inner,
        };
        match (inner, object) {
            (Shown::Limit(setting), _) => Shown::Limit(setting),
            (inner, Some(object)) if !self.is_library(object) => match (self.shown(object, depth + 1), arguments) {
                (Shown::Hidden(_), [_]) => inner,
                (shown, _) => shown,
            },
            (inner, Some(_)) => inner,
            // A function that is not in the program: what it gives cannot be seen.
            (_, None) if arguments.is_empty() => Shown::Hidden(self.unfollowed(at)),
            (inner, None) => inner,
        }
    }

    /// A package, a type, or a mapper made of one: `json.Marshal`, `Encoding.UTF8.GetBytes`, `MAPPER.writeValueAsString`.
    fn is_library(&self, object: Id) -> bool {
        let inner = self.innermost(object);
        match self.kind(inner) {
            Kind::Name(name) => match self.declaration(name, inner) {
                None => true,
                Some(_) => self.type_of(inner, 0).is_some_and(|of| {
                    of.contains("Mapper") || of.contains("Gson") || of.contains("Json") && of.contains("Serializer")
                }),
            },
            _ => false,
        }
    }

    fn any(&self, arguments: &[Id], depth: usize) -> Shown {
        let mut result = Shown::Nothing;
        for &argument in arguments {
            match self.shown(argument, depth + 1) {
                Shown::Limit(setting) => return Shown::Limit(setting),
                Shown::Hidden(unresolved) => result = Shown::Hidden(unresolved),
                Shown::Nothing => {}
            }
        }
        result
    }

    /// A limit in a text of JSON; a text that is not whole may hold one.
    fn json(&self, at: Id, text: &str) -> Shown {
        let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else {
            return Shown::Hidden(self.unresolved(at, "the body is no whole JSON in the source".to_owned()));
        };
        let Some((key, number)) = find(&value, 0) else { return Shown::Nothing };
        let span = self.node(at).span.clone();
        let source = self.source(at);
        let key_at = source.find(&key).unwrap_or(0);
        let after = key_at + key.len();
        let begin =
            source.get(after..).and_then(|rest| rest.find(|c: char| c.is_ascii_digit())).map_or(key_at, |found| after + found);
        let tail = source.get(begin..).unwrap_or("");
        let length = tail.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(tail.len());
        let literal = self.place_of(at, &(span.start + begin..span.start + begin + length));
        let place = self.place_of(at, &(span.start + key_at..span.start + after));
        Shown::Limit(Setting::written(number, literal, place))
    }
}

/// The limit's name and number in JSON.
fn find(value: &serde_json::Value, depth: usize) -> Option<(String, f64)> {
    let map = value.as_object().filter(|_| depth < 4)?;
    map.iter()
        .find_map(|(key, value)| Some((key.clone(), value.as_f64()?)).filter(|_| is_limit(key)))
        .or_else(|| map.values().find_map(|value| find(value, depth + 1)))
}

/// Whether a model answers in text: embeddings, ranks and pictures have no output limit to set.
pub(crate) fn calls_text_model(model: &Setting<String>) -> bool {
    let Some(fact) = model.fact() else { return true };
    let id = fact.value.to_ascii_lowercase();
    !["embed", "rerank", "image", "stability.", "canvas", "reel", "marengo"].iter().any(|part| id.contains(part))
}
