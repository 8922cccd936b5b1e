variable "lanes" {
  type = map(object({ seconds = number, workers = optional(number) }))
  default = {
    quick = { seconds = 20, workers = 3 }
    deep  = { seconds = 300 }
  }
}

locals {
  hidden = { quick = 120, deep = 240 }
}

resource "aws_sqs_queue" "dead" {
  name                      = "lanes-dead"
  message_retention_seconds = 1209600
}

resource "aws_sqs_queue" "lane" {
  for_each                   = var.lanes
  name                       = "lane-${each.key}"
  visibility_timeout_seconds = local.hidden[each.key]
}

resource "aws_sqs_queue_redrive_policy" "lane" {
  for_each  = var.lanes
  queue_url = aws_sqs_queue.lane[each.key].id
  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead.arn
    maxReceiveCount     = 5
  })
}

module "worker" {
  source   = "./worker"
  for_each = var.lanes
  name     = each.key
  seconds  = each.value.seconds
  queue    = aws_sqs_queue.lane[each.key].arn
  workers  = each.value.workers
}
