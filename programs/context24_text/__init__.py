"""Context24: the sentences of a paper that ground a claim."""
