"""Corrections of small records, as a page downloads them."""

from typing import Any

from aisr.programs.registry import find_task
from support.corpora import Row, citation, claim

WHEN = "2026-01-05T20:50:00Z"


def line(task: str, about: Row, label: str, number: int = 0, who: str = "Ada", **more: Any) -> Row:
    """That somebody gives a statement of a record a label; `record=None`: the line does not bring the record."""
    read = find_task(task).record.model_validate(about).without_labels()
    return {
        "format": 1,
        "task": task,
        "record_id": read.id,
        "statement": number,
        "sentence": read.statements[number],
        "verdict": {"label": "Supported", "program": None, "lm": "scripted"},
        "label": label,
        "evidence": [],
        "who": who,
        "when": WHEN,
        "digest": read.statement_digests()[number],
        "record": about,
        **more,
    }


def dismissal(sentence: str = "At Heath, Lark reaches 70.2.", why: str = "meant so", **more: Any) -> Row:
    """That somebody dismisses a flag."""
    return {
        "sentence": sentence, "dismissed": why, "who": "Ada", "when": WHEN, "digest": "0123456789abcdef", **more
    }  # fmt: skip


CLAIM = claim(None, None, id="main.tex:1")
CITATION = citation(None, id="main.tex:2")
