import backoff

from clients import model


@backoff.on_exception(backoff.expo, Exception, max_tries=3)
def grade(text):
    return model.converse(
        modelId="us.amazon.nova-pro-v1:0",
        messages=[{"role": "user", "content": [{"text": text}]}],
    )


def main(event, context):
    return [grade(record["body"]) for record in event["Records"]]
