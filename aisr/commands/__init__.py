"""The `aisr` command."""
