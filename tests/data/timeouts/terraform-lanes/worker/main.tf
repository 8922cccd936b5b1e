variable "name" {}
variable "seconds" {}
variable "queue" {}
variable "workers" {
  default = null
}

resource "aws_lambda_function" "this" {
  function_name = "worker-${var.name}"
  timeout       = var.seconds
  handler       = "app.handler"
}

resource "aws_lambda_event_source_mapping" "this" {
  event_source_arn = var.queue
  function_name    = aws_lambda_function.this.arn
  batch_size       = 1

  dynamic "scaling_config" {
    for_each = var.workers == null ? [] : [1]
    content {
      maximum_concurrency = var.workers
    }
  }
}
