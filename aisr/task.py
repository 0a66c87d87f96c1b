"""What a task of one's own is made of (docs/adding-a-task.md): records, a program, a task; and matchers, which rank
texts by a claim: they give each a score, higher is better.

Each name is imported when it is used: records cost no import of DSPy, programs and tasks do.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aisr.metrics.scores import Scores, tally_statements
    from aisr.programs.case import Case
    from aisr.programs.pictures import (
        PICTURE_MODE_HELP,
        ImageFolder,
        Picture,
        PicturedText,
        PictureMode,
        render,
        small_copies,
    )
    from aisr.programs.probabilities import definitions, with_confidence
    from aisr.programs.program import LabelOptions, Options, Program, SearchOptions, one_label_each, wrong_count
    from aisr.programs.records import EvidenceItem, Prediction, Record, SentenceRecord, Text
    from aisr.programs.retrieval import Matcher, bm25, fused, order, stemmed
    from aisr.programs.task import Exhibit, Query, SentenceTask, Task

# Where the names are; what loads DSPy stands last.
MODULES = ("records", "pictures", "retrieval", "probabilities", "program", "task", "case")

__all__ = [
    "PICTURE_MODE_HELP",
    "Case",
    "EvidenceItem",
    "Exhibit",
    "ImageFolder",
    "LabelOptions",
    "Matcher",
    "Options",
    "Picture",
    "PictureMode",
    "PicturedText",
    "Prediction",
    "Program",
    "Query",
    "Record",
    "Scores",
    "SearchOptions",
    "SentenceRecord",
    "SentenceTask",
    "Task",
    "Text",
    "bm25",
    "definitions",
    "fused",
    "one_label_each",
    "order",
    "render",
    "small_copies",
    "stemmed",
    "tally_statements",
    "with_confidence",
    "wrong_count",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'aisr.task' has no attribute {name!r}")
    modules = (vars(import_module(f"aisr.programs.{module}")) for module in MODULES)
    return next(names[name] for names in modules if name in names)


def __dir__() -> list[str]:
    return __all__
