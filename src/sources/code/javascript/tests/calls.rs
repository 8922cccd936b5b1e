use super::*;

#[test]
fn output_limits_stand_in_the_configuration_or_the_body() {
    let imports =
        "import { BedrockRuntime, InvokeModelCommand, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime';\n";
    for (call, expected) in [
        ("new ConverseStreamCommand({ modelId: 'm', inferenceConfig: { maxTokens: 1_500 } })", "1500 at 2; m at 2"),
        ("new ConverseStreamCommand({ modelId: 'm', inferenceConfig: { topP: 1 } })", "unset; m at 2"),
        ("new ConverseStreamCommand({ modelId: 'm' })", "unset; m at 2"),
        (
            "new ConverseStreamCommand(input)",
            "? (`input.inferenceConfig.maxTokens` is not known before the code runs); ? (`input.modelId` is not known before the code runs)",
        ),
        ("new InvokeModelCommand({ body: JSON.stringify({ max_tokens: 11 }) })", "11 at 2; unset"),
        ("new InvokeModelCommand({ body: Buffer.from(JSON.stringify({ max_gen_len: 12 })) })", "12 at 2; unset"),
        (
            "new InvokeModelCommand({ body: new TextEncoder().encode(JSON.stringify({ textGenerationConfig: { maxTokenCount: 13 } })) })",
            "13 at 2; unset",
        ),
        ("new InvokeModelCommand({ body: JSON.stringify({ inferenceConfig: { max_new_tokens: 14 } }) })", "14 at 2; unset"),
        ("new InvokeModelCommand({ body: '{\"max_tokens\": 15}' })", "15 at 2; unset"),
        ("new InvokeModelCommand({ body: JSON.stringify({ messages: [] }) })", "unset; unset"),
        (
            "new InvokeModelCommand({ body: JSON.stringify({ ...rest }) })",
            "? (`rest.max_tokens` is not known before the code runs); unset",
        ),
        ("new BedrockRuntime().converse({ inferenceConfig: { maxTokens: 16 } })", "16 at 2; unset"),
    ] {
        let shown = main_ts(&format!("{imports}{call};"));
        assert_eq!(shown.lines().last(), Some(format!("call at 2: {expected}").as_str()), "{call}");
    }
    let named = main_ts(&format!(
        "{imports}const payload = {{\n  max_tokens: 17,\n}};\nconst body = JSON.stringify(payload);\nnew InvokeModelCommand({{\n  modelId: 'm',\n  body,\n}});"
    ));
    assert_eq!(named, "call at 6: 17 at 3; m at 7");
    assert_eq!(main_ts(&format!("{imports}new InvokeModelCommand({{ modelId: 'amazon.titan-embed-text-v2:0', body }});")), "");
}

#[test]
fn literal_pools_are_parallel_calls() {
    for (import, use_) in [
        ("import pLimit from 'p-limit';", "const limit = pLimit(6);"),
        ("const pLimit = require('p-limit');", "const limit = pLimit(SIZE);\nconst SIZE = 6;"),
        ("import pMap from 'p-map';", "await pMap(records, work, { concurrency: 6 });"),
        ("import PQueue from 'p-queue';", "new PQueue({ concurrency: 6 });"),
        ("import Bottleneck from 'bottleneck';", "new Bottleneck({ maxConcurrent: 6 });"),
        ("import { Semaphore } from 'async-mutex';", "new Semaphore(6);"),
        ("import { Sema } from 'async-sema';", "new Sema(6);"),
    ] {
        assert_eq!(main_ts(&format!("{import}\n{use_}")), "6 at a time", "{import}");
    }
    assert_eq!(
        main_ts("import pLimit from 'p-limit';\npLimit(Number(process.env.SIZE));\nawait Promise.all(records.map(work));"),
        ""
    );
}

#[test]
fn retries_around_calls_are_found_and_other_loops_are_not() {
    let with = |rest: &str| {
        let shown = client(&format!(
            "const c = new BedrockRuntimeClient({{ maxAttempts: 1 }});\nconst ask = async () => c.send(new ConverseCommand({{}}));\n{rest}"
        ));
        shown.lines().skip(2).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(with("import retry from 'p-retry';\nawait retry(ask, { retries: 2 });"), "p-retry at 6");
    assert_eq!(with("import retry from 'async-retry';\nawait retry(async () => { await ask(); });"), "async-retry at 6");
    assert_eq!(with("import retry from 'p-retry';\nawait retry(() => fetch('x'));"), "");
    assert_eq!(
        with("import { backOff } from 'exponential-backoff';\nbackOff(() => ask());"),
        "exponential-backoff's `backOff` at 6"
    );
    let cockatiel = "import { retry, handleAll } from 'cockatiel';\nconst policy = retry(handleAll, { maxAttempts: 3 });\npolicy.execute(() => ask());";
    assert_eq!(with(cockatiel), "cockatiel at 7");
    let counted = "for (let i = 0; i < 3; i++) {\n  try { return await ask(); } catch (e) { await sleep(i); }\n}";
    assert_eq!(with(counted), "a loop that tries again at 5");
    let named = "let attempt = 0;\nwhile (attempt < limit) {\n  try { return await ask(); } catch (e) { attempt++; }\n}";
    assert_eq!(with(named), "a loop that tries again at 6");
    let passed = "async function again(work) {\n  for (let attempt = 1; attempt <= 3; attempt++) {\n    try { return await work(); } catch (e) { log(e); }\n  }\n}\nagain(() => ask());";
    assert_eq!(with(passed), "a loop that tries again at 6");
    let records = "for (let i = 0; i < records.length; i++) {\n  try { await ask(records[i]); } catch (e) { log(e); }\n}\nfor (const r of records) { try { await ask(r); } catch (e) { log(e); } }";
    assert_eq!(with(records), "");
    let endless = "let n = 0;\nwhile (true) {\n  try { return await ask(); } catch (e) { if (++n > 2) throw e; }\n}";
    assert_eq!(with(endless), "a loop that tries again at 6");
    let itself = "async function again(left) {\n  try { return await ask(); } catch (e) {\n    if (left > 0) return again(left - 1);\n    throw e;\n  }\n}";
    assert_eq!(with(itself), "a function that calls itself again after an error at 7");
    let thrown = "for (let i = 0; i < 3; i++) {\n  try { await ask(); } catch (e) { log(e); throw new Error('x'); }\n}";
    assert_eq!(with(thrown), "");
}
