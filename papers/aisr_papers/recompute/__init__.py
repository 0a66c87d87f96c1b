"""What a paper says that can be recomputed from its own tables and text, without a model."""
