"""What the error browser is made of: `records.json`, written beside a compiled program or an evaluation.

It holds task data (sentences, captions, paragraphs), which may not be redistributed: git ignores the
artifacts, and the MLflow run that logs them is the user's own.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from optimize.artifact import write_whole
from optimize.exhibits import Exhibit
from optimize.replay import Replayed
from optimize.tasks import Task
from programs.distribution import Judgement
from programs.records import explain

FILE = "records.json"
FORMAT = 1
MAX_BYTES = 512 * 2**20
Chance = Annotated[float, Field(ge=0, le=1)]


class NoRecords(ValueError):
    """A folder without a `records.json` of ours."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class About(_Strict):
    """What was judged by what. score and interval in 0-1; evidence: whether the task names evidence paragraphs."""

    format: int = Field(default=FORMAT, ge=FORMAT, le=FORMAT)
    task: str
    labels: list[str] = Field(min_length=1)
    evidence: bool
    title: str
    program: str
    lm: str
    data: str
    note: str = ""
    score: float
    interval: tuple[float, float]


class Statement(_Strict):
    """A sentence or claim: its gold labels, the first of them first; what was said; a probability a label."""

    text: str
    gold: list[str] = Field(min_length=1)
    said: str | None
    chances: list[Chance] = []


class Call(_Strict):
    """A call of the LM: role and text of each message, the text as its place in `Records.texts`; the raw answer, or
    None where there was none."""

    messages: list[tuple[str, int]]
    answer: str | None


class JudgedRecord(_Strict):
    """One record with all that there is to see of it. right: paragraph exact match or Joint@3."""

    id: str
    right: bool
    failure: str | None
    statements: list[Statement]
    exhibits: list[Exhibit]
    calls: list[Call]


class Records(_Strict):
    """The whole file. texts: the texts of all prompts, each once (instructions and demos repeat in every call)."""

    about: About
    texts: list[str]
    records: list[JudgedRecord]


def gather(task: Task, about: About, replayed: Sequence[Replayed]) -> Records:
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
        records.append(judged(task, one, calls))
    return Records(about=about, texts=list(place), records=records)


def judged(task: Task, one: Replayed, calls: list[Call]) -> JudgedRecord:
    """One record of the file, with calls that refer to the file's texts."""
    outcome, gold = one.outcome, one.example.gold
    allowed = task.allowed(gold)
    thought: list[Judgement | None] = [*outcome.judgements] or [None] * len(allowed)
    return JudgedRecord(
        id=one.record.id,
        right=bool(task.tally([gold], [outcome.answer]).exact[0]),
        failure=outcome.failure,
        statements=[
            Statement(
                text=text,
                gold=list(types),
                said=judged.label if judged else None,
                chances=[round(min(chance, 1.0), 4) for chance in judged.chances] if judged else [],
            )
            for text, types, judged in zip(task.statements(one.example), allowed, thought, strict=True)
        ],
        exhibits=task.exhibits(one.record, one.example, outcome.answer),
        calls=calls,
    )


def write(folder: Path, found: Records) -> None:
    """Write `records.json` into a folder."""
    write_whole(folder / FILE, found.model_dump_json() + "\n")


def read(folder: Path) -> Records:
    """The `records.json` of a folder. Raises `NoRecords` where there is none, or one that is not ours."""
    path = folder / FILE
    if not path.is_file():
        raise NoRecords(
            f"{folder}: no {FILE} in there; expected the folder of a compiled program, or the one that "
            "`aisr evaluate --output` wrote"
        )
    if path.stat().st_size > MAX_BYTES:
        raise NoRecords(f"{path}: larger than {MAX_BYTES >> 20} MiB; not a file that `aisr` wrote")
    try:
        found = Records.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise NoRecords(f"{path}: {explain(error)}") from error
    known = range(len(found.texts))
    if any(text not in known for one in found.records for call in one.calls for _, text in call.messages):
        raise NoRecords(
            f"{path}: a prompt refers to a text that is not there; the file was changed since it was written"
        )
    return found
