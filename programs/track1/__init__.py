"""Track 1: every sentence of a paragraph against figures and tables."""
