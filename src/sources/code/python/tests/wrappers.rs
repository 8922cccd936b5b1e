use super::{calls, clients, facts, layers};

#[test]
fn anthropic_has_its_own_timeout_and_retries() {
    let text = r#"import httpx
from anthropic import AnthropicBedrock, AsyncAnthropicBedrock
a = AnthropicBedrock(aws_region="eu-west-1")
b = AsyncAnthropicBedrock(timeout=httpx.Timeout(90.0, connect=5), max_retries=0)
c = AnthropicBedrock(timeout=httpx.Timeout(90, read=20), max_retries=4)
d = AnthropicBedrock(timeout=wait)
a.messages.create(model="m", max_tokens=100)
b.beta.messages.stream(model="m", max_tokens=wait)
b.models.list()
"#;
    assert_eq!(
        clients(&[("a.py", text)]),
        "a:3 anthropic 600 (default of anthropic); [3] (default of anthropic)\n\
         a:4 anthropic 90@a:4; [1]@a:4\n\
         a:5 anthropic 20@a:5; [5]@a:5\n\
         a:6 anthropic ? `wait` is not in the files that were read; [3] (default of anthropic)\n"
    );
    assert_eq!(calls(&[("a.py", text)]), "a:7 100@a:7; m@a:7\na:8 ? `wait` is not in the files that were read; m@a:8\n");
}

#[test]
fn a_request_of_anthropic_may_set_its_own() {
    let text = "from anthropic import AnthropicBedrock\na = AnthropicBedrock()\na.with_options(max_retries=0).messages.create(model='m', max_tokens=5, timeout=30)\n";
    assert_eq!(clients(&[("a.py", text)]), "a:2 anthropic 30@a:3; [1]@a:3\n");
    assert_eq!(calls(&[("a.py", text)]), "a:3 5@a:3; m@a:3\n");
}

#[test]
fn langchain_takes_a_config_a_timeout_or_a_client() {
    let text = r#"import boto3
from botocore.config import Config
from langchain_aws import ChatBedrock, ChatBedrockConverse as Chat
ONE = Config(read_timeout=70, retries={"max_attempts": 0})
a = Chat(model="m")
b = Chat(model="m", timeout=80, max_retries=1, max_tokens=321)
c = Chat(model="m", config=ONE)
d = ChatBedrock(model_id="n", config=ONE, timeout=15, model_kwargs={"max_tokens": 9})
e = Chat(model="m", client=boto3.client("bedrock-runtime", config=ONE), max_tokens=5)
"#;
    let default = "[3, 5] (default of botocore) or environment";
    assert_eq!(
        clients(&[("a.py", text)]),
        format!(
            "a:5 langchain-aws 60 (default of botocore); {default}\n\
             a:6 langchain-aws 80@a:6; [2]@a:6\n\
             a:7 langchain-aws 70@a:4; [1]@a:4\n\
             a:8 langchain-aws 15@a:8; [1]@a:4\n\
             a:9 botocore 70@a:4; [1]@a:4\n"
        )
    );
    assert_eq!(calls(&[("a.py", text)]), "a:6 321@a:6; m@a:6\na:8 9@a:8; n@a:8\na:9 5@a:9; m@a:9\n");
}

#[test]
fn strands_waits_two_minutes_unless_it_gets_a_config() {
    let text = r#"from botocore.config import Config
from strands import Agent
from strands.models import BedrockModel
model = BedrockModel(model_id="m", max_tokens=55)
legacy = BedrockModel(boto_client_config=Config(retries={"mode": "legacy"}))
slow = BedrockModel(boto_client_config=Config(read_timeout=500))
Agent(model=model)
Agent(system_prompt="x")
Agent(model=other())
"#;
    let default = "[3, 5] (default of botocore) or environment";
    assert_eq!(
        clients(&[("a.py", text)]),
        format!(
            "a:4 strands 120 (default of strands); {default}\n\
             a:5 strands 60 (default of botocore); [5] (default of botocore) or environment\n\
             a:6 strands 500@a:6; {default}\n\
             a:8 strands 120 (default of strands); {default}\n"
        )
    );
    assert_eq!(calls(&[("a.py", text)]), "a:4 55@a:4; m@a:4\n");
}

#[test]
fn litellm_counts_where_bedrock_has_the_model() {
    let text = r#"import litellm, os
from litellm import completion
NAME = "bedrock/m"
litellm.completion(model="bedrock/m", messages=[], max_tokens=9)
completion(NAME, [], timeout=30, num_retries=2)
litellm.acompletion(model=f"bedrock/{os.environ['MODEL']}", messages=[])
litellm.completion(model="openai/m", messages=[], max_tokens=9)
"#;
    assert_eq!(
        clients(&[("a.py", text)]),
        "a:4 litellm 6000 (default of litellm); [1] (default of litellm)\n\
         a:5 litellm 30@a:5; [3]@a:5\n\
         a:6 litellm 6000 (default of litellm); [1] (default of litellm)\n"
    );
    assert_eq!(calls(&[("a.py", text)]), "a:4 9@a:4; bedrock/m@a:4\n");
    let general = format!("{text}litellm.request_timeout = 44\n");
    assert!(clients(&[("a.py", &general)]).starts_with("a:4 litellm 44@a:8; [1]"));
    assert!(facts(&[("a.py", text)]).clients[0].pool.is_unset());
}

#[test]
fn retry_layers_around_wrappers_count() {
    let text = r#"from langchain_aws import ChatBedrock
from litellm import completion
from strands import Agent
from tenacity import retry
chat = ChatBedrock(model_id="m")
agent = Agent()
@retry
def a():
    chat.invoke("x")
@retry
def b():
    agent("x")
@retry
def c():
    completion(model="bedrock/m", messages=[])
@retry
def d():
    completion(model="openai/m", messages=[])
patient = chat.with_retry(stop_after_attempt=2)
"#;
    assert_eq!(
        layers(&[("a.py", text)]),
        "a:7 tenacity's `retry`\na:10 tenacity's `retry`\na:13 tenacity's `retry`\na:19 LangChain's `with_retry`\n"
    );
}
