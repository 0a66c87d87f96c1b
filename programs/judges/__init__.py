"""The programs that get compiled."""
