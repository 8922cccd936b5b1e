resource "aws_sqs_queue" "jobs" {
  visibility_timeout_seconds = 60
  redrive_policy             = jsonencode({ deadLetterTargetArn = "arn:aws:sqs:eu-west-1:111122223333:dead", maxReceiveCount = 5 })
}

resource "aws_lambda_function" "worker" {
  function_name = "worker"
  timeout       = 61
}

resource "aws_lambda_event_source_mapping" "feed" {
  event_source_arn = aws_sqs_queue.jobs.arn
  function_name    = aws_lambda_function.worker.arn
  batch_size       = 1
}
