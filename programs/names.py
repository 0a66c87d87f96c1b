"""The names of all tasks, for who cannot wait until `aisr.programs.registry` has loaded DSPy."""

TASK_NAMES = ("track1", "track2", "averitec", "context24-figures", "context24-text", "draft")
