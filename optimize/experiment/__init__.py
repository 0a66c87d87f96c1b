"""One compile or evaluation from end to end, and its manifest."""
