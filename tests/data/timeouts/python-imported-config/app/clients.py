import boto3
from botocore.config import Config

SECONDS = 15
PATIENT = Config(
    read_timeout=2 * SECONDS,
    retries={"total_max_attempts": 4},
)
model = boto3.client("bedrock-runtime", config=PATIENT)
