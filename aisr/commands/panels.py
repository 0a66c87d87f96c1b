"""In which group a command stands, what it does in one line, and what each option steers: the order of `--help`."""

from collections.abc import Mapping, Sequence

from aisr.commands.task_options import OF_TASKS

# A group of commands, and in it each command with what it does, in at most 62 characters.
COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Data": {
        "check": "say which lines of a record file are wrong, and how",
        "split": "split records into train, dev and test that share nothing",
        "corrections": "make labelled records of what people corrected",
        "retrieval": "score ways to find the evidence; fit one",
        "export": "write records as chats, for a provider that tunes models",
    },
    "Compile": {
        "compile": "search for the best program by the ranking score",
        "evaluate": "score a program on labelled records",
        "compare": "score two programs on the same records: the difference",
        "promote": "make a registered version the champion",
    },
    "Predict": {
        "predict": "predict a file of records; goes on where it was stopped",
        "vote": "average the label probabilities of predictions files",
        "submit": "check predictions and pack the zip for the server",
        "score": "score a predictions file as the official evaluator does",
    },
    "Papers and drafts": {
        "check-paper": "check a paper against its tables, figures and citations",
        "check-text": "judge a paragraph or a claim of your own, and say why",
        "mcp": "serve the checker to coding agents (MCP)",
    },
    "Programs": {
        "inspect": "show a program: instruction, examples, decision layer",
        "diff": "what sets two programs apart",
        "report": "write the error browser of a compile or an evaluation",
        "techreport": "write the technical report that the shared task demands",
    },
    "This machine": {
        "ui": "open the MLflow UI on this machine",
        "doctor": "what is installed, which LM would be asked, free room",
    },
}

# What options steer, and which do, by the names of the commands' parameters. What is in none belongs to its command.
OPTIONS: Mapping[str, Sequence[str]] = {
    "The LM": (
        "lm", "api_base", "schema", "logprobs", "threads", "timeout", "price",
        "embedding_api_base", "embedding_price",
        "teacher_lm", "teacher_api_base", "teacher_price",
    ),
    "The search": (
        "optimizer", "budget", "candidates", "seed", "max_usd_per_1000",
        "limit_train", "limit_dev", "limit_test",
    ),
    "What is shown": ("demos", "demo_tokens"),
    "The decision": ("decide", "states"),
    "Limits": ("estimate", "max_usd", "max_calls", "max_minutes"),
    "Where things go": ("name", "out", "output", "artifacts", "track", "traces"),
}  # fmt: skip

ARGUMENTS = "Arguments"
OWN = "Options"  # what belongs to the command
CONFIG = ("config", "like", "help")  # at the end: how to say the same in other ways
PANEL_OF: Mapping[str, str] = {name: panel for panel, names in OPTIONS.items() for name in names}


def panel_of(parameter: str) -> str:
    """The title of the group that an option is shown in."""
    if tasks := OF_TASKS.get(parameter):
        return f"Of {', '.join(tasks)}"
    return PANEL_OF.get(parameter, "More" if parameter in CONFIG else OWN)


def shown(parameter: str, task: str | None) -> bool:
    """Whether `--help` shows an option, where `--task` names a task, or none."""
    return task is None or task in OF_TASKS.get(parameter, (task,))


def in_order(panels: Sequence[str]) -> list[str]:
    """Titles as they follow each other: arguments, the command's own options, what they steer, tasks', the rest."""
    tasks = [panel for panel in panels if panel not in (ARGUMENTS, OWN, *OPTIONS, "More")]
    return [panel for panel in (ARGUMENTS, OWN, *OPTIONS, *tasks, "More") if panel in panels]
