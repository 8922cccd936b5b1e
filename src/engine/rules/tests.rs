use std::sync::Arc;

use super::*;
use crate::engine::deployment::{
    Client, Deployment, Function, IgnoredOption, Link, Mapping, ModelCall, Queue, Redrive, Setting, SourceFacts, Unresolved,
};
use crate::engine::fact::{Fact, Place, Source};

fn at(line: usize) -> Place {
    Place { path: Arc::from("t.yaml"), line, column: 1, start: line * 10, end: line * 10 + 5 }
}

fn set<T>(value: T, line: usize) -> Setting<T> {
    Setting::written(value, at(line), at(line))
}

/// A chain that nothing is wrong with: V 365, T 60, R 30, one attempt, B 10, W 5, M 10 of 10, N 5.
fn chain() -> Deployment {
    let client = Client {
        place: at(30),
        sdk: "botocore",
        read_timeout_s: set(Some(5.0), 31),
        attempts: set(vec![1], 32),
        attempts_from_environment: false,
        whole_call_s: None,
        ignored: Vec::new(),
        pool: Setting::default_of(10.0, "default of botocore"),
        tcp_keepalive: false,
    };
    let call = ModelCall { place: at(40), max_tokens: set(500.0, 41), model: set("amazon.nova-pro-v1:0".to_owned(), 42) };
    Deployment {
        queues: vec![
            Queue {
                name: "Jobs".into(),
                place: Some(at(1)),
                visibility_s: set(365.0, 2),
                retention_s: Setting::default_of(345_600.0, "default of SQS"),
                redrive: set(Redrive { max_receive_count: set(5.0, 3), dead_letter: Some(1) }, 3),
                ..Queue::default()
            },
            Queue { name: "Dead".into(), place: Some(at(5)), retention_s: set(1_209_600.0, 6), ..Queue::default() },
        ],
        functions: vec![Function {
            name: "Worker".into(),
            place: Some(at(10)),
            timeout_s: set(60.0, 11),
            reserved_concurrency: set(10.0, 12),
            source: SourceFacts { clients: vec![client], calls: vec![call], ..SourceFacts::default() },
            ..Function::default()
        }],
        mappings: vec![Mapping {
            place: Some(at(20)),
            queue: Link::To(0),
            function: Link::To(0),
            batch_size: set(10.0, 21),
            batch_window_s: set(5.0, 22),
            maximum_concurrency: set(10.0, 23),
            provisioned: None,
            report_batch_item_failures: set(true, 24),
            enabled: Setting::default(),
        }],
        exports: Vec::new(),
        unresolved: Vec::new(),
    }
}

/// Rules with severity and line that a changed chain gives; X is 4 s unless said otherwise.
fn found_with(
    change: impl Fn(&mut Deployment),
    slowest: Option<f64>,
    allowed: Option<f64>,
) -> Vec<(&'static str, Severity, usize)> {
    let mut deployment = chain();
    change(&mut deployment);
    deployment.apply_environment();
    let maximum = |model: &str| (model == "amazon.nova-pro-v1:0").then_some(10_000.0);
    let context = Context {
        slowest_call_s: slowest.map(|value| Fact::new(value, Source::flag("slowest-call"))),
        calls_per_message: 1.0,
        parallel_calls: None,
        overhead_s: 0.0,
        allowed_in_flight: allowed.map(|value| Fact::new(value, Source::Derived("the plan".into()))),
        model_maximum: &maximum,
    };
    deployment
        .chains()
        .iter()
        .flat_map(|chain| check(chain, &context))
        .map(|finding| (finding.rule, finding.severity, finding.place().map_or(0, |place| place.line)))
        .collect()
}

fn found(change: impl Fn(&mut Deployment)) -> Vec<(&'static str, Severity, usize)> {
    found_with(change, Some(4.0), None)
}

use Severity::{Error, Note, Warning};

#[test]
fn a_right_chain_has_no_findings() {
    assert_eq!(found(|_| {}), []);
    // The boundaries of the visibility rules: 6 T + W is enough, and not too much.
    assert_eq!(found(|d| d.queues[0].visibility_s = set(364.0, 2)), [("visibility-below-six-times", Note, 2)]);
    assert_eq!(found(|d| d.queues[0].visibility_s = set(366.0, 2)), [("visibility-slows-retries", Note, 2)]);
}

#[test]
fn of_the_visibility_rules_only_the_strongest_speaks() {
    let visibility = |seconds: f64| found(move |d| d.queues[0].visibility_s = set(seconds, 2));
    assert_eq!(visibility(59.0), [("visibility-below-function-timeout", Error, 2)]);
    assert_eq!(visibility(60.0), [("visibility-equals-function-timeout", Warning, 2)]);
    assert_eq!(visibility(64.0), [("visibility-below-timeout-plus-window", Warning, 2)]);
    assert_eq!(visibility(65.0), [("visibility-below-six-times", Note, 2)]);
    let default = found(|d| d.queues[0].visibility_s = Setting::default_of(30.0, "default of SQS"));
    assert_eq!(default, [("visibility-below-function-timeout", Error, 1), ("visibility-left-at-default", Note, 1)]);
}

#[test]
fn the_function_against_its_client() {
    let read = |seconds: f64, attempts: Vec<u32>| {
        found(move |d| {
            let client = &mut d.functions[0].source.clients[0];
            client.read_timeout_s = set(Some(seconds), 31);
            client.attempts = set(attempts.clone(), 32);
            d.mappings[0].batch_size = set(1.0, 21);
        })
    };
    assert_eq!(read(60.0, vec![1]), [("function-timeout-below-read-timeout", Error, 11)]);
    assert_eq!(read(59.0, vec![1]), []);
    assert_eq!(read(30.0, vec![2]), [("client-retries-multiply", Warning, 32)], "2 x 30 s fit in 60 s");
    let retries = ("client-retries-multiply", Warning, 32);
    assert_eq!(read(31.0, vec![2]), [("function-timeout-below-client-attempts", Error, 11), retries]);
    // A count that depends on the SDK's version: an error only if it is wrong for all.
    assert_eq!(read(15.0, vec![3, 5]), [("function-timeout-below-client-attempts", Warning, 11), retries]);
    // Whatever cuts all attempts off at 50 s leaves them as many, and lets the function end in time.
    let cut = found(|d| {
        let client = &mut d.functions[0].source.clients[0];
        (client.read_timeout_s, client.attempts) = (set(Some(31.0), 31), set(vec![2], 32));
        client.whole_call_s = Some(50.0);
        d.mappings[0].batch_size = set(1.0, 21);
    });
    assert_eq!(cut, [retries]);
    // Ten messages, one after the other, of 6.1 s each are 61 s.
    let rounds = found(|d| d.functions[0].source.clients[0].read_timeout_s = set(Some(6.1), 31));
    assert_eq!(rounds, [("function-timeout-below-client-attempts", Error, 11)]);
    let timeout = |seconds: f64, managed: bool| {
        found(move |d| {
            d.functions[0].timeout_s = set(seconds, 11);
            d.functions[0].managed_instances = managed;
            d.queues[0].visibility_s = set(6.0 * seconds + 5.0, 2);
        })
    };
    assert_eq!(timeout(900.0, false), []);
    assert_eq!(timeout(901.0, false), [("function-timeout-out-of-range", Warning, 11)]);
    assert_eq!(timeout(1801.0, false), [("function-timeout-out-of-range", Error, 11)]);
    assert_eq!(timeout(1801.0, true), []);
    assert_eq!(timeout(5401.0, true), [("function-timeout-out-of-range", Error, 11)]);
    let default = found(|d| d.functions[0].timeout_s = Setting::default_of(60.0, "default of X"));
    assert_eq!(default, [("function-timeout-left-at-default", Warning, 10)]);
}

#[test]
fn the_read_timeout_against_the_slowest_call() {
    let read = |limit: Setting<Option<f64>>, slowest: Option<f64>| {
        found_with(
            move |d| {
                d.functions[0].source.clients[0].read_timeout_s = limit.clone();
                d.mappings[0].batch_size = set(1.0, 21);
            },
            slowest,
            None,
        )
    };
    assert_eq!(read(set(Some(20.0), 31), Some(20.0)), [("read-timeout-below-slowest-call", Error, 31)]);
    assert_eq!(read(set(Some(24.9), 31), Some(20.0)), [("read-timeout-without-margin", Warning, 31)]);
    assert_eq!(read(set(Some(25.0), 31), Some(20.0)), []);
    assert_eq!(read(set(Some(1.0), 31), None), [], "without a slowest call nothing is said");
    let default = || Setting::default_of(Some(50.0), "default of botocore");
    assert_eq!(read(default(), None), [("read-timeout-left-at-default", Warning, 30)]);
    assert_eq!(read(default(), Some(45.0)), [("read-timeout-left-at-default", Warning, 30)], "and not also without margin");
    assert_eq!(read(default(), Some(50.0)), [("read-timeout-left-at-default", Error, 30)]);
    assert_eq!(read(Setting::default_of(None, "default of Go"), Some(5.0)), [("read-timeout-missing", Warning, 30)]);
    let ignored = |limit: Option<f64>| {
        found(move |d| {
            let client = &mut d.functions[0].source.clients[0];
            client.ignored =
                vec![IgnoredOption { place: at(33), option: "requestTimeout".into(), why: "use requestHandler".into() }];
            client.read_timeout_s = Setting::default_of(limit, "default of the SDK");
        })
    };
    assert_eq!(ignored(None), [("read-timeout-option-ignored", Error, 33)]);
    assert_eq!(
        ignored(Some(300.0)),
        [("function-timeout-below-read-timeout", Error, 11), ("read-timeout-option-ignored", Error, 33)],
        "what applies still counts against the function"
    );
}

#[test]
fn the_client_s_surroundings() {
    let nested = found(|d| d.functions[0].source.nested_retries = vec![(at(35), "tenacity's `retry`".into())]);
    assert_eq!(nested, [("nested-retries", Warning, 35)]);
    let pool = |parallel: f64| {
        found(move |d| d.functions[0].source.parallel_calls = Some(Fact::new(parallel, Source::Written(at(36)))))
    };
    assert_eq!(pool(10.0), []);
    assert_eq!(pool(11.0), [("http-pool-below-parallel-calls", Warning, 30)]);
    let idle = |in_vpc: bool, keepalive: bool, seconds: f64| {
        found(move |d| {
            d.functions[0].in_vpc = in_vpc;
            d.functions[0].timeout_s = set(400.0, 11);
            d.queues[0].visibility_s = set(2405.0, 2);
            d.mappings[0].batch_size = set(1.0, 21);
            d.functions[0].source.clients[0].tcp_keepalive = keepalive;
            d.functions[0].source.clients[0].read_timeout_s = set(Some(seconds), 31);
        })
    };
    assert_eq!(idle(true, false, 351.0), [("tcp-idle-drop", Note, 31)]);
    assert_eq!([idle(false, false, 351.0), idle(true, true, 351.0), idle(true, false, 350.0)].concat(), []);
    let tokens = |limit: Setting<f64>| found(move |d| d.functions[0].source.calls[0].max_tokens = limit.clone());
    assert_eq!(tokens(Setting::default()), [("max-tokens-unset", Warning, 40)]);
    assert_eq!(tokens(set(10_000.0, 41)), [("max-tokens-at-model-maximum", Warning, 41)]);
    let unresolved = Unresolved { why: "an argument".into(), give: None, place: Some(at(41)) };
    assert_eq!(tokens(Setting::unresolved(unresolved, None)), [], "it may be set: not said to be unset");
}

#[test]
fn batches() {
    let batch = |size: f64, window: f64, fifo: bool, reports: Setting<bool>, slowest: f64| {
        found_with(
            move |d| {
                d.mappings[0].batch_size = set(size, 21);
                d.mappings[0].batch_window_s = set(window, 22);
                d.mappings[0].report_batch_item_failures = reports.clone();
                d.queues[0].fifo = set(fifo, 4);
                d.queues[0].visibility_s = set(360.0 + window, 2);
                d.functions[0].source.clients[0].read_timeout_s = set(Some(1.0), 31);
            },
            Some(slowest),
            None,
        )
    };
    let yes = || set(true, 24);
    assert_eq!(batch(11.0, 0.0, false, yes(), 0.1), [("batch-window-missing", Error, 21)]);
    assert_eq!(batch(11.0, 1.0, false, yes(), 0.1), []);
    assert_eq!(batch(11.0, 0.0, true, yes(), 0.1), [("fifo-batch-too-large", Error, 21)], "and no window is missing");
    assert_eq!(batch(10.0, 1.0, true, yes(), 0.1), [("fifo-batch-too-large", Error, 22)]);
    assert_eq!(batch(2.0, 0.0, false, Setting::default(), 0.1), [("partial-batch-response-missing", Warning, 20)]);
    assert_eq!(batch(1.0, 0.0, false, set(false, 24), 0.1), []);
    // Ten calls of 6.1 s, one after the other, are 61 s; the client gives up earlier, which is another finding.
    let slow = batch(10.0, 0.0, false, yes(), 6.1);
    assert!(slow.contains(&("batch-exceeds-function-timeout", Error, 11)), "{slow:?}");
    assert!(!batch(10.0, 0.0, false, yes(), 6.0).iter().any(|found| found.0 == "batch-exceeds-function-timeout"));
}

#[test]
fn the_queue_behind_the_chain() {
    assert_eq!(found(|d| d.queues[0].redrive = Setting::default()), [("dead-letter-queue-missing", Warning, 1)]);
    let receives = |count: f64| {
        found(move |d| d.queues[0].redrive = set(Redrive { max_receive_count: set(count, 3), dead_letter: Some(1) }, 3))
    };
    assert_eq!(receives(5.0), []);
    assert_eq!(receives(4.0), [("max-receive-count-low", Warning, 3)]);
    assert_eq!(receives(1.0), [("max-receive-count-low", Error, 3)]);
    // 5 x 365 s = 1,825 s.
    assert_eq!(found(|d| d.queues[0].retention_s = set(1825.0, 7)), []);
    assert_eq!(found(|d| d.queues[0].retention_s = set(1824.0, 7)), [("retention-shorter-than-retries", Warning, 7)]);
    let dead = |source: Setting<f64>, dead: Setting<f64>, fifo: bool| {
        found(move |d| {
            d.queues[0].retention_s = source.clone();
            d.queues[1].retention_s = dead.clone();
            d.queues[0].fifo = set(fifo, 4);
            d.mappings[0].batch_window_s = set(0.0, 22);
            d.queues[0].visibility_s = set(360.0, 2);
        })
    };
    let default = || Setting::default_of(345_600.0, "default of SQS");
    assert_eq!(dead(default(), default(), false), [("dead-letter-retention-short", Note, 5)]);
    assert_eq!(dead(default(), set(345_600.0, 6), false), [("dead-letter-retention-short", Warning, 6)]);
    assert_eq!(dead(default(), set(345_601.0, 6), false), []);
    assert_eq!(dead(default(), default(), true), [], "in a FIFO queue the age begins anew");
}

#[test]
fn workers_and_what_bounds_them() {
    let bound = |maximum: Setting<f64>, reserved: Setting<f64>, provisioned: bool| {
        found(move |d| {
            d.mappings[0].maximum_concurrency = maximum.clone();
            d.functions[0].reserved_concurrency = reserved.clone();
            d.mappings[0].provisioned = provisioned.then(|| at(25));
        })
    };
    let none = Setting::default;
    assert_eq!(bound(none(), none(), false), [("maximum-concurrency-missing", Warning, 20)]);
    assert_eq!(bound(none(), none(), true), [], "pollers bound it");
    assert_eq!(bound(none(), set(5.0, 12), false), [("reserved-concurrency-as-throttle", Warning, 12)]);
    assert_eq!(bound(set(1.0, 23), none(), false), [("maximum-concurrency-out-of-range", Error, 23)]);
    assert_eq!(bound(set(1001.0, 23), none(), false), [("maximum-concurrency-out-of-range", Warning, 23)]);
    assert_eq!(bound(set(10.0, 23), none(), true), [("maximum-concurrency-with-provisioned-mode", Error, 23)]);
    assert_eq!(bound(set(11.0, 23), set(10.0, 12), false), [("maximum-concurrency-above-reserved", Error, 23)]);
    let silent = found(|d| {
        d.mappings[0].maximum_concurrency = Setting::default();
        d.functions[0].reserved_concurrency = Setting::default();
        d.functions[0].source = SourceFacts::default();
    });
    assert_eq!(silent, [], "nothing shows that the function calls a model");
    let two = found(|d| {
        d.mappings.push(d.mappings[0].clone());
        d.mappings[1].maximum_concurrency = set(1.0 + 1.0, 26);
    });
    // Once for each chain; the command says it once.
    assert_eq!(two, [("reserved-below-sum-of-maxima", Warning, 12), ("reserved-below-sum-of-maxima", Warning, 12)]);
    let planned = |allowed: f64| found_with(|_| {}, Some(4.0), Some(allowed));
    assert_eq!(planned(10.0), []);
    assert_eq!(planned(9.0), [("in-flight-above-plan", Error, 23)]);
}

#[test]
fn the_environment_counts_attempts_where_the_source_does_not() {
    let attempts = |count: Option<f64>, mode: Option<&str>| {
        let mode = mode.map(str::to_owned);
        found(move |d| {
            let function = &mut d.functions[0];
            function.max_attempts = count.map_or_else(Setting::default, |count| set(count, 13));
            function.retry_mode = mode.clone().map_or_else(Setting::default, |mode| set(mode, 14));
            let client = &mut function.source.clients[0];
            client.attempts = Setting::default_of(vec![3, 5], "default of botocore");
            client.attempts_from_environment = true;
            client.read_timeout_s = set(Some(15.0), 31);
            d.mappings[0].batch_size = set(1.0, 21);
        })
    };
    assert_eq!(attempts(Some(1.0), None), []);
    assert_eq!(attempts(Some(2.0), None), [("client-retries-multiply", Warning, 13)]);
    assert_eq!(attempts(None, Some("standard")), [("client-retries-multiply", Warning, 30)], "3 x 15 s fit in 60 s");
    let legacy = attempts(None, Some("legacy"));
    assert_eq!(legacy[0], ("function-timeout-below-client-attempts", Error, 11));
}

#[test]
fn one_reference_is_one_note_and_says_what_it_must_satisfy() {
    let unresolved = || Unresolved {
        why: "parameter `P` has no default".into(),
        give: Some("--parameter P=...".into()),
        place: Some(at(50)),
    };
    let mut deployment = chain();
    deployment.queues[0].visibility_s = Setting::unresolved(unresolved(), Some(at(2)));
    deployment.queues[0].retention_s = Setting::unresolved(unresolved(), Some(at(7)));
    let chains = deployment.chains();
    let notes = super::unresolved(&chains[0]);
    assert_eq!(notes.len(), 1);
    assert_eq!(
        notes[0].message,
        "visibility_timeout_s is not known: parameter `P` has no default; the visibility timeout must be above 60 s"
    );
    assert_eq!(notes[0].suggestion.as_deref(), Some("give it: --parameter P=..."));
}

#[test]
fn rules_are_whole_and_name_each_other_rightly() {
    for (i, one) in RULES.iter().enumerate() {
        assert!(one.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", one.id);
        assert!(RULES[..i].iter().all(|other| other.id != one.id), "{} stands twice", one.id);
        assert!(one.stronger.iter().all(|stronger| rule(stronger).is_some_and(|other| other.id != one.id)), "{}", one.id);
        assert!(!one.summary.is_empty() && one.why.ends_with('.') && one.remedy.ends_with('.'), "{}", one.id);
    }
}
