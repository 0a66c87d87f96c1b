"""Records in and verdicts out, as Python and registered models have them: what `aisr.api` and `aisr.serving` share.

Imports of DSPy and the rest of the project stand in the functions, as in `aisr.api`.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from aisr.base.errors import UserError
from aisr.lm.config import LMUnavailable

if TYPE_CHECKING:
    from dspy import Example
    from pydantic import BaseModel

    from aisr.artifact.program import Loaded
    from aisr.predict.judge import Outcome
    from aisr.programs.task import Task

Record: TypeAlias = "Mapping[str, Any] | BaseModel"  # as a line of a JSONL file has it, or read from there
# A command's options, which are parameters here.
NAMES = (
    "api-base|embedding_api_base|embedding_price|image-root|lm|logprobs|max_tokens|max-usd|max-calls|price|schema|"
    "temperature|threads|timeout"
)
OPTION = re.compile(rf"(?:--|-L )({NAMES})\b")


def in_python(error: Exception | str) -> str:
    """Return the message of an error or of a limit, without secrets; a command's `--api-base` is
    `api_base` here."""
    from aisr.base import redact

    return OPTION.sub(lambda option: option[1].replace("-", "_"), redact.secrets(str(error)))


class ShownEvidence(NamedTuple):
    """One piece of evidence of a record, as it stood in the prompt."""

    key: str  # "table 1", or the id of a paragraph
    lines: tuple[str, ...]  # its text, then the rows of a table, one a line
    picture: str | None  # the path that the record gives, unchecked
    chosen: int  # its place in the predicted evidence, from 1; 0 where it was not named


@dataclass(frozen=True)
class Verdict:
    """The judgement of one record: of `answer` and `failure` exactly one is None. A failure is never a label."""

    id: str
    answer: Mapping[str, Any] | None  # as in a predictions file: `labels`, or `label` and `evidence_para_ids`
    failure: str | None  # the reason in one line
    # One a statement (a sentence of Track 1, the claim of Track 2); none for a failed record and a task without labels.
    labels: tuple[str, ...] = ()
    probabilities: tuple[Mapping[str, float] | None, ...] = ()  # of each label, summing to 1; None where unknown
    evidence: tuple[ShownEvidence, ...] = ()  # in the order of the prompt

    @property
    def line(self) -> dict[str, Any]:
        """The record as a line of a predictions file."""
        return {"id": self.id, "failed": self.failure} if self.answer is None else {"id": self.id, **self.answer}


class LabelScore(NamedTuple):
    """How a program did on one label."""

    precision: float  # in 0-1
    recall: float  # in 0-1
    support: int  # gold statements


@dataclass(frozen=True)
class TestScores:
    """How a compiled program did on its test split, which chose nothing."""

    __test__: ClassVar = False  # no test class of pytest

    records: int
    per_label: Mapping[str, LabelScore]
    calibration_error: float | None  # of its probabilities, in 0-1; None where it gave none
    lm: str  # the LM that it was tested with, and compiled for

    @property
    def statements(self) -> int:
        """The number of gold statements."""
        return sum(one.support for one in self.per_label.values())

    @property
    def accuracy(self) -> float | None:
        """The share of them that it labelled right, in 0-1; None for a task without labels."""
        right = sum(one.recall * one.support for one in self.per_label.values())
        return right / self.statements if self.statements else None


# --- From a record to its verdict


def check_record(task: "Task", record: Record, number: int, where: str = "") -> Any:
    """Return the `number`th record, from 0, as the task has it. Raises `UserError`; its message begins with `where`."""
    from pydantic import ValidationError

    from aisr.base.jsonl import explain

    if isinstance(record, task.record):
        return record
    if not isinstance(record, Mapping):
        raise UserError(
            f"{where}a {type(record).__name__}; expected a dict such as a line of a JSONL file, of {task.name}"
        )
    name = record.get("id")
    try:
        return task.record.model_validate({**record, "id": f"{task.name}-{number + 1:06d}" if name is None else name})
    except ValidationError as error:
        raise UserError(f"{where}{explain(error)}") from error


def prepare_record(loaded: "Loaded", record: Any, where: str = "") -> "Example":
    """Return the example of a record. Raises `UserError`; its message begins with `where`."""
    try:
        with translated_errors():  # the embedding model of a retriever can refuse as well
            return loaded.program.prepare(record)
    except LMUnavailable:
        raise
    except UserError as error:  # also where a record has pictures, and no folder for them is known
        raise UserError(f"{where}{in_python(error)}") from error


def to_verdict(task: "Task", record: Any, example: "Example", outcome: "Outcome") -> Verdict:
    """Return an outcome as the caller gets it."""

    evidence = _shown(task, record, example, outcome.answer)
    if outcome.failure is not None:
        return Verdict(example.id, None, outcome.failure, evidence=evidence)
    answer = task.prediction.line(outcome.answer)
    if not task.labels:
        return Verdict(example.id, answer, None, evidence=evidence)
    probabilities = tuple(
        dict(zip(task.labels, one.probabilities, strict=True)) if one.has_probabilities else None
        for one in outcome.judgements
    )
    labels = tuple(one.label for one in outcome.judgements)
    return Verdict(example.id, answer, None, labels, probabilities, evidence)


def _shown(task: "Task", record: Any, example: "Example", answer: Any) -> tuple[ShownEvidence, ...]:
    """The evidence of a record in the order of the prompt. The items of a bundle are read off the prompt, which has a
    line an item, led by its key in brackets, and the rows of a table below it."""
    from aisr.programs.text import ROW

    exhibits = task.exhibits(record, example, answer)
    if not task.labels or task.names_evidence:
        return tuple(ShownEvidence(one.key, tuple(one.text.split(ROW)), one.picture, one.chosen) for one in exhibits)
    evidence = task.evidence(example)
    if not evidence:
        return ()
    pictures = {one.key: one.picture for one in exhibits}
    items: list[tuple[str, list[str]]] = []
    for line in evidence.split("\n"):
        key, closed, text = line.removeprefix("[").partition("] ")
        if closed and line.startswith("[") and key in pictures:
            items.append((key, [text]))
        elif items:
            items[-1][1].append(line.strip().removeprefix(ROW.strip() + " "))
        else:
            items.append(("", [line]))
    return tuple(ShownEvidence(key, tuple(lines), pictures.get(key), 0) for key, lines in items)


@contextmanager
def translated_errors() -> Iterator[None]:
    """Errors that would meet every record alike, as `LMUnavailable` without keys."""
    from dspy.utils.exceptions import LMError

    try:
        yield
    except LMError as error:
        raise LMUnavailable(in_python(error)) from None
