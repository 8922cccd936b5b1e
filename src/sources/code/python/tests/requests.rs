use super::calls;

fn with_client(text: &str) -> String {
    format!("import json, os, boto3\nmodel = boto3.client('bedrock-runtime')\n{text}")
}

#[test]
fn an_output_limit_is_stated_left_out_or_not_known() {
    for (arguments, limit) in [
        ("inferenceConfig={'maxTokens': 300, 'topP': 1}", "300@a:4"),
        ("inferenceConfig={'maxTokens': LIMIT}", "800@a:3<a:4"),
        ("inferenceConfig=CONFIG", "25@a:3<a:4"),
        ("inferenceConfig=dict(maxTokens=4)", "4@a:4"),
        ("inferenceConfig={'temperature': 0}", "-"),
        ("inferenceConfig={}", "-"),
        ("messages=[]", "-"),
        ("**KEYWORDS", "9@a:3"),
        ("**other", "? `other` is not in the files that were read"),
        ("inferenceConfig=other()", "? what `other()` returns"),
        ("inferenceConfig={'maxTokens': int(os.environ['MOST'])}", "? environment variable `MOST`"),
        ("inferenceConfig={**other()}", "? what `other()` returns"),
    ] {
        let text = with_client(&format!(
            "LIMIT = 800; CONFIG = {{'maxTokens': 25}}; KEYWORDS = {{'inferenceConfig': {{'maxTokens': 9}}}}\nmodel.converse(modelId='a.b', {arguments})\n"
        ));
        assert_eq!(calls(&[("a.py", &text)]), format!("a:4 {limit}; a.b@a:4\n"), "{arguments}");
    }
}

#[test]
fn the_body_of_an_invocation_states_its_limit_in_each_model_s_words() {
    for (body, limit) in [
        ("json.dumps({'max_tokens': 5, 'messages': []})", "5@a:3"),
        ("json.dumps({'max_gen_len': 6})", "6@a:3"),
        ("json.dumps({'inputText': 'x', 'textGenerationConfig': {'maxTokenCount': 7}}).encode()", "7@a:3"),
        ("json.dumps({'inferenceConfig': {'max_new_tokens': 8}})", "8@a:3"),
        ("json.dumps({'max_tokens_to_sample': 9})", "9@a:3"),
        ("bytes(json.dumps({'prompt': 'x'}), 'utf-8')", "-"),
        ("json.dumps({**other, 'prompt': 'x'})", "? `other` is not in the files that were read"),
        ("json.dumps(other(1))", "? what `other()` returns"),
        ("'{\"max_tokens\": 5}'", "? a body that is written as a text"),
        ("other", "? `other` is not in the files that were read"),
    ] {
        let text = with_client(&format!("model.invoke_model(modelId='a.b', body={body})\n"));
        assert_eq!(calls(&[("a.py", &text)]), format!("a:3 {limit}; a.b@a:3\n"), "{body}");
    }
}

#[test]
fn a_dictionary_is_followed_through_its_changes() {
    let text = with_client(
        r#"
def limit(body):
    body["max_tokens"] = 1

def handler(event, context):
    for record in event["Records"]:
        body = {"prompt": record}
        body["max_tokens"] = 77
        body = json.dumps(body)
        model.invoke_model_with_response_stream(modelId="a", body=body)
        request = {"prompt": record}
        if event.get("short"):
            request["max_tokens"] = 5
        model.invoke_model(modelId="b", body=json.dumps(request))
        handed = {"prompt": record}
        limit(handed)
        model.invoke_model(modelId="c", body=json.dumps(handed))
        keyed = {"prompt": record}
        keyed[record["key"]] = 3
        model.invoke_model(modelId="d", body=json.dumps(keyed))
        plain = {"prompt": record}
        print(plain)
        model.invoke_model(modelId="e", body=json.dumps(plain))
"#,
    );
    assert_eq!(
        calls(&[("a.py", &text)]),
        "a:12 77@a:10<a:12; a@a:12\n\
         a:16 ? `max_tokens` is set in a branch; b@a:16\n\
         a:19 ? `handed` is changed; c@a:19\n\
         a:22 ? `keyed` is changed; d@a:22\n\
         a:25 -; e@a:25\n"
    );
}

#[test]
fn models_that_put_out_no_tokens_are_left_out() {
    for arguments in [
        "modelId='amazon.titan-embed-text-v2:0', body=json.dumps({'inputText': 'x'})",
        "modelId='cohere.rerank-v3-5:0', body=json.dumps({'query': 'x'})",
        "modelId='us.stability.stable-image-core-v1:1', body=json.dumps({'prompt': 'x'})",
        "modelId=os.environ['EMBEDDING_MODEL'], body=json.dumps({'text': 'x'})",
        "modelId=f'cohere.embed-{os.environ[0]}', body=json.dumps({'prompt': 'x'})",
        "modelId=os.environ['MODEL'], body=json.dumps({'texts': []})",
        "modelId=other(), body=json.dumps({'taskType': 'TEXT_IMAGE'})",
    ] {
        assert_eq!(calls(&[("a.py", &with_client(&format!("model.invoke_model({arguments})\n")))]), "", "{arguments}");
    }
    let text = with_client("model.invoke_model(modelId=os.environ['MODEL'], body=json.dumps({'inputText': 'x'}))\n");
    assert_eq!(
        calls(&[("a.py", &text)]),
        "a:3 ? the model is not known, and may put out no tokens; ? environment variable `MODEL`\n"
    );
    let text = with_client("model.converse(modelId='arn:aws:bedrock:eu-west-1:111122223333:prompt/X')\n");
    assert!(calls(&[("a.py", &text)]).starts_with("a:3 ? the limit of a managed prompt; "));
}

#[test]
fn a_method_of_something_unknown_counts_where_there_is_a_client() {
    let text = "def ask(thing, other):\n    thing.converse(modelId='a')\n    other.chat.converse(modelId='b')\n";
    assert_eq!(calls(&[("a.py", text)]), "");
    assert_eq!(calls(&[("a.py", &with_client(text))]), "a:4 -; a@a:4\na:5 -; b@a:5\n");
    let typed = "def ask(thing: \"BedrockRuntimeClient\"):\n    thing.converse(modelId='a')\n";
    assert_eq!(calls(&[("a.py", typed)]), "a:2 -; a@a:2\n");
    let local = with_client("class Talk:\n    def converse(self, **k): pass\nTalk().converse(modelId='a')\n");
    assert_eq!(calls(&[("a.py", &local)]), "");
}

#[test]
fn a_method_that_is_handed_on_is_called_with_the_arguments_beside_it() {
    let text = with_client(
        "import asyncio, functools\nasync def ask():\n    await asyncio.to_thread(model.converse, modelId='a', inferenceConfig={'maxTokens': 3})\n    functools.partial(model.converse, modelId='b')\n    say = model.converse\n    say(modelId='c')\n",
    );
    assert_eq!(calls(&[("a.py", &text)]), "a:5 3@a:5; a@a:5\na:6 -; b@a:6\na:8 -; c@a:8\n");
}

#[test]
fn what_is_asked_without_a_name_for_the_client_is_a_call_too() {
    let text = "import boto3\nasync def ask(s):\n    boto3.client('bedrock-runtime').converse(modelId='a')\n    async with s.client('bedrock-runtime') as m:\n        await m.converse_stream(modelId='b')\n";
    assert_eq!(calls(&[("a.py", text)]), "a:3 -; a@a:3\na:5 -; b@a:5\n");
}
