//! The JSON Schema of workload files, made from the list of their fields.

use serde_json::{Map, Value, json};

use crate::engine::workload::fields::{Field, Kind, LARGEST, QUANTITY_PARTS, Range, of_section, sections};

/// `docs/schema/workload.json`: what editors complete and check against.
pub fn workload() -> Value {
    let mut properties = Map::new();
    for section in sections() {
        let fields: Map<String, Value> = of_section(section).map(|field| (field.name.to_owned(), of_field(field))).collect();
        if section.is_empty() {
            properties.extend(fields);
        } else {
            let object = json!({"type": ["object", "null"], "properties": fields, "additionalProperties": false});
            properties.insert(section.to_owned(), object);
        }
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "forebay workload file",
        "type": "object",
        "properties": properties,
        "required": ["schema", "model"],
        "additionalProperties": false,
    })
}

fn of_field(field: &Field) -> Value {
    let mut schema = match field.kind {
        Kind::Text => json!({"type": "string"}),
        Kind::Number(range) => number(range),
        Kind::NumberOrNull(range) => json!({"anyOf": [number(range), {"type": "null"}]}),
        Kind::Quantity(range) => {
            let parts: Map<String, Value> = QUANTITY_PARTS.iter().map(|part| ((*part).to_owned(), number(range))).collect();
            json!({"anyOf": [number(range), {"type": "object", "properties": parts, "additionalProperties": false}]})
        }
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Choice(words) => json!({"enum": words}),
        Kind::Duration => json!({"type": "string"}),
        Kind::Durations => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Words(words) => json!({"type": "array", "items": {"enum": words}}),
    };
    if let Some(object) = schema.as_object_mut() {
        object.insert("description".to_owned(), json!(field.help));
    }
    schema
}

fn number(range: Range) -> Value {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!(if range.whole { "integer" } else { "number" }));
    schema.insert(if range.above_low { "exclusiveMinimum" } else { "minimum" }.to_owned(), json!(range.low));
    if range.high < LARGEST {
        schema.insert(if range.below_high { "exclusiveMaximum" } else { "maximum" }.to_owned(), json!(range.high));
    }
    Value::Object(schema)
}
