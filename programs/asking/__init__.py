"""Asking a language model for an answer that can be used, and what it says of each label."""
