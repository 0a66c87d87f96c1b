"""A paper as text with tables and figures, read from LaTeX, Markdown, JATS or PDF."""
