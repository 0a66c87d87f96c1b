"""Context24: the figures and tables of a paper that evidence a claim."""
