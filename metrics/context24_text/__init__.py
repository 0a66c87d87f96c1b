"""Context24's second task: text that grounds a claim."""
