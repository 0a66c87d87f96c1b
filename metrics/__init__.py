"""What "good" means: the official scores, what an optimizer may see of them, and how sure we are."""
