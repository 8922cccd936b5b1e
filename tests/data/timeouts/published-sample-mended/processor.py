import json

import boto3
from botocore.config import Config

MODEL = "us.anthropic.claude-sonnet-4-6"
bedrock = boto3.client(
    "bedrock-runtime",
    config=Config(read_timeout=120, retries={"total_max_attempts": 1}),
)


def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            request = json.loads(record["body"])
            bedrock.converse(
                modelId=MODEL,
                messages=[{"role": "user", "content": [{"text": request["prompt"]}]}],
                inferenceConfig={"maxTokens": 500},
            )
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}
