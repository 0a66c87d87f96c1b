"""The way in from Python: an LM, a program, what it judged."""
