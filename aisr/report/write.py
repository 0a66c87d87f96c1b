"""What a compile and an evaluation leave for people: records.json, the page that shows it, and figures.

Nothing is asked again: see `aisr/inference/replay.py`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aisr.artifact import folder as artifact_folder
from aisr.base.files import as_json, write_whole
from aisr.base.text import percent
from aisr.inference.confidence import held
from aisr.inference.embeddings import attach_embeddings
from aisr.inference.evaluate import Result, result
from aisr.inference.images import attach_gallery
from aisr.inference.replay import Replayed, replay
from aisr.lm.client import OpenLM
from aisr.optimize.datasets.apart import as_before
from aisr.optimize.experiment.evaluation import Evaluation
from aisr.optimize.search.champion import Contender
from aisr.optimize.search.record_cost import tokens_a_record
from aisr.programs.asking.label_probabilities import SOURCES, Judgement
from aisr.programs.vision.images import Gallery
from aisr.report import figures, page, records
from aisr.report.figures import Tried
from aisr.report.records import About
from aisr.report.thumbnails import Thumbnails
from aisr.tasks.task import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aisr.optimize.experiment.compile import Made
    from aisr.optimize.experiment.plan import Plan

FIGURES = "figures"
REPORT = "report.json"
SAMPLE = 20  # records whose prompts are rendered to measure what a candidate costs


def of_compile(plan: "Plan", made: "Made", lm: OpenLM) -> list[Replayed]:
    """Into the artifact's folder: the champion as it was saved, record by record on dev, and the figures of the search.

    Test records are never shown one by one: whoever read them would choose by them. Figures of the champion are drawn
    from test as a whole where there is one. Returns the records of dev.
    """
    task, choice, test = plan.task, made.choice, made.test
    loaded = artifact_folder.load(made.folder)
    as_before(choice.champion.program, attach_gallery(loaded.program, plan.gallery))
    dev = replay(task, loaded.program, plan.data["dev"], lm, plan.limits.get("dev"), choice.champion.dev.failures)
    about = _about(task, f"{task.name} · {plan.name}", loaded.digest, lm, plan.data["dev"].name, dev, _honest(test))
    _write(made.folder, task, about, dev, plan.gallery)
    tried = _tried(choice.contenders, dev, lm, plan.gallery)
    drawn = {
        "search": figures.search_curve(tried, f"{task.name}: the search"),
        "cost": figures.score_by_cost(tried, choice.champion.name, f"{task.name}: score and cost of all candidates"),
    }
    if test is None:
        split, shown, after = "dev", dev, _scored(task, dev)
        before: Result | None = choice.contenders[0].dev
    else:
        split, after, before = "test", test.champion, test.baseline
        shown = replay(task, loaded.program, plan.data["test"], lm, plan.limits.get("test"), after.failures)
    if before is not None and before.score.per_label:
        names = (choice.contenders[0].name, choice.champion.name)
        names = names if names[0] != names[1] else (names[0], f"{names[1]} with decision layer")
        drawn["f1"] = figures.f1_by_label(_f1(before), _f1(after), names, f"{task.name}: F1 by label on {split}")
    figures.write(made.folder / FIGURES, drawn | _judgements(task, shown, f"{task.name} on {split}"))
    return dev


def of_evaluation(done: Evaluation, told: Sequence[Replayed], folder: Path, gallery: Gallery | None) -> None:
    """Into a folder: the scores, every record of an evaluation, the page, and the figures of its judgements."""
    task, digest = done.loaded.task, done.loaded.digest
    write_whole(folder / REPORT, as_json(done.report()))
    about = _about(task, f"{task.name} · {done.program}", digest, done.lm, done.data.name, told, "")
    _write(folder, task, about, told, gallery)
    figures.write(folder / FIGURES, _judgements(task, told, f"{task.name} on {done.data.name}"))


def _about(task: Task, title: str, digest: str, lm: OpenLM, data: str, told: Sequence[Replayed], note: str) -> About:
    found = _scored(task, told)
    floor = [f"Without any LM: {found.floor.interval}."] if found.floor else []
    note = " ".join([note, *(f"{remark}." for remark in found.score.remarks), *floor]).strip()
    return About(
        task=task.name,
        labels=list(task.judgements.labels) if task.judgements else [],
        evidence=task.judgements is not None and task.judgements.evidence_right is not None,
        most=task.correctable.most if task.correctable else 0,
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


def _write(folder: Path, task: Task, about: About, told: Sequence[Replayed], gallery: Gallery | None) -> None:
    found = records.gather(task, about, told)
    records.write(folder, found)
    page.write(folder, found, Thumbnails(gallery.root) if gallery else page.no_picture)


def _scored(task: Task, told: Sequence[Replayed]) -> Result:
    return result(task, [one.example for one in told], [one.outcome for one in told])


def _f1(found: Result) -> dict[str, float]:
    return {label: part.f1 for label, part in found.score.per_label.items()}


def _tried(
    contenders: Sequence[Contender], dev: Sequence[Replayed], lm: OpenLM, gallery: Gallery | None
) -> list[Tried]:
    tried = []
    for one in contenders:
        program = attach_embeddings(attach_gallery(one.program, gallery), lm.embeddings.kept())
        sample = [program.prepare(told.record) for told in dev[:SAMPLE]]
        tokens = tokens_a_record(one.program, sample, lm)
        tried.append(Tried(one.name, one.dev.interval, one.calls, tokens, one.finished, len(one.dev.scores)))
    return tried


def _judgements(task: Task, told: Sequence[Replayed], title: str) -> "dict[str, Figure]":
    """Confusion matrix, and a reliability diagram for each source of probabilities; neither for a task without
    labels."""
    if task.judgements is None:
        return _retrieval(told, title)
    labels = task.judgements.labels
    gold: list[str] = []
    said: list[str | None] = []
    for one in told:
        allowed = task.judgements.allowed(one.example.gold)
        thought: list[Judgement | None] = [*one.outcome.judgements] or [None] * len(allowed)
        for types, judged in zip(allowed, thought, strict=True):
            label = judged.label if judged else None
            gold.append(label if label and label in types else types[0])  # as the official evaluator counts it
            said.append(label)
    drawn = {"confusion": figures.confusion(gold, said, labels, title)}
    sources = held(task, ((one.example, one.outcome) for one in told))
    for source, found in sources.items():
        # A program with a few votes of a layer, or a few labels without a statement, has more than one.
        name = "reliability" if len(sources) == 1 else f"reliability-{source}"
        drawn[name] = figures.reliability_diagram(found.sure, found.right, f"{title}, {SOURCES[source]}")
    return drawn | _retrieval(told, title)


def _retrieval(told: Sequence[Replayed], title: str) -> "dict[str, Figure]":
    """How early the gold evidence comes, where there is some: as the program's retriever puts the paragraphs in order,
    and as its LM does where it reranks them."""
    found = [one for one in told if one.example.get("gold_rank")]
    if not found:
        return {}
    curves: dict[str, Sequence[int | None]] = {"retriever": [one.example.gold_rank for one in found]}
    if any("paper" in one.example for one in found):
        curves["reranked"] = [_rank(one.outcome.ranking, one.example.gold.evidence_para_ids) for one in found]
    return {"recall": figures.recall_curve(curves, title)}


def _rank(ranking: Sequence[str], gold: Sequence[str]) -> int | None:
    """That of the best gold paragraph, from 1; None where the record failed before its paragraphs were ranked."""
    return min((ranking.index(key) + 1 for key in gold if key in ranking), default=None)
