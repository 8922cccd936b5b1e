import { BedrockRuntimeClient, ConverseCommand } from "@aws-sdk/client-bedrock-runtime";

const options = { requestTimeout: 40 * 1000 };
const model = new BedrockRuntimeClient({ maxAttempts: 1, requestHandler: options });

export const handler = async (event: { Records: { body: string }[] }) =>
  model.send(
    new ConverseCommand({
      modelId: "us.amazon.nova-lite-v1:0",
      messages: [{ role: "user", content: [{ text: event.Records[0].body }] }],
      inferenceConfig: { maxTokens: 300 },
    }),
  );
