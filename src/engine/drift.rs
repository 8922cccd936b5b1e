//! Live settings against templates: what was changed by hand, and what the next deployment would undo.

use super::chain::{Chain, End};
use super::deployment::{Deployment, Function, Mapping, Queue, Setting};
use super::finding::Finding;
use super::rules::live_drift;

/// Findings for every setting that differs, and the names of live chains that no template has.
pub fn drift(templates: &Deployment, live: &Deployment) -> (Vec<Finding>, Vec<String>) {
    let mut findings = Vec::new();
    let mut unknown = Vec::new();
    let deployed = live.chains();
    let written = templates.chains();
    for chain in &deployed {
        match counterpart(chain, &written, deployed.len()) {
            Some(template) => findings.extend(differences(template, chain)),
            None => unknown.push(format!("{} -> {}", chain.queue_name().unwrap_or("?"), chain.function_name().unwrap_or("?"))),
        }
    }
    (findings, unknown)
}

/// The chain of the templates that a live one is: by the function's logical id or name, then by the queue's.
fn counterpart<'c, 'd>(live: &Chain<'_>, written: &'c [Chain<'d>], deployed: usize) -> Option<&'c Chain<'d>> {
    let (function, queue) = (live.function.get()?, live.queue.get()?);
    let same_function: Vec<&Chain<'d>> =
        written.iter().filter(|chain| chain.function.get().is_some_and(|written| is_function(written, function))).collect();
    match same_function.as_slice() {
        [] if written.len() == 1 && deployed == 1 => written.first(),
        [] => None,
        [one] => Some(one),
        several => several.iter().copied().find(|chain| chain.queue.get().is_some_and(|written| is_queue(written, queue))),
    }
}

fn is_function(written: &Function, live: &Function) -> bool {
    written.name == live.name || (written.function_name.is_some() && written.function_name == live.function_name)
}

/// CloudFormation names a queue after its logical id: `stack-Jobs-1ABCDEF`.
fn is_queue(written: &Queue, live: &Queue) -> bool {
    written.queue_name.as_deref() == Some(live.name.as_str())
        || written.name == live.name
        || live.name.split('-').any(|part| part == written.name)
}

fn differences(template: &Chain<'_>, live: &Chain<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut compare = |what: &str, written: &Setting<f64>, owner, deployed: &Setting<f64>| {
        // What the template does not say is not compared, but what it leaves to a default is.
        let (from, to) = match (written.value(), deployed.value()) {
            (Some(a), Some(b)) if (a - b).abs() > 1e-9 => (a.to_string(), b.to_string()),
            (Some(a), None) if deployed.is_unset() => (a.to_string(), "not set".to_owned()),
            (None, Some(b)) if written.is_unset() => ("not set".to_owned(), b.to_string()),
            _ => return,
        };
        findings.push(live_drift(template, what, written, owner, &from, &to));
    };
    if let (Some(a), Some(b)) = (template.queue.get(), live.queue.get()) {
        compare("the visibility timeout", &a.visibility_s, a.place.as_ref(), &b.visibility_s);
        compare("the message retention", &a.retention_s, a.place.as_ref(), &b.retention_s);
        if let (Some(x), Some(y)) = (template.redrive(), live.redrive()) {
            compare("maxReceiveCount", &x.max_receive_count, a.place.as_ref(), &y.max_receive_count);
        }
    }
    if let (End::To(a), End::To(b)) = (&template.function, &live.function) {
        compare("the function timeout", &a.timeout_s, a.place.as_ref(), &b.timeout_s);
        compare("the reserved concurrency", &a.reserved_concurrency, a.place.as_ref(), &b.reserved_concurrency);
    }
    if let (Some(a), Some(b)) = (template.mapping, live.mapping) {
        let owner = |mapping: &Mapping| mapping.place.clone();
        let place = owner(a);
        compare("the batch size", &a.batch_size, place.as_ref(), &b.batch_size);
        compare("the batch window", &a.batch_window_s, place.as_ref(), &b.batch_window_s);
        compare("MaximumConcurrency", &a.maximum_concurrency, place.as_ref(), &b.maximum_concurrency);
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::deployment::Link;
    use crate::engine::fact::Source;

    fn stack(visibility: f64, maximum: Option<f64>, queue: &str, function: &str) -> Deployment {
        let known =
            |value: f64| Setting::known(value, Source::Live { operation: "GetFunction", resource: function.to_owned() }, None);
        Deployment {
            queues: vec![Queue { name: queue.into(), visibility_s: known(visibility), ..Queue::default() }],
            functions: vec![Function { name: function.into(), timeout_s: known(60.0), ..Function::default() }],
            mappings: vec![Mapping {
                place: None,
                queue: Link::To(0),
                function: Link::To(0),
                batch_size: known(1.0),
                batch_window_s: known(0.0),
                maximum_concurrency: maximum.map_or_else(Setting::default, known),
                provisioned: None,
                report_batch_item_failures: Setting::default(),
                enabled: Setting::default(),
            }],
            exports: Vec::new(),
            unresolved: Vec::new(),
        }
    }

    #[test]
    fn what_differs_is_said_with_both_values() {
        let template = stack(360.0, Some(5.0), "Jobs", "Worker");
        let live = stack(30.0, None, "app-Jobs-1A2B", "Worker");
        let (findings, unknown) = drift(&template, &live);
        let messages: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "the visibility timeout is 360 in the template, and 30 live",
                "MaximumConcurrency is 5 in the template, and not set live"
            ]
        );
        assert!(unknown.is_empty() && drift(&template, &template).0.is_empty());
    }

    #[test]
    fn a_live_chain_of_no_template_is_named() {
        let mut live = stack(30.0, None, "a", "F");
        live.merge(stack(30.0, None, "b", "G"));
        let (findings, unknown) = drift(&stack(30.0, None, "a", "F"), &live);
        assert_eq!((findings.len(), unknown), (0, vec!["b -> G".to_owned()]));
    }
}
