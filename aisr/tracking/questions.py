"""What people are asked about the traces of a run in MLflow's UI: the right label of each statement, and the evidence.

MLflow calls a question a label schema; it belongs to the experiment, that is to the task, and is made once. The traces
of a run go into a review queue of its own with these questions. Both are MLflow's of 2026 (3.14 and later), need no
Databricks, and answers are feedback on the trace (`aisr/tracking/feedback.py`).
"""

from collections.abc import Sequence
from typing import Any

from aisr.tasks.task import Task

EVIDENCE = "right evidence"
MOST = 20  # statements of a record that are asked about
LONGEST = 1000  # characters of an instruction and of an answer in words, by MLflow's limit


def of_label(task: Task, statement: int) -> str:
    """The question for the label of a statement, from 0; it is the name of the feedback, too."""
    return "right label" if task.names_evidence else f"right label of {statement + 1}"


def asked(task: Task, statements: int) -> list[str]:
    """The questions about a record with so many statements; none where nobody can correct the task's verdicts."""
    if task.correctable is None:
        return []
    labels = [of_label(task, k) for k in range(min(statements, MOST))]
    return list(dict.fromkeys([*labels, *([EVIDENCE] if task.correctable.most else [])]))


def ask(task: Task, experiment: str, title: str, traces: Sequence[str], statements: int) -> str | None:
    """Put traces of a task's experiment into a review queue of that title, with the questions about records with at
    most so many statements; the queue's title, or None where there is nothing to ask. Raises MLflow's exceptions, and
    NotImplementedError for a server older than these."""
    wanted = asked(task, statements)
    if not wanted or not traces:
        return None
    from aisr.compat.mlflow import (
        InputCategorical,
        InputText,
        add_items_to_review_queue,
        create_label_schema,
        create_review_queue,
        list_label_schemas,
    )

    there = {one.name: one.schema_id for one in _all(list_label_schemas, experiment)}
    for name in reversed(wanted):  # the UI shows the latest first
        if name not in there:
            about = InputText(max_length=LONGEST) if name == EVIDENCE else InputCategorical(list(task.labelled.labels))
            made = create_label_schema(
                name, type="feedback", input=about, instruction=_instruction(task, name), experiment_id=experiment
            )
            there[name] = made.schema_id
    queue = create_review_queue(
        title, queue_type="custom", schema_ids=[there[name] for name in wanted], experiment_id=experiment
    )
    add_items_to_review_queue(queue.queue_id, item_ids=list(traces))
    return title


def _all(listing: Any, experiment: str) -> list[Any]:
    found = page = listing(experiment)
    while page.token:
        page = listing(experiment, page_token=page.token)
        found = [*found, *page]
    return list(found)


def _instruction(task: Task, name: str) -> str:
    if name == EVIDENCE:
        most = task.correctable.most if task.correctable else 0
        return f"The ids of the paragraphs that show it, at most {most}, such as: P3, P7"
    about = "" if task.names_evidence else f"Of statement {name.rpartition(' ')[2]}, if the record has so many. "
    lines = about + " ".join(f"{label}: {says}." for label, says in task.labelled.definitions.items())
    return lines if len(lines) <= LONGEST else f"{lines[: LONGEST - 2]} …"
