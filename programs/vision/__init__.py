"""Pictures: found, read, shown."""
