"""Draft: sentences of a paper against its own tables, figures and sections."""
