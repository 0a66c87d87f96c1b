"""Pictures: found, read, transcribed, shown."""
