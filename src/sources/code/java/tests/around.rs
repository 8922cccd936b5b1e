//! What stands around calls.

use super::class;

#[test]
fn pools_and_semaphores_limit_parallel_calls() {
    for (made, size) in [
        ("ExecutorService p = Executors.newFixedThreadPool(6);", Some(6.0)),
        ("Semaphore p = new Semaphore(SIZE);\nstatic final int SIZE = 9;", Some(9.0)),
        ("ExecutorService p = Executors.newCachedThreadPool();", None),
    ] {
        let facts = class(&format!("{made}\nBedrockRuntimeClient c;\nvoid ask() {{ c.converse(r -> r.modelId(\"m\")); }}"));
        assert_eq!(facts.parallel_calls.map(|fact| fact.value), size, "{made}");
    }
    assert!(class("ExecutorService p = Executors.newFixedThreadPool(6);").parallel_calls.is_none());
}

fn retries(members: &str) -> Vec<(usize, String)> {
    let facts = class(&format!(
        "BedrockRuntimeClient c;\nString ask(String text) {{ return c.converse(r -> r.modelId(\"m\")).toString(); }}\n{members}"
    ));
    facts.nested_retries.into_iter().map(|(place, what)| (place.line, what)).collect()
}

#[test]
fn a_second_layer_of_retries_is_seen() {
    for (members, what) in [
        ("@Retryable(maxAttempts = 4)\nvoid run() { ask(\"x\"); }", "Spring's `@Retryable`"),
        (
            "void run() {\nretry.executeSupplier(() -> ask(\"x\")); }\nRetry retry = Retry.of(\"a\", config);",
            "resilience4j's `Retry`",
        ),
        ("void run() {\nRetry.decorateSupplier(retry, () -> ask(\"x\")).get(); }", "resilience4j's `Retry`"),
        ("void run() {\nFailsafe.with(RetryPolicy.ofDefaults()).get(() -> ask(\"x\")); }", "Failsafe's `RetryPolicy`"),
        (
            "void run() {\nfor (int i = 0; i < 3; i++) {\ntry { out = ask(\"x\"); break; } catch (Exception e) { sleep(); }\n} }",
            "a loop that calls the model again",
        ),
        (
            "void run() { boolean done = false;\nwhile (!done) {\ntry { ask(\"x\"); done = true; } catch (SdkException e) { n++; }\n} }",
            "a loop that calls the model again",
        ),
    ] {
        let found = retries(members);
        assert_eq!(found.len(), 1, "{members}: {found:?}");
        assert_eq!(found[0].1, what, "{members}");
        assert!((6..=7).contains(&found[0].0), "{members}: {found:?}");
    }
    for members in [
        "void run() { for (var r : event.getRecords()) { try { ask(r); return; } catch (Exception e) { fail(r); } } }",
        "void run() { for (int i = 0; i < list.size(); i++) { try { ask(\"x\"); break; } catch (Exception e) { } } }",
        "void run() { for (int i = 0; i < 3; i++) { try { ask(\"x\"); } catch (Exception e) { fail(); } } }",
        "@Retryable void other() { save(); }",
        "void run() { breaker.executeSupplier(() -> ask(\"x\")); }\nCircuitBreaker breaker;",
        "void run() { Failsafe.with(CircuitBreaker.ofDefaults()).get(() -> ask(\"x\")); }",
    ] {
        assert_eq!(retries(members), [], "{members}");
    }
}
