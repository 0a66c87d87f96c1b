"""The search for a better program: optimizers, their objective, the champion, the cost."""
