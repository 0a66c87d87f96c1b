"""Track 2: a claim against the paper that it cites."""
