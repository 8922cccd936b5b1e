//! The test vectors of the concurrency plan, through the program.

use serde_json::Value;

use crate::program::Program;

const VECTORS: &str = include_str!("../data/concurrency.yaml");

/// A vector as a workload file: `quotas`, `call`, `worker` and `policy` have its shape already.
fn workload(vector: &Value) -> String {
    let mut file = vector.clone();
    let fields = file.as_object_mut().unwrap();
    fields.remove("expect");
    fields.insert("schema".into(), 1.into());
    fields.entry("model").or_insert("us.example.model-1".into());
    // JSON is YAML.
    serde_json::to_string_pretty(&file).unwrap()
}

fn compare(path: &str, expected: &Value, found: &Value, wrong: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(expected), _) => {
            for (key, value) in expected {
                compare(&format!("{path}.{key}"), value, &found[key], wrong);
            }
            // A limit that is not expected is as wrong as one that is missing.
            if path.ends_with(".at_full_quota") || path.ends_with(".after_headroom") {
                let keys =
                    |value: &serde_json::Map<String, Value>| value.keys().cloned().collect::<std::collections::BTreeSet<_>>();
                if found.as_object().map(keys) != Some(keys(expected)) {
                    wrong.push(format!("{path}: {found} has other limits"));
                }
            }
        }
        (Value::Number(expected), Value::Number(found)) => {
            let (expected, found) = (expected.as_f64().unwrap(), found.as_f64().unwrap());
            if (expected - found).abs() > 1e-6 * expected.abs().max(1.0) {
                wrong.push(format!("{path}: {found} instead of {expected}"));
            }
        }
        _ if expected == found => {}
        _ => wrong.push(format!("{path}: {found} instead of {expected}")),
    }
}

#[test]
fn every_vector_comes_out_to_six_digits() {
    let vectors: Vec<Value> = serde_yaml::from_str(VECTORS).unwrap();
    assert_eq!(vectors.len(), 14);
    let mut wrong = Vec::new();
    for vector in &vectors {
        let name = vector["name"].as_str().unwrap();
        let run = Program::new(&["plan", "concurrency", "w.yaml", "--offline", "--format", "json"])
            .file("w.yaml", &workload(vector))
            .run();
        let misses = vector["expect"]["recommended"].is_null();
        let json = run.json(i32::from(misses));
        compare(name, &vector["expect"], &json["plan"], &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
