"""What every room may use: files, digests, what must not be shown, how scores are worded."""
