"""From what a model thinks to the label that scores."""
