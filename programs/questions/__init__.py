"""What a decision model is asked: closed questions, made of a typed signature."""
