"""One compile, from examples to a saved artifact: baseline, optimizer, champion, test, manifest."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import dspy
from dspy.utils.exceptions import LMBillingError

from metrics.confidence import difference_interval
from optimize import artifact, digests, prompt
from optimize.artifact import Loaded
from optimize.champion import Choice, Contender, Result, Tested, choose, measure
from optimize.decide import Fitted, fit
from optimize.ensembling import beside_members, ensemble
from optimize.estimate import Estimate, Sizes, estimate, total
from optimize.judging import judge_all
from optimize.labelled import Labelled, examples, labelled, with_planted
from optimize.lm import OpenLM
from optimize.manifest import manifest, report
from optimize.objective import Objective, objective
from optimize.opinions import models, opinions, seen_by
from optimize.optimizers import Candidate, Compilation, Settings, compile_candidates
from optimize.pictures import check_sees, hang
from optimize.tasks import Task
from programs.ensemble import Ensemble
from programs.pictures import Gallery


@dataclass(frozen=True)
class Plan:
    """What to compile, with which optimizer, on which files."""

    task: Task
    name: str
    optimizers: list[str]  # run one after the other, each from the champion so far
    settings: Settings
    options: dict[str, Any]
    data: dict[str, Path]  # split -> file; train and dev, and test where there is one
    limits: dict[str, int | None]  # split -> most records to take
    command: str
    planted: int = 0  # how many records with a planted edit to add to train
    density: int = 1  # most planted edits in one of them
    decide: bool = True  # fit a decision layer
    members: Mapping[str, Loaded] = field(default_factory=dict)  # to make an ensemble of, instead of optimizing
    gallery: Gallery | None = None  # where the records' pictures are


@dataclass(frozen=True)
class Watcher:
    """What to call as a compile goes on: a stage began, a record was judged, a contender was scored."""

    stage: Callable[[str], None]
    judged: Callable[[], None]
    scored: Callable[[Contender], None]


@dataclass(frozen=True)
class Made:
    """A finished compile."""

    folder: Path
    manifest: dict[str, Any]
    choice: Choice
    fitted: Fitted | None
    test: Tested | None


def compile_program(plan: Plan, lm: OpenLM, teacher: OpenLM, root: Path, watcher: Watcher) -> Made:
    """Compile, choose the champion by the official score on dev, fit its decision layer on train and dev, score it on
    test, and save the artifact.

    Raises ValueError where a split has no labelled records, and `BadLine` for a bad record.
    """
    began = time.monotonic()
    student = _student(plan)
    check_sees(student, lm)
    watcher.stage("reading the records")
    rows = {name: _read(plan, name, student) for name in plan.data}
    splits = {name: examples(found) for name, found in rows.items()}
    folder = root / plan.task.name / plan.name
    _claim(folder, plan, lm, teacher, student)
    if isinstance(student, Ensemble):
        choice = _beside(plan, student, splits["dev"], lm, watcher)
    else:
        choice = _search(plan, student, splits["train"], splits["dev"], lm, teacher, watcher)
    champion = _again(plan, choice.champion.program)
    fitted = _decision_layer(plan, champion, [*rows["train"], *rows["dev"]], lm, watcher) if plan.decide else None
    if fitted:
        champion.decision = fitted.decision
        champion = _again(plan, champion)
    test = _test(plan, choice, champion, splits["test"], lm, watcher) if "test" in splits else None
    text = artifact.program_text(plan.task, champion)
    sizes = {name: len(found) for name, found in splits.items()}
    made = manifest(
        plan, lm, teacher, choice, fitted, test, champion, digests.of_text(text), sizes, time.monotonic() - began
    )
    artifact.save(
        folder,
        {
            "program.json": text,
            "manifest.json": artifact.as_json(made),
            "report.json": artifact.as_json(report(choice, test)),
            "PROMPT.md": prompt.as_markdown(f"{plan.task.name} · {plan.name}", plan.task, champion),
        },
    )
    artifact.write_index(root)
    return Made(folder, made, choice, fitted, test)


def _search(
    plan: Plan,
    student: dspy.Module,
    train: Sequence[dspy.Example],
    dev: Sequence[dspy.Example],
    lm: OpenLM,
    teacher: OpenLM,
    watcher: Watcher,
) -> Choice:
    """The champion of the last optimizer, after each has started from the champion so far."""
    _check_alive(plan, student, dev, lm, watcher)
    known = lm.ledger.spend.asked
    candidates = [Candidate("uncompiled", student)]
    target = _baseline(plan, student, train, lm, watcher)
    champion = student
    for optimizer in plan.optimizers:
        watcher.stage(f"{optimizer}: looking for better programs")
        work = Compilation(plan.task, champion, train, dev, target, plan.settings, lm, teacher, watcher.stage)
        candidates = compile_candidates(optimizer, work, candidates)
        watcher.stage(f"champion: {len(candidates)} candidates on {len(dev)} records of dev")
        choice = choose(plan.task, candidates, dev, lm, watcher.scored)
        champion = _again(plan, choice.champion.program)
    first, *rest = choice.contenders
    return replace(choice, contenders=[replace(first, calls=known), *rest])  # it was scored before the search began


def _beside(plan: Plan, student: Ensemble, dev: Sequence[dspy.Example], lm: OpenLM, watcher: Watcher) -> Choice:
    watcher.stage(f"{len(plan.members)} members on {len(dev)} records of dev")
    try:
        return beside_members(plan.task, student, plan.members, dev, lm, watcher.scored)
    except LMBillingError as error:
        if lm.ledger.spent_out() is None:
            raise
        raise ValueError(f"{error}; not all members could be scored on dev, nothing is saved") from error


def _check_alive(plan: Plan, student: dspy.Module, dev: Sequence[dspy.Example], lm: OpenLM, watcher: Watcher) -> None:
    """Judge dev with the uncompiled program first: every later end then has a champion, and a dead server or a budget
    that is too small shows itself before anything is saved. Raises ValueError for both."""
    watcher.stage(f"uncompiled program on {len(dev)} records of dev")
    try:
        found = measure(plan.task, student, dev, lm, watcher.judged)
    except LMBillingError as error:
        if lm.ledger.spent_out() is None:
            raise
        raise ValueError(
            f"{error}; not even the uncompiled program could be scored on dev, nothing is saved"
        ) from error
    if len(found.failures) == len(dev):
        raise ValueError(f"every record of dev failed, the first with: {next(iter(found.failures.values()))}")


def _baseline(
    plan: Plan, student: dspy.Module, train: Sequence[dspy.Example], lm: OpenLM, watcher: Watcher
) -> Callable[[], Objective]:
    """What makes the objective, linearised at the uncompiled program. Its LM calls are made at the first use."""

    def made() -> Objective:
        watcher.stage(f"baseline: {len(train)} records of train, to see where the ranking score is steep")
        return objective(plan.task, train, judge_all(plan.task, student, train, lm, watcher.judged))

    return made


def _student(plan: Plan) -> dspy.Module:
    return hang(ensemble(plan.members) if plan.members else plan.task.build(plan.options), plan.gallery)


def _again(plan: Plan, program: dspy.Module) -> dspy.Module:
    """The same program as if it came from its artifact: what is scored is what is saved, and DSPy's optimizers refuse a
    program that they compiled before."""
    return artifact.parse(artifact.program_text(plan.task, program), "the champion so far").program


def _decision_layer(
    plan: Plan, champion: dspy.Module, rows: Sequence[Labelled], lm: OpenLM, watcher: Watcher
) -> Fitted | None:
    """The decision layer of the champion, fitted on train and dev; None where the budget does not reach that far."""
    watcher.stage("decision layer: what the champion thinks of train and dev")
    try:
        judged = opinions(plan.task, champion, rows, lm, watcher.judged)
    except LMBillingError:
        if lm.ledger.spent_out() is None:
            raise
        watcher.stage("decision layer: not fitted, the budget is spent")
        return None
    return fit(plan.task, judged, [row for row in rows if row.planted], plan.settings.seed, lm.identity)


def _test(
    plan: Plan, choice: Choice, champion: dspy.Module, test: Sequence[dspy.Example], lm: OpenLM, watcher: Watcher
) -> Tested | None:
    """The champion and its baseline on test; None where the budget does not even reach for the first.

    Only here is a gain honest: the champion was chosen because it did well on dev.
    """
    baseline = choice.contenders[0]
    results: list[Result] = []
    for name, program in ((choice.champion.name, champion), (baseline.name, baseline.program)):
        watcher.stage(f"test: {name} on {len(test)} records that chose nothing")
        shown = test if program is champion else [seen_by(name, example) for example in test]
        try:
            results.append(measure(plan.task, program, shown, lm, watcher.judged))
        except LMBillingError:
            if lm.ledger.spent_out() is None:
                raise
            watcher.stage("test: not scored, the budget is spent")
            break
    if not results:
        return None
    if len(results) == 1:
        return Tested(results[0], None, None)
    return Tested(results[0], results[1], difference_interval(results[0].tally, results[1].tally))


def _claim(folder: Path, plan: Plan, lm: OpenLM, teacher: OpenLM, student: dspy.Module) -> None:
    """Write down what is compiled into a folder, or refuse another compile of the same name.

    The same compile may run again: what it sent before comes from the cache.
    """
    identity = {
        "task": plan.task.name,
        "optimizer": f"{plan.optimizers} {asdict(plan.settings)}",
        "program": digests.of_text(artifact.program_text(plan.task, student)),
        "lm": lm.identity,
        "teacher": teacher.identity,
        "limits": str(plan.limits),
        "planted edits": f"{plan.planted} records, at most {plan.density} in one",
        "decision layer": str(plan.decide),
        "members": str({name: member.digest for name, member in plan.members.items()}),
        **{f"{name} data": digests.of_file(path) for name, path in plan.data.items()},
    }
    beside = folder / "compile.json"
    if beside.exists():
        earlier = artifact.read_json(beside)
        for key in identity:
            if earlier.get(key) != identity[key]:
                raise ValueError(
                    f"{folder} was begun with another {key}: {earlier.get(key)} then, {identity[key]} now; choose "
                    "another --name, or remove the folder to start anew"
                )
    artifact.write_whole(beside, artifact.as_json(identity))


def estimated(plan: Plan, lm: OpenLM) -> Estimate:
    """What `compile_program` would come to, at most. Sends nothing."""
    student = _student(plan)
    splits = {name: examples(_read(plan, name, student)) for name in plan.data}
    sizes = Sizes(*(len(splits.get(name, [])) for name in ("train", "dev", "test")))
    found = [
        estimate(
            plan.optimizers,
            plan.settings,
            sizes,
            [seen_by(name, example) for example in splits["train"][:50]],
            model,
            lm,
            plan.decide,
        )
        for name, model in models(student).items()
    ]
    return total(found)


def _read(plan: Plan, split: str, student: dspy.Module) -> list[Labelled]:
    """The records of a split; those of train with the planted ones behind them."""
    path = plan.data[split]
    rows = labelled(plan.task, student, path, plan.limits.get(split))
    planted = plan.planted if split == "train" else 0
    return with_planted(plan.task, student, path, rows, planted, plan.density, plan.settings.seed)
