"""The verdicts on a whole paper, as its author reads them."""
