"""Papers as they are checked: read from LaTeX, Markdown or PDF, with every sentence at its place."""
