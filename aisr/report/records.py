"""The error browser's data, and all that a compile and an evaluation write for people: `records.json`, the page that
shows it. No LM is asked again, see `aisr/predict/replay.py`.

`records.json` holds task data (sentences, captions, paragraphs), which may not be redistributed: git ignores the
artifacts, and the MLflow run that logs them is the user's own.
"""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aisr.artifact.program import Loaded, load_program
from aisr.base.errors import UserError
from aisr.base.files import as_json, read_json, write_whole
from aisr.base.jsonl import explain
from aisr.lm.client import OpenLM
from aisr.metrics.scores import value
from aisr.predict.evaluate import Evaluation, Result, record_confidence, score_outcomes
from aisr.predict.replay import ReplayedRecord, replay
from aisr.programs.pictures import BadPicture, ImageFolder, decode
from aisr.programs.probabilities import Judgement
from aisr.programs.program import Program
from aisr.programs.records import SentenceRecord
from aisr.programs.task import Exhibit, Task
from aisr.report import page

if TYPE_CHECKING:
    from aisr.optimize.run import Plan, Run

# --- Small copies of the pictures that records name; `aisr.programs.pictures` checks their paths and files.

LONGEST = 480  # pixels of the longer side
QUALITY = 60


class Thumbnails:
    """Pictures below a root folder; whatever lies outside of it, is too large or is no picture is None."""

    def __init__(self, root: Path) -> None:
        self.image_folder = ImageFolder(root)

    def __call__(self, path: str) -> bytes | None:
        """A WebP of at most 480 pixels a side, without the metadata of the original."""
        try:
            small = decode(str(self.image_folder.find(path)))
        except BadPicture:
            return None
        small.thumbnail((LONGEST, LONGEST))
        out = io.BytesIO()
        small.save(out, "WEBP", quality=QUALITY, method=2)  # half the time of the default, and 4 % more bytes
        return out.getvalue()


FILE = "records.json"
FORMAT = 1
MAX_BYTES = 512 * 2**20
Chance = Annotated[float, Field(ge=0, le=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Score(_Strict):
    """A ranking score with its interval, in 0-1, and the number of records."""

    score: float
    low: float
    high: float
    records: int


class About(_Strict):
    """What was judged by what. labels: empty for a task that has none; evidence: whether the task names evidence
    paragraphs; score and interval in 0-1."""

    format: int = Field(default=FORMAT, ge=FORMAT, le=FORMAT)
    task: str
    labels: list[str]
    evidence: bool
    title: str
    program: str
    lm: str
    data: str
    note: str = ""
    score: float
    interval: tuple[float, float]
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


def write(folder: Path, content: Records) -> None:
    """Write `records.json` into a folder."""
    write_whole(folder / FILE, content.model_dump_json() + "\n")


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


# --- What a compile and an evaluation write.

REPORT = "report.json"


class CompileReport(NamedTuple):
    """The champion as it was saved, and the records that it judged, replayed."""

    program: Program
    dev: list[ReplayedRecord]
    scored: list[ReplayedRecord]  # of test, or of dev where there is no test split


def write_compile_report(plan: "Plan", made: "Run", lm: OpenLM) -> CompileReport:
    """Into the artifact's folder: the champion as it was saved, record by record on dev.

    Test records are never listed one by one: whoever read them would choose by them.
    """
    task, choice, test = plan.task, made.choice, made.test
    loaded = load_program(made.folder, task)
    loaded.program.copy_context(choice.champion.program)
    dev = replay(task, loaded.program, plan.data["dev"], lm, plan.limits.get("dev"), choice.champion.dev.failures)
    title, data = f"{task.name} · {plan.name}", plan.data["dev"].name
    about = _about(task, title, loaded, lm, data, dev, choice.champion.dev.no_lm)
    if test is None:
        about.note = f"The program was chosen on these records: expect less elsewhere. {about.note}".strip()
    else:
        score, low, high = test.champion.interval
        about.test = Score(score=score, low=low, high=high, records=len(test.champion.scores))
    _write_records(made.folder, task, about, dev, plan.image_folder)
    if test is None:
        return CompileReport(loaded.program, dev, dev)
    failures = test.champion.failures
    scored = replay(task, loaded.program, plan.data["test"], lm, plan.limits.get("test"), failures)
    return CompileReport(loaded.program, dev, scored)


def write_evaluation_report(
    done: Evaluation, replayed: Sequence[ReplayedRecord], folder: Path, image_folder: ImageFolder | None
) -> None:
    """Into a folder: the scores, every record of an evaluation, and the page."""
    task = done.loaded.task
    write_whole(folder / REPORT, as_json(done.result.report()))
    title, no_lm = f"{task.name} · {done.program}", done.result.no_lm
    about = _about(task, title, done.loaded, done.lm, done.data.name, replayed, no_lm)
    _write_records(folder, task, about, replayed, image_folder)


def _about(
    task: Task,
    title: str,
    loaded: Loaded,
    lm: OpenLM,
    data: str,
    replayed: Sequence[ReplayedRecord],
    no_lm: Result | None,
) -> About:
    result = score_outcomes(task, [one.example for one in replayed], [one.outcome for one in replayed])
    baseline = [f"No-LM baseline: {no_lm.interval}."] if no_lm else []
    note = " ".join([*(f"{remark}." for remark in result.score.remarks), *baseline])
    return About(
        task=task.name,
        labels=list(task.labels),
        evidence=task.names_evidence,
        title=title,
        program=loaded.digest,
        lm=lm.spec,
        data=data,
        note=note,
        score=result.score.score,
        interval=(result.interval.low, result.interval.high),
        label_weights=loaded.program.label_weights is not None,
    )


def _write_records(
    folder: Path, task: Task, about: About, replayed: Sequence[ReplayedRecord], image_folder: ImageFolder | None
) -> None:
    content = gather(task, about, replayed)
    write(folder, content)
    page.write(folder, content, Thumbnails(image_folder.root) if image_folder else page.no_picture)
