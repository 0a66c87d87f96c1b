"""The tasks, one file each, and what a task is."""
