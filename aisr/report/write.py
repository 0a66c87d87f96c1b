"""What a compile and an evaluation leave for people: records.json, the page that shows it, and figures.

Nothing is asked again: see `aisr/predict/replay.py`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aisr.artifact.program import load_program
from aisr.base.files import as_json, percent, write_whole
from aisr.lm.client import OpenLM
from aisr.predict.evaluate import Evaluation, Result, score_outcomes
from aisr.predict.prepare import attach_gallery
from aisr.predict.replay import ReplayedRecord, replay
from aisr.programs.images import Gallery
from aisr.programs.probabilities import Judgement
from aisr.programs.task import LabelTask, Task
from aisr.report import figures, page, records
from aisr.report.figures import Tried
from aisr.report.records import About, Thumbnails

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aisr.optimize.run import Plan, Run

FIGURES = "figures"
REPORT = "report.json"
SAMPLE = 20  # records whose prompts are rendered to measure what a candidate costs


def of_compile(plan: "Plan", made: "Run", lm: OpenLM) -> list[ReplayedRecord]:
    """Into the artifact's folder: the champion as it was saved, record by record on dev, and the figures of the search.

    Test records are never shown one by one: whoever read them would choose by them. Figures of the champion are drawn
    from test as a whole where there is one. Returns the records of dev.
    """
    task, choice, test = plan.task, made.choice, made.test
    loaded = load_program(made.folder)
    loaded.program.copy_context(choice.champion.program)
    attach_gallery(loaded.program, plan.gallery)
    dev = replay(task, loaded.program, plan.data["dev"], lm, plan.limits.get("dev"), choice.champion.dev.failures)
    about = _about(task, f"{task.name} · {plan.name}", loaded.digest, lm, plan.data["dev"].name, dev, _honest(test))
    _write(made.folder, task, about, dev, plan.gallery)
    tried = [
        Tried(one.name, one.dev.interval, one.calls, one.finished, len(one.dev.scores)) for one in choice.contenders
    ]
    drawn = {"search": figures.search_curve(tried, f"{task.name}: the search")}
    split, shown = "dev", dev
    if test is not None:
        split, failures = "test", test.champion.failures
        shown = replay(task, loaded.program, plan.data["test"], lm, plan.limits.get("test"), failures)
    figures.write(made.folder / FIGURES, drawn | _confusion(task, shown, f"{task.name} on {split}"))
    return dev


def of_evaluation(done: Evaluation, told: Sequence[ReplayedRecord], folder: Path, gallery: Gallery | None) -> None:
    """Into a folder: the scores, every record of an evaluation, the page, and its confusion matrix."""
    task, digest = done.loaded.task, done.loaded.digest
    write_whole(folder / REPORT, as_json(done.report()))
    about = _about(task, f"{task.name} · {done.program}", digest, done.lm, done.data.name, told, "")
    _write(folder, task, about, told, gallery)
    figures.write(folder / FIGURES, _confusion(task, told, f"{task.name} on {done.data.name}"))


def _about(
    task: Task, title: str, digest: str, lm: OpenLM, data: str, told: Sequence[ReplayedRecord], note: str
) -> About:
    found = _scored(task, told)
    no_lm = [f"Without any LM: {found.no_lm.interval}."] if found.no_lm else []
    note = " ".join([note, *(f"{remark}." for remark in found.score.remarks), *no_lm]).strip()
    return About(
        task=task.name,
        labels=list(task.labels) if isinstance(task, LabelTask) else [],
        evidence=isinstance(task, LabelTask) and task.names_evidence,
        most=task.record.max_evidence,
        title=title,
        program=digest,
        lm=lm.spec,
        data=data,
        note=note,
        score=found.score.score,
        interval=(found.interval.low, found.interval.high),
    )


def _honest(test: Any) -> str:
    chosen = "The program was chosen on these records and its decision layer fitted on them: expect less elsewhere."
    if test is None:
        return chosen
    found = test.champion.interval
    low, high = percent(found.low), percent(found.high)
    return f"{chosen} On the held-out test split: {percent(found.value)} [{low}, {high}]."


def _write(folder: Path, task: Task, about: About, told: Sequence[ReplayedRecord], gallery: Gallery | None) -> None:
    found = records.gather(task, about, told)
    records.write(folder, found)
    page.write(folder, found, Thumbnails(gallery.root) if gallery else page.no_picture)


def _scored(task: Task, told: Sequence[ReplayedRecord]) -> Result:
    return score_outcomes(task, [one.example for one in told], [one.outcome for one in told])


def _confusion(task: Task, told: Sequence[ReplayedRecord], title: str) -> "dict[str, Figure]":
    """The confusion matrix; nothing for a task without labels."""
    if not isinstance(task, LabelTask):
        return {}
    gold: list[str] = []
    said: list[str | None] = []
    for one in told:
        allowed = task.gold_labels(one.example.gold)
        thought: list[Judgement | None] = [*one.outcome.judgements] or [None] * len(allowed)
        for types, judged in zip(allowed, thought, strict=True):
            label = judged.label if judged else None
            gold.append(label if label and label in types else types[0])  # as the official evaluator counts it
            said.append(label)
    return {"confusion": figures.confusion(gold, said, task.labels, title)}
