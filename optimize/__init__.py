"""What turns programs and scores into artifacts: LMs, optimizers, champion, tracking, prediction, the command."""
