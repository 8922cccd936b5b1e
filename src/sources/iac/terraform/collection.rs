//! Functions of lists and maps. Members keep their sources.

use std::rc::Rc;

use super::evaluate::{Evaluator, Outcome, mistake, unknown_of, why_unknown};
use super::operator::computed;
use super::value::{Entry, Traced, Value};
use crate::engine::deployment::Unresolved;
use crate::engine::fact::{Fact, Place, Source};

type Items = Result<Vec<Traced>, Rc<Unresolved>>;

impl Evaluator<'_> {
    /// `None` where it is no function of lists and maps.
    pub(super) fn collection_function(&self, name: &str, arguments: &[Traced], place: &Place) -> Option<Outcome> {
        let list = |items: Items| items.map(|items| Fact::new(Value::list(items), Source::Written(place.clone())));
        let first = arguments.first()?;
        let is_unknown = |argument: &&Traced| matches!(argument.value, Value::Unknown(_));
        if is_unknown(&first) {
            return Some(Ok(first.clone()));
        }
        let items = || items_of(first, place);
        let outcome = match name {
            "tolist" => match first.value {
                Value::Null => Ok(first.clone()),
                _ => list(items()),
            },
            "toset" | "distinct" => list(items().and_then(|items| self.distinct(items, place))),
            "concat" => list(self.concat(arguments, place)),
            "setunion" => list(self.concat(arguments, place).and_then(|items| self.distinct(items, place))),
            "flatten" => list(self.flatten(first, 0, place)),
            "compact" => list(items().map(|items| {
                let empty = |item: &Traced| item.value == Value::Null || item.value == Value::text_from("");
                items.into_iter().filter(|item| !empty(item)).collect()
            })),
            "reverse" => list(items().map(|items| items.into_iter().rev().collect())),
            "sort" => list(items().map(|mut items| {
                items.sort_by_key(|item| self.text(item));
                items
            })),
            "slice" => list(slice(arguments, place)),
            "range" => list(range(arguments, place)),
            "coalescelist" => arguments
                .iter()
                .find(|argument| !matches!(&argument.value, Value::List(items) if items.is_empty()))
                .cloned()
                .ok_or_else(|| mistake("nothing of this is set", place.clone())),
            "one" => items().and_then(|items| match items.as_slice() {
                [] => Ok(Fact::new(Value::Null, Source::Written(place.clone()))),
                [only] => Ok(only.clone()),
                _ => Err(mistake("there is more than one", place.clone())),
            }),
            "element" => element(arguments, place),
            "index" => Err(mistake("`index` is not evaluated here", place.clone())),
            "contains" => self.contains(arguments, place),
            "alltrue" | "anytrue" => items().and_then(|items| every(name == "alltrue", &items, place)),
            "keys" | "values" => members(first, name == "keys", place),
            "lookup" => self.lookup(arguments, place),
            "merge" => self.merge(arguments, place),
            "zipmap" => self.zipmap(arguments, place),
            _ => return None,
        };
        // A mistake only where all is known.
        Some(outcome.or_else(|mistake| arguments.iter().find(is_unknown).cloned().ok_or(mistake)))
    }

    fn distinct(&self, items: Vec<Traced>, place: &Place) -> Items {
        let mut kept: Vec<Traced> = Vec::new();
        for item in items {
            self.spend(1 + kept.len() / 16, place)?;
            if !kept.iter().any(|other| self.equal(other, &item) == Some(true)) {
                kept.push(item);
            }
        }
        Ok(kept)
    }

    fn concat(&self, arguments: &[Traced], place: &Place) -> Items {
        let mut all = Vec::new();
        for argument in arguments {
            let items = items_of(argument, place)?;
            self.spend(items.len(), place)?;
            all.extend(items);
        }
        Ok(all)
    }

    fn flatten(&self, list: &Traced, depth: usize, place: &Place) -> Items {
        let mut all = Vec::new();
        for item in items_of(list, place)? {
            self.spend(1, place)?;
            match item.value {
                Value::List(_) if depth < 50 => all.extend(self.flatten(&item, depth + 1, place)?),
                Value::Unknown(unresolved) => return Err(unresolved),
                _ => all.push(item),
            }
        }
        Ok(all)
    }

    fn contains(&self, arguments: &[Traced], place: &Place) -> Outcome {
        let [list, wanted, ..] = arguments else { return Err(mistake("`contains` needs a value", place.clone())) };
        let found: Vec<Option<bool>> = items_of(list, place)?.iter().map(|item| self.equal(item, wanted)).collect();
        let value = if found.contains(&Some(true)) {
            Some(true)
        } else if found.contains(&None) {
            return Ok(unknown_of(wanted, "a member is not known", place));
        } else {
            Some(false)
        };
        computed(value.map(Value::Bool), &[], place)
    }

    fn lookup(&self, arguments: &[Traced], place: &Place) -> Outcome {
        let [map, key, default @ ..] = arguments else { return Err(mistake("`lookup` needs a key", place.clone())) };
        match self.indexed(map.clone(), key, place) {
            Err(mistake) => default.first().cloned().ok_or(mistake),
            found => found,
        }
    }

    fn merge(&self, arguments: &[Traced], place: &Place) -> Outcome {
        let mut merged: Vec<Entry> = Vec::new();
        for argument in arguments {
            let entries = match &argument.value {
                Value::Map(entries) => entries,
                Value::Null => continue,
                _ => return computed(None, &[argument], place),
            };
            for entry in entries.iter() {
                self.spend(1 + merged.len() / 16, place)?;
                match merged.iter_mut().find(|other| other.key == entry.key) {
                    Some(other) => *other = entry.clone(),
                    None => merged.push(entry.clone()),
                }
            }
        }
        Ok(Fact::new(Value::map(merged), Source::Written(place.clone())))
    }

    fn zipmap(&self, arguments: &[Traced], place: &Place) -> Outcome {
        let [keys, values, ..] = arguments else { return Err(mistake("`zipmap` needs two lists", place.clone())) };
        let mut entries = Vec::new();
        for (key, value) in items_of(keys, place)?.iter().zip(items_of(values, place)?) {
            let Some(text) = self.text(key) else { return Ok(unknown_of(key, "a key is not known", place)) };
            entries.push(Entry { key: text, place: None, value });
        }
        Ok(Fact::new(Value::map(entries), Source::Written(place.clone())))
    }
}

fn items_of(value: &Traced, place: &Place) -> Items {
    match &value.value {
        Value::List(items) => Ok(items.to_vec()),
        _ => Err(why_unknown(value, "this is no list", place)),
    }
}

fn range(arguments: &[Traced], place: &Place) -> Items {
    let numbers: Option<Vec<f64>> = arguments.iter().map(|argument| argument.value.number()).collect();
    let (start, end, step) = match numbers.as_deref() {
        Some([end]) => (0.0, *end, 1.0),
        Some([start, end]) => (*start, *end, 1.0),
        Some([start, end, step]) if *step > 0.0 => (*start, *end, *step),
        _ => return Err(mistake("this cannot be worked out", place.clone())),
    };
    let mut items = Vec::new();
    let mut next = start;
    while next < end {
        // Terraform allows 1024.
        if items.len() > 1024 {
            return Err(mistake("`range` is too long", place.clone()));
        }
        items.push(Fact::new(Value::Number(next), Source::Written(place.clone())));
        next += step;
    }
    Ok(items)
}

fn slice(arguments: &[Traced], place: &Place) -> Items {
    let list = arguments.first().map_or_else(|| Ok(Vec::new()), |list| items_of(list, place))?;
    let bound = |at: usize| arguments.get(at).and_then(|argument| argument.value.number());
    let (Some(start), Some(end)) = (bound(1), bound(2)) else { return Err(mistake("the bounds are not known", place.clone())) };
    let inside = |at: usize| (start..end).contains(&super::instance::Key::number(at));
    Ok(list.into_iter().enumerate().filter(|(at, _)| inside(*at)).map(|(_, item)| item).collect())
}

/// Counted around, as Terraform does.
fn element(arguments: &[Traced], place: &Place) -> Outcome {
    let [list, index, ..] = arguments else { return Err(mistake("`element` needs an index", place.clone())) };
    let items = items_of(list, place)?;
    let Some(index) = index.value.number() else { return computed(None, &[index], place) };
    let wanted = index.rem_euclid(super::instance::Key::number(items.len().max(1)));
    let found = items.iter().enumerate().find(|(at, _)| super::instance::Key::number(*at) >= wanted);
    found.map(|(_, item)| item.clone()).ok_or_else(|| mistake("the list is empty", place.clone()))
}

fn every(all: bool, items: &[Traced], place: &Place) -> Outcome {
    let known: Option<Vec<bool>> = items.iter().map(|item| item.value.boolean()).collect();
    let value = known.map(|known| if all { known.iter().all(|value| *value) } else { known.contains(&true) });
    computed(value.map(Value::Bool), &items.iter().collect::<Vec<_>>(), place)
}

/// Keys or values, in the order of the keys.
fn members(map: &Traced, keys: bool, place: &Place) -> Outcome {
    let Value::Map(entries) = &map.value else { return computed(None, &[map], place) };
    let mut entries = entries.to_vec();
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    let member = |entry: Entry| {
        let source = entry.place.clone().map_or_else(|| entry.value.source.clone(), Source::Written);
        if keys { Fact::new(Value::Text(entry.key), source) } else { entry.value }
    };
    Ok(Fact::new(Value::list(entries.into_iter().map(member).collect()), Source::Written(place.clone())))
}
