"""Which paragraphs, quotes and demos a model gets to see."""
