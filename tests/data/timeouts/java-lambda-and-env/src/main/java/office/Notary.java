package office;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.SQSEvent;
import java.time.Duration;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.services.bedrockruntime.BedrockRuntimeClient;
import software.amazon.awssdk.services.bedrockruntime.model.ContentBlock;

public class Notary implements RequestHandler<SQSEvent, String> {
    private final BedrockRuntimeClient model = BedrockRuntimeClient.builder()
        .httpClientBuilder(ApacheHttpClient.builder()
            .socketTimeout(Duration.ofMinutes(2)))
        .build();

    @Override
    public String handleRequest(SQSEvent event, Context context) {
        String deed = event.getRecords().get(0).getBody();
        return model.converse(r -> r
            .modelId("us.amazon.nova-pro-v1:0")
            .messages(m -> m.role("user").content(ContentBlock.fromText(deed)))
            .inferenceConfig(c -> c.maxTokens(700))).stopReasonAsString();
    }
}
