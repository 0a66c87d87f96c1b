"""One compile, from examples to a saved artifact: baseline, optimizer, champion, test, manifest."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path

import dspy
from dspy.utils.exceptions import LMBillingError, LMError

from aisr.artifact import prompt_page
from aisr.artifact.folder import save_files, write_index
from aisr.artifact.manifest import Manifest
from aisr.artifact.program import parse, program_text
from aisr.base import redact
from aisr.base.files import as_json, digest_file, digest_text, first_difference, read_json, write_whole
from aisr.lm.client import OpenLM
from aisr.optimize.datasets.apart import across, grouped, keep_apart
from aisr.optimize.datasets.examples import Labelled, examples
from aisr.optimize.decision.fit import Fitted, fit
from aisr.optimize.decision.folds import opinions
from aisr.optimize.experiment.manifest import manifest, report
from aisr.optimize.experiment.plan import Plan, Watcher
from aisr.optimize.experiment.prepared import learnable, name_evidence, prepared, records_of, student_of
from aisr.optimize.search.champion import Choice, Tested, choose
from aisr.optimize.search.compilation import Candidate, Compilation
from aisr.optimize.search.objective import Objective, gradient_records, objective
from aisr.optimize.search.optimizers import compile_candidates
from aisr.predict.evaluate import Result, check_any, measure
from aisr.predict.judge import judge_all
from aisr.predict.prepare import check_suits, digest_shown
from aisr.programs.base import Judge
from aisr.programs.errors import UserError

CLAIM = "compile.json"  # of an artifact folder: what the compile of that name was begun with


@dataclass(frozen=True)
class Made:
    """A finished compile."""

    folder: Path
    manifest: Manifest
    choice: Choice
    fitted: Fitted | None
    test: Tested | None


def compile_program(plan: Plan, lm: OpenLM, teacher: OpenLM, root: Path, watcher: Watcher) -> Made:
    """Compile, choose the champion by the official score on dev, fit its decision layer on train and dev, score it on
    test, and save the artifact.

    Raises UserError where a split has no labelled records, and `BadLine` for a bad record.
    """
    began = time.monotonic()
    student = student_of(plan, lm)
    check_suits(student, lm)
    watcher.stage("reading the records")
    evidence, rows = prepared(plan, student, lm, watcher.stage)
    sharing = across(rows)
    for name, found in sharing.items():
        if found.any_kind:
            watcher.stage(
                f"{name} shares with train: {found}; it promises too much (`aisr split` keeps such records together)"
            )
    splits = {name: examples(found) for name, found in rows.items()}
    splits["train"] = learnable(splits["train"], watcher)
    if _chooses_demos(plan, student):
        keep_apart(student, [row for found in rows.values() for row in found])
    watcher.prepared(student, [example for found in splits.values() for example in found])
    folder = root / plan.task.name / plan.name
    with claimed(folder, identity(plan, lm, teacher, student)):
        _check_alive(plan, student, splits["dev"], lm, watcher)
    sources = _sources(rows["train"], splits["train"])
    choice = _search(plan, student, splits["train"], splits["dev"], sources, lm, teacher, watcher)
    champion = _again(plan, choice.champion.program)
    name_evidence(plan.task, champion, [example.gold for example in splits["train"]], watcher.stage)
    fitted = _decision_layer(plan, champion, [*rows["train"], *rows["dev"]], lm, watcher)
    champion.decision = fitted.decision if fitted else None
    champion = _again(plan, champion)
    test = _test(plan, choice, champion, splits["test"], lm, watcher) if "test" in splits else None
    text = program_text(plan.task, champion)
    sizes = {name: len(found) for name, found in splits.items()}
    made = manifest(
        plan,
        lm,
        teacher,
        choice,
        fitted,
        test,
        champion,
        digest_text(text),
        sizes,
        time.monotonic() - began,
        evidence,
        sharing,
    )
    save_files(
        folder,
        {
            "program.json": text,
            "manifest.json": as_json(made.model_dump()),
            "report.json": as_json(report(choice, test)),
            "plan.toml": plan.text,
            "PROMPT.md": prompt_page.as_markdown(f"{plan.task.name} · {plan.name}", plan.task, champion),
        },
    )
    write_index(root)
    return Made(folder, made, choice, fitted, test)


def _search(
    plan: Plan,
    student: Judge,
    train: Sequence[dspy.Example],
    dev: Sequence[dspy.Example],
    sources: Sequence[int],
    lm: OpenLM,
    teacher: OpenLM,
    watcher: Watcher,
) -> Choice:
    """The champion of the last optimizer, after each has started from the champion so far."""
    known = lm.ledger.spend.asked
    candidates = [Candidate("uncompiled", student)]
    target = _baseline(plan, student, train, lm, watcher)
    champion, so_far = student, None
    optimizers = plan.optimizers if student.predictors() else []
    if not optimizers:
        watcher.stage("nothing to optimize: the program asks no LM")
        choice = choose(plan.task, candidates, dev, lm, watcher.scored)
    for optimizer in optimizers:
        watcher.stage(f"{optimizer}: optimizing")
        work = Compilation(plan.task, champion, train, dev, target, plan.settings, lm, teacher, watcher.stage, sources)
        try:
            candidates = compile_candidates(optimizer, work, candidates)
        except LMError:
            _check_taught(teacher)
            raise
        _check_taught(teacher)
        watcher.stage(f"champion: {len(candidates)} candidates on {len(dev)} records of dev")
        choice = choose(plan.task, candidates, dev, lm, watcher.scored, so_far)
        so_far = choice.champion
        champion = _again(plan, so_far.program)
    first, *rest = choice.contenders
    return replace(choice, contenders=[replace(first, calls=known), *rest])  # it was scored before the search began


def _sources(rows: Sequence[Labelled], learnable: Sequence[dspy.Example]) -> list[int]:
    """The group of each record that is learnt from (see `aisr.optimize.datasets.leakage`)."""
    of = {id(row.example): group for row, group in zip(rows, grouped(rows), strict=True)}
    return [of[id(example)] for example in learnable]


def _check_alive(plan: Plan, student: Judge, dev: Sequence[dspy.Example], lm: OpenLM, watcher: Watcher) -> None:
    """Judge dev with the uncompiled program first: every later end then has a champion, and a dead server or a budget
    that is too small shows itself before anything is saved. Raises UserError for both."""
    watcher.stage(f"uncompiled program on {len(dev)} records of dev")
    try:
        found = measure(plan.task, student, dev, lm, watcher.judged)
    except LMBillingError as error:
        if lm.ledger.spent_out() is None:
            raise
        raise UserError(f"{error}; not even the uncompiled program could be scored on dev, nothing is saved") from error
    check_any(found, "dev")


def _check_taught(teacher: OpenLM) -> None:
    """Raises UserError where the teacher was asked and never answered: what was found without it says nothing of what
    it would have taught."""
    error = teacher.lm.contact.never
    if error is not None:
        reason = redact.addresses(" ".join(f"{type(error).__name__}: {error}".split()))[:500]
        raise UserError(f"every call of the teacher, {teacher.spec}, failed, the first with {reason}; nothing is saved")


def _baseline(
    plan: Plan, student: Judge, train: Sequence[dspy.Example], lm: OpenLM, watcher: Watcher
) -> Callable[[], Objective]:
    """What makes the objective, linearised at the uncompiled program. Its LM calls are made at the first use."""

    def made() -> Objective:
        records = gradient_records(plan.task, train, plan.settings.seed)
        watcher.stage(f"baseline: {len(records)} records of train, for the gradient of the ranking score")
        return objective(plan.task, records, judge_all(plan.task, student, records, lm, watcher.judged))

    return made


def _again(plan: Plan, program: Judge) -> Judge:
    """The same program as if it came from its artifact: what is scored is what is saved, and DSPy's optimizers refuse a
    program that they compiled before. Which records it keeps apart goes along: that is no part of it."""
    again = parse(program_text(plan.task, program), "the champion so far").program
    again.copy_context(program)
    return again


def _chooses_demos(plan: Plan, student: Judge) -> bool:
    """Whether a program of this compile may choose the demos of each record."""
    return "knn" in plan.optimizers or student.options.nearest > 0


def _decision_layer(
    plan: Plan, champion: Judge, rows: Sequence[Labelled], lm: OpenLM, watcher: Watcher
) -> Fitted | None:
    """The decision layer of the champion, fitted on train and dev; None where none is wanted, where there are no labels
    to decide between, and where the budget does not reach that far."""
    if not plan.decide or plan.task.judgements is None:
        return None
    watcher.stage("decision layer: the champion's label probabilities on train and dev")
    try:
        judged = opinions(plan.task, champion, rows, lm, watcher.judged)
    except LMBillingError:
        if lm.ledger.spent_out() is None:
            raise
        watcher.stage("decision layer: not fitted, the budget is spent")
        return None
    return fit(plan.task.judgements, judged, plan.settings.seed, lm.identity, champion.naming)


def _test(
    plan: Plan, choice: Choice, champion: Judge, test: Sequence[dspy.Example], lm: OpenLM, watcher: Watcher
) -> Tested | None:
    """The champion and its baseline on test; None where the budget does not even reach for the first.

    Only here is a gain honest: the champion was chosen because it did well on dev.
    """
    baseline = choice.contenders[0]
    results: list[Result] = []
    contenders = (("champion", choice.champion.name, champion), ("baseline", baseline.name, baseline.program))
    for role, name, program in contenders:
        watcher.stage(f"test: {role} ({name}) on {len(test)} held-out records")
        try:
            results.append(measure(plan.task, program, test, lm, watcher.judged))
        except LMBillingError:
            if lm.ledger.spent_out() is None:
                raise
            watcher.stage(f"test: {role} ({name}) not scored, the budget is spent")
            break
    if not results:
        return None
    if len(results) == 1:
        return Tested(results[0], None, None)
    return Tested(results[0], results[1], results[0].gain(results[1]))


def identity(plan: Plan, lm: OpenLM, teacher: OpenLM, student: Judge) -> dict[str, str]:
    """What makes a compile this one."""
    records = chain.from_iterable(records_of(plan, name) for name in plan.data)
    return {
        "task": plan.task.name,
        "optimizer": f"{plan.optimizers} {asdict(plan.settings)}",
        "program": digest_text(program_text(plan.task, student)),
        "lm": lm.identity,
        "teacher": teacher.identity,
        "limits": str(plan.limits),
        "decision layer": str(plan.decide),
        **{f"{name} data": digest_file(path) for name, path in plan.data.items()},
        **({"corrections": digest_file(plan.corrected.file)} if plan.corrected else {}),
        **digest_shown(student, plan.gallery, (path for record in records for path in record.img_paths)),
    }


@contextmanager
def claimed(folder: Path, identity: dict[str, str]) -> Iterator[None]:
    """Take a name for a compile, and give it back where nothing comes of the block: an address or a model that was
    mistyped must not keep the right one out.

    The same compile may take it again: what it sent before comes from the cache. Raises UserError where another has
    it.
    """
    claim = folder / CLAIM
    known = claim.exists()
    other = first_difference(read_json(claim), identity) if known else None
    if other:
        raise UserError(
            f"{folder} was begun with another {other}; choose another --name, or remove the folder to start anew"
        )
    write_whole(claim, as_json(identity))
    try:
        yield
    except BaseException:
        if not known:
            claim.unlink()
            with suppress(OSError):  # there was something else in it
                folder.rmdir()
        raise
