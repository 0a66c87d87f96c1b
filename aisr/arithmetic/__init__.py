"""What a paper says that can be recomputed from its own tables and words, without a language model."""
