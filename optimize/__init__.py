"""What turns programs and scores into artifacts: LMs, splits, optimizers, champion, tracking, prediction, the command."""
