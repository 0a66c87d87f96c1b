"""The error browser's data, `records.json`: every judged record of a compile or an evaluation. No LM is asked again,
see `aisr/predict/replay.py`.

It holds task data (sentences, captions, paragraphs), which may not be redistributed: git ignores the artifacts, and the
MLflow run that logs them is the user's own.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aisr.base.errors import UserError
from aisr.base.files import read_json
from aisr.base.jsonl import explain
from aisr.metrics.scores import value
from aisr.predict.evaluate import Result, record_confidence
from aisr.predict.replay import ReplayedRecord
from aisr.programs.probabilities import Judgement
from aisr.programs.records import SentenceRecord
from aisr.programs.task import Exhibit, Task

FILE = "records.json"
FORMAT = 2
MAX_BYTES = 512 * 2**20
Chance = Annotated[float, Field(ge=0, le=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Score(_Strict):
    """A ranking score with the ends of its interval, in 0-1, and the number of records."""

    score: float
    low: float
    high: float
    records: int

    @classmethod
    def of(cls, result: Result) -> "Score":
        """From the scores of a program."""
        score, low, high = result.interval
        return cls(score=score, low=low, high=high, records=len(result.scores))


class About(_Strict):
    """What was judged by what."""

    format: int = Field(default=FORMAT, ge=FORMAT, le=FORMAT)
    labels: list[str]  # none for a task without
    evidence: bool  # whether the task names evidence paragraphs
    title: str
    program: str
    lm: str
    data: str
    note: str = ""
    score: Score  # of the records below
    label_weights: bool = False  # whether the program has some
    test: Score | None = None  # of a compile: on the split that chose nothing, whose records are not listed


class Statement(_Strict):
    """A sentence or claim: its gold labels, the first of them first; what was said; a probability a label. Of a task
    without labels the whole record: gold and answer in words, and whether that is right."""

    text: str
    gold: list[str] = Field(min_length=1)
    said: str | None
    chances: list[Chance] = []
    right: bool | None = None


class Call(_Strict):
    """A call of the LM: role and text of each message, the text as its place in `Records.texts`; the raw answer, or
    None where there was none."""

    messages: list[tuple[str, int]]
    answer: str | None


class JudgedRecord(_Strict):
    """One record with all that there is to see of it. right: paragraph exact match or Joint@3, or whatever else the
    task would show as a demo; score: its own, in 0-1, where the ranking score is no matter of labels; confidence: how
    sure the program is of it, in 0-1 (see `aisr.predict.evaluate`); context: the paragraph that the statements stand
    in, where it is more than these."""

    id: str
    right: bool
    score: float | None = None
    confidence: Chance | None = None
    failure: str | None
    statements: list[Statement]
    context: str = ""
    exhibits: list[Exhibit]
    calls: list[Call]


class Records(_Strict):
    """The whole file. texts: the texts of all prompts, each once (instructions and demos repeat in every call)."""

    about: About
    texts: list[str]
    records: list[JudgedRecord]


def gather(task: Task, about: About, replayed: Sequence[ReplayedRecord]) -> Records:
    """The file for replayed records."""
    place: dict[str, int] = {}
    records = []
    for one in replayed:
        calls = [
            Call(
                messages=[(role, place.setdefault(text, len(place))) for role, text in call.messages],
                answer=call.answer,
            )
            for call in one.calls
        ]
        records.append(judged_record(task, one, calls))
    return Records(about=about, texts=list(place), records=records)


def judged_record(task: Task, one: ReplayedRecord, calls: list[Call]) -> JudgedRecord:
    """One record of the file, with calls that refer to the file's texts."""
    scores = task.score([one.example.gold], [one.outcome.answer])
    right = bool(scores.right()[0])
    return JudgedRecord(
        id=one.record.id,
        right=right,
        score=None if task.labels else value(scores),
        confidence=None if (sure := record_confidence(task, one.outcome)) is None else round(min(sure, 1.0), 4),
        failure=one.outcome.failure,
        statements=_labelled(task, one) if task.labels else [_whole(task, one, right)],
        context=_context(one.record),
        exhibits=task.exhibits(one.record, one.example, one.outcome.answer),
        calls=calls,
    )


def _context(record: Any) -> str:
    """The paragraph that the statements of a record stand in; empty where these are all of it."""
    if not isinstance(record, SentenceRecord):
        return ""
    return "" if record.context.split() == " ".join(record.statements).split() else record.context


def _labelled(task: Task, one: ReplayedRecord) -> list[Statement]:
    allowed = task.gold_labels(one.example.gold)
    judgements: list[Judgement | None] = [*one.outcome.judgements] or [None] * len(allowed)
    return [
        Statement(
            text=text,
            gold=list(types),
            said=judged.label if judged else None,
            chances=[round(min(chance, 1.0), 4) for chance in judged.probabilities]
            if judged and judged.has_probabilities
            else [],
        )
        for text, types, judged in zip(task.statements(one.example), allowed, judgements, strict=True)
    ]


def _whole(task: Task, one: ReplayedRecord, right: bool) -> Statement:
    answer = one.outcome.answer
    predicted = None if answer is None else _in_words(task.prediction.line(answer))
    gold = _in_words(task.prediction.line(one.example.gold))
    return Statement(text=task.text(one.record), gold=[gold], said=predicted, right=right)


def _in_words(line: dict[str, Any]) -> str:
    """What a predictions file says of a record, its values alone."""
    return "; ".join(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in line.values()
    )


def read(folder: Path) -> Records:
    """The `records.json` of a folder. Raises UserError where there is none, or one that is not ours."""
    path = folder / FILE
    if not path.is_file():
        raise UserError(
            f"{folder}: no {FILE} in there; expected the folder of a compiled program, or the one that "
            "`aisr evaluate --output` wrote"
        )
    if path.stat().st_size > MAX_BYTES:
        raise UserError(f"{path}: larger than {MAX_BYTES >> 20} MiB; not a file that `aisr` wrote")
    try:
        return Records.model_validate(read_json(path))
    except ValidationError as error:
        raise UserError(f"{path}: {explain(error)}") from error
