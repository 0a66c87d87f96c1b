"""What a compile and an evaluation write for people: `records.json`, every judged record with prompt and answer, and
the error browser, one HTML file with data, style and script that loads nothing.

No LM is asked again, see `aisr/judging/judge.py`. `records.json` holds task data (sentences, captions, paragraphs),
which may not be redistributed: git ignores the artifacts, and the MLflow run that logs them is the user's own.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aisr.artifact.manifest import REPORT, Score
from aisr.artifact.program import Loaded, load_program
from aisr.base.errors import UserError
from aisr.base.files import as_json, interval_ends, percent, read_json, write_whole
from aisr.base.jsonl import explain
from aisr.base.page import render_page
from aisr.judging.evaluate import Evaluation, Result, record_confidence, score_outcomes
from aisr.judging.judge import ReplayedRecord, replay
from aisr.lm.client import OpenLM
from aisr.metrics.scores import value
from aisr.optimize.target import Target
from aisr.programs.evidence import ShownEvidence
from aisr.programs.pictures import ImageFolder, small_copies
from aisr.programs.program import Program
from aisr.programs.records import SentenceRecord
from aisr.programs.task import Answer, Task

if TYPE_CHECKING:
    from aisr.optimize.run import Run

PAGE_FOLDER = Path(__file__).parent
REPORT_PAGE, RECORDS_FILE = "report.html", "records.json"
RECORDS_FORMAT = 4  # of the latter
MAX_RECORDS_BYTES = 512 * 2**20


# --- The records as the page has them

Chance = Annotated[float, Field(ge=0, le=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class TargetPanel(_Strict):
    """The set that will be ranked, beside the records that stand for it. All in words, as the page shows them."""

    ours: str  # what these records are
    weighted: str  # their score weighted to the target
    rows: list[tuple[str, str, str]] = []  # what is counted, and how much of it each set has; none of a stated mix
    remarks: list[str] = []  # how the texts differ, the mix, and how far a forecast can be trusted


class About(_Strict):
    """What was judged by what."""

    format: int = Field(default=RECORDS_FORMAT, ge=RECORDS_FORMAT, le=RECORDS_FORMAT)
    labels: list[str]  # none for a task without
    evidence: bool  # whether the task names evidence paragraphs
    title: str
    program: str
    lm: str
    data: str
    note: str = ""
    score: Score  # of the records below
    test: Score | None = None  # of a compile: on the split that chose nothing, whose records are not listed
    uncompiled: Score | None = None  # of the program before its compile, on the same split
    gain: tuple[float, float, float] | None = None  # over that one, with the ends of its 95 % interval
    target: TargetPanel | None = None


class Statement(_Strict):
    """A sentence or claim; of a task without labels the whole record."""

    text: str
    gold: list[str] = Field(min_length=1)  # the labels, the primary one first; or the gold answer in words
    said: str | None  # the predicted label, or the answer in words; None where the record failed
    chances: list[Chance] = []  # the probability of each label
    right: bool | None = None  # of a task without labels


class Call(_Strict):
    """A call of the LM."""

    messages: list[tuple[str, int]]  # role of each, and the place of its text in `JudgedRecords.texts`
    answer: str | None  # as it came; None where there was none


class JudgedRecord(_Strict):
    """One record with all that there is to see of it."""

    id: str
    right: bool  # paragraph exact match or Joint@3, or whatever else the task would show as a demo
    score: float | None = None  # its own, in 0-1, where the ranking score is no matter of labels
    confidence: Chance | None = None  # of the program in it, see `aisr.judging.evaluate`
    failure: str | None
    statements: list[Statement]
    context: str = ""  # the paragraph that the statements stand in, where it is more than these
    evidence: list[ShownEvidence]
    calls: list[Call]


class JudgedRecords(_Strict):
    """The whole file."""

    about: About
    texts: list[str]  # of all prompts, each once: instructions and demos repeat in every call
    records: list[JudgedRecord]


def gather(task: Task, about: About, replayed: Sequence[ReplayedRecord]) -> JudgedRecords:
    """Return the content of `records.json` for replayed records."""
    place: dict[str, int] = {}
    records = []
    for one in replayed:
        record = judged_record(task, one)
        for call in one.calls:
            messages = [(role, place.setdefault(text, len(place))) for role, text in call.messages]
            record.calls.append(Call(messages=messages, answer=call.answer))
        records.append(record)
    return JudgedRecords(about=about, texts=list(place), records=records)


def judged_record(task: Task, one: ReplayedRecord) -> JudgedRecord:
    """One record of the file, without its calls."""
    scores = task.score([one.case.gold], [one.outcome.answer])
    right, sure = bool(scores.right()[0]), record_confidence(task, one.outcome)
    return JudgedRecord(
        id=one.record.id,
        right=right,
        score=None if task.labels else value(scores),
        confidence=None if sure is None else _rounded(sure),
        failure=one.outcome.failure,
        statements=_labelled(task, one) if task.labels else [_whole(task, one, right)],
        context=_context(one.record),
        evidence=task.shown_evidence(one.record, one.case, one.outcome.answer),
        calls=[],
    )


def _rounded(chance: float) -> float:
    return round(min(chance, 1.0), 4)


def _context(record: Any) -> str:
    """Return the paragraph that the statements of a record stand in; empty where these are all of it."""
    if not isinstance(record, SentenceRecord):
        return ""
    return "" if record.context.split() == " ".join(record.statements).split() else record.context


def _labelled(task: Task, one: ReplayedRecord) -> list[Statement]:
    allowed = task.gold_labels(one.case.gold)
    statements = [
        Statement(text=text, gold=list(labels), said=None)
        for text, labels in zip(task.statements(one.case.example), allowed, strict=True)
    ]
    for statement, judgement in zip(statements, one.outcome.judgements, strict=False):  # none of a failed record
        statement.said = judgement.label
        if judgement.has_probabilities:
            statement.chances = [_rounded(chance) for chance in judgement.probabilities]
    return statements


def _whole(task: Task, one: ReplayedRecord, right: bool) -> Statement:
    answer = one.outcome.answer
    said = None if answer is None else _in_words(task, answer)
    return Statement(text=task.text(one.record), gold=[_in_words(task, one.case.gold)], said=said, right=right)


def _in_words(task: Task, answer: Answer) -> str:
    """Return what a predictions file says of a record, its values alone."""
    values = task.prediction.line(answer).values()
    return "; ".join(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in values)


def read_judged(folder: Path) -> JudgedRecords:
    """Return the `records.json` of a folder. Raises UserError where there is none, or one that is not ours."""
    path = folder / RECORDS_FILE
    if not path.is_file():
        raise UserError(
            f"{folder}: no {RECORDS_FILE} in there; expected the folder of a compiled program, or the one that "
            "`aisr evaluate --output` wrote"
        )
    try:
        return JudgedRecords.model_validate(read_json(path, MAX_RECORDS_BYTES))
    except ValidationError as error:
        raise UserError(f"{path}: {explain(error)}") from error


# --- Writing it, from a compile or an evaluation


class CompileReport(NamedTuple):
    """The champion as it was saved, and the records of dev that it judged, replayed."""

    program: Program
    dev: list[ReplayedRecord]


def write_compile_report(run: "Run") -> CompileReport:
    """Write the champion as it was saved, record by record on dev, into the artifact's folder.

    Test records are never listed one by one: whoever read them would choose by them.
    """
    plan, task, champion, test = run.plan, run.plan.task, run.choice.champion, run.test
    loaded = load_program(run.folder, task)
    program = loaded.program
    program.copy_context(champion.program)
    dev = replay(task, program, plan.data["dev"], run.lm, plan.limits.get("dev"), champion.dev.failures)
    result = score_outcomes(task, run.cases["dev"], [one.outcome for one in dev])
    about = _about(f"{task.name} · {plan.name}", loaded, run.lm, plan.data["dev"].name, result)
    if test is None:
        about.note = f"The program was chosen on these records: expect less elsewhere. {about.note}".strip()
    else:
        about.test = test.summary()
        about.uncompiled = run.baseline_test.summary() if run.baseline_test else None
        about.gain = run.gain_on_test
    about.target = _target_panel("dev and test", run.target, result)
    _write_records(run.folder, gather(task, about, dev), plan.image_folder)
    return CompileReport(program, dev)


def write_evaluation_report(
    done: Evaluation, replayed: Sequence[ReplayedRecord], folder: Path, target: Target | None = None
) -> None:
    """Write the scores, every record of an evaluation, and the page into a folder."""
    task = done.loaded.task
    write_whole(folder / REPORT, as_json(done.result.report()))
    about = _about(f"{task.name} · {done.program}", done.loaded, done.lm, done.data.name, done.result)
    about.target = _target_panel("these records", target, done.result)
    _write_records(folder, gather(task, about, replayed), done.loaded.program.image_folder)


def _target_panel(ours: str, target: Target | None, result: Result) -> TargetPanel | None:
    if target is None or result.at_target is None:
        return None
    panel = TargetPanel(ours=ours, weighted=str(result.at_target))
    if target.comparison:
        panel.rows = target.comparison.rows()
        panel.remarks.append(target.comparison.texts())
    if target.mix:
        panel.remarks.append(str(target.mix))
    panel.remarks += target.warnings()
    return panel


def _about(title: str, loaded: Loaded, lm: OpenLM, data: str, result: Result) -> About:
    baseline = [f"Word counts and no LM, on the records below: {result.no_lm.interval}."] if result.no_lm else []
    return About(
        labels=list(loaded.task.labels),
        evidence=loaded.task.names_evidence,
        title=title,
        program=loaded.digest,
        lm=lm.spec,
        data=data,
        note=" ".join([*(f"{remark}." for remark in result.score.remarks), *baseline]),
        score=result.summary(),
    )


def _write_records(folder: Path, content: JudgedRecords, image_folder: ImageFolder | None) -> None:
    write_whole(folder / RECORDS_FILE, content.model_dump_json() + "\n")
    write_whole(folder / REPORT_PAGE, render(content, image_folder))


def rewrite(folder: Path, image_root: Path | None) -> str:
    """Write the page of a folder again from its records, and return its path with what it holds, in words. image_root:
    where the picture paths of the records start; None: captions stand in. Raises UserError where there are no records,
    and where pictures of the page before would be lost."""
    judged, page = read_judged(folder), folder / REPORT_PAGE
    if image_root is None and page.is_file() and b"data:image/webp;base64," in page.read_bytes():
        raise UserError(
            f"{page} shows pictures, which would be lost; give --image-root FOLDER, or remove the page first"
        )
    write_whole(page, render(judged, ImageFolder(image_root) if image_root else None))
    return f"{page}: {len(judged.records)} records, {page.stat().st_size / 2**20:.1f} MiB"


# --- The page


def render(content: JudgedRecords, image_folder: ImageFolder | None = None) -> str:
    """Return the page. Its policy admits its own script, its style and inlined pictures, and no network.

    image_folder: where the pictures are; None: their captions and paths are shown.
    """
    fields = content.model_dump(mode="json")
    texts = fields.pop("texts")
    paths = {piece.picture for one in content.records for piece in one.evidence if piece.picture}
    pictures = small_copies(image_folder, paths) if image_folder else {}
    return render_page(
        PAGE_FOLDER / "page.html",
        PAGE_FOLDER / "page.css",
        (PAGE_FOLDER / "record.js", PAGE_FOLDER / "page.js"),
        about=content.about,
        data={"records": fields, "texts": texts, "pictures": pictures},
        percent=percent,
        interval_ends=interval_ends,
    )
