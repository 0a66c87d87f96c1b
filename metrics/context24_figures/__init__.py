"""Context24's first task: figures and tables that evidence a claim."""
