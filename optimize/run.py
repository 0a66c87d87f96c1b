"""One compile, from records to a saved artifact. `compile_program` names its steps; a `Run` holds what each leaves."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

from aisr.artifact.manifest import Data, Manifest, read_versions, save_files
from aisr.artifact.program import parse, program_text
from aisr.artifact.prompt_page import listed, prompt_page
from aisr.base import redact
from aisr.base.errors import UserError
from aisr.base.files import as_json, digest_file, digest_text, first_difference, pluralize, read_json, write_whole
from aisr.base.jsonl import read
from aisr.base.progress import counted
from aisr.judging.evaluate import Result, check_any_judged, evaluate
from aisr.judging.judge import attach, judge_all, keep_threads, picture_digest
from aisr.lm.budget import BudgetSpent
from aisr.lm.client import OpenLM
from aisr.lm.info import LMInfo
from aisr.metrics.intervals import Interval
from aisr.optimize.baseline import with_no_lm_baseline
from aisr.optimize.champion import Choice, Contender, choose, why_none_was_kept
from aisr.optimize.demos import exclude_leaking
from aisr.optimize.leakage import LEAKAGE_RULE, Leakage, Prepare, cross_split_leakage, prepare_all
from aisr.optimize.optimizers import compile_candidates
from aisr.optimize.ranker_fit import TooFewClaims, fit_ranker, out_of_fold_prepare
from aisr.optimize.search import Candidate, Search, Settings
from aisr.optimize.target import Comparison, Mix, Target, compare_sets, drawn, estimate_mix, read_target, stated_mix
from aisr.programs.case import Case
from aisr.programs.pictures import ImageFolder
from aisr.programs.program import Program
from aisr.programs.records import Record
from aisr.programs.task import Task

IDENTITY = "compile.json"  # of an artifact folder: the identity of the compile that took its name


@dataclass(frozen=True)
class Plan:
    """What to compile, with which optimizers, on which files."""

    task: Task
    name: str
    optimizers: list[str]  # whose candidates are raced together
    settings: Settings
    options: dict[str, Any]
    data: dict[str, Path]  # split -> file; train and dev, and test where there is one
    limits: dict[str, int | None]  # split -> most records to take; of train, most that the LM judges
    command: str  # the command that repeats it
    image_folder: ImageFolder | None = None  # where the records' pictures are
    target: Path | None = None  # unlabelled records of the set that will be ranked
    target_mix: Mapping[str, float] | None = None  # the shares of its kinds of record, where the user states them

    def records(self, split: str) -> Iterator[Record]:
        """Return the records of a split; of train all."""
        records = read(self.data[split], self.task.record, self.task.name)
        return islice(records, None if split == "train" else self.limits.get(split))


@dataclass(frozen=True)
class Callbacks:
    """Functions that a compile calls as it goes on."""

    stage: Callable[[str], object] = lambda text: None  # a stage begins
    scored: Callable[[Contender], object] = lambda contender: None  # a contender was scored on dev


def compile_program(plan: Plan, lm: OpenLM, teacher: OpenLM, root: Path, callbacks: Callbacks) -> "Run":
    """Compile, choose the champion on dev, score it on test, save the artifact, and return the run.

    Raises UserError where a split has no labelled records, and where another compile has the name; `BadLine` for a bad
    record. An interrupted compile may go on: its former calls come from the cache.
    """
    run = Run(plan, lm, teacher, root / plan.task.name / plan.name, callbacks)
    run.prepare()
    identity, file = run.identity(), run.folder / IDENTITY
    other = first_difference(read_json(file), identity) if file.exists() else None
    if other is not None:
        raise UserError(
            f"{run.folder} was begun with another {other}; choose another --name, or remove the folder to start anew"
        )
    try:
        run.check_alive()
    except BudgetSpent as error:
        raise UserError(f"{error}; not even dev could be judged once, nothing is saved") from error
    # Only now: an address or a model that was mistyped must not take the name from the right one.
    write_whole(file, as_json(identity))
    with keep_threads(lm):
        run.aim()
        run.search()
        run.score_test()
    run.save()
    return run


@dataclass
class Run:
    """A compile. Each step is a method without arguments; the fields below `began` are filled by the steps, from top to
    bottom. None: that step had nothing to do."""

    plan: Plan
    lm: OpenLM
    teacher: OpenLM  # what writes demos and instructions; often the LM itself
    folder: Path  # of the artifact
    callbacks: Callbacks
    fits: bool = True  # whether what needs no LM is fitted: ranker, no-LM baseline
    began: float = field(default_factory=time.monotonic)

    student: Program = field(init=False)  # the uncompiled program
    cases: dict[str, list[Case]] = field(init=False)  # by split, of train those to judge
    leakage: Leakage = field(init=False)
    target_records: list[Record] = field(default_factory=list)
    comparison: Comparison | None = None  # of dev and test with the target
    target: Target | None = None
    ranker: dict[str, Any] | None = None  # the manifest's part on the evidence ranker; None: the program has none
    choice: Choice = field(init=False)
    champion: Program = field(init=False)  # as it is saved
    test: Result | None = None  # of the champion
    baseline_test: Result | None = None  # of the uncompiled program

    def prepare(self) -> None:
        """Build the student, read the records, and fit to the gold of train what needs no LM: the evidence ranker, and
        what the program itself fits."""
        plan, task, stage = self.plan, self.plan.task, self.callbacks.stage
        self.student = task.build(plan.options)
        attach(self.student, self.lm, plan.image_folder)
        stage("reading the records")
        records = {name: list(plan.records(name)) for name in counted(plan.data, "reading the files of records")}
        counts = ", ".join(f"{len(own):,} of {name}" for name, own in records.items())
        stage(f"comparing all records for what they share: {counts}")
        self._read_target(records)
        self.leakage = cross_split_leakage(task, records)
        for name, shared in self.leakage.with_train.items():
            if shared.sharing:
                stage(f"{name} shares with train: {shared}; its score is optimistic (`aisr split` avoids this)")
        prepare_train = self._fit_to_train(records["train"])
        stage(f"preparing the records: {counts}")
        cases = {}
        for name, path in plan.data.items():
            prepare = prepare_train if name == "train" else self.student.prepare
            cases[name] = prepare_all(task, prepare, records[name], path, self.leakage.group[name])
        if "knn" in plan.optimizers or self.student.options.demos_per_record:
            exclude_leaking(self.student, chain.from_iterable(cases.values()))
        stage("no-LM baseline: fitting it to train")
        self.cases = with_no_lm_baseline(task, self.student, cases) if self.fits else cases
        # Ranker and baseline are fitted to all of train; prompts and LM calls are of these records alone.
        self.cases["train"] = self.cases["train"][: plan.limits.get("train")]

    def _read_target(self, records: Mapping[str, Sequence[Record]]) -> None:
        """Read the records of the target, and compare them with dev and test."""
        task, stage = self.plan.task, self.callbacks.stage
        if self.plan.target is None:
            return
        self.target_records = read_target(task, self.plan.target)
        if any(record.gold is not None for record in self.target_records):
            stage(f"the labels of {self.plan.target} are ignored")
        shared = cross_split_leakage(task, {"train": records["train"], "target": self.target_records})
        if shared.with_train["target"].sharing:
            stage(f"target shares with train: {shared.with_train['target']}")
        ours = [*records["dev"], *records.get("test", ())]
        self.comparison = compare_sets(task, ours, self.target_records, self.plan.settings.seed)
        for line in self.comparison.lines("dev and test", "target"):
            stage(line)

    def _fit_to_train(self, train: Sequence[Record]) -> Prepare:
        """Fit the evidence ranker and what the program itself fits; return what makes cases of the records of train."""
        task, student, stage = self.plan.task, self.student, self.callbacks.stage
        prepare_train: Prepare = student.prepare
        if student.takes_ranker and self.fits:
            stage("evidence ranker: fitting it to the gold evidence of train")
            try:
                fitted = fit_ranker(task, train, self.leakage.keys["train"], student.match, self.plan.settings.seed)
            except TooFewClaims as error:
                stage(f"evidence ranker: not fitted, {error}")
                self.ranker = {"why": str(error)}
            else:
                kept = "kept" if fitted.kept else "not kept"
                gain, count = Interval(*fitted.report["gain"]), fitted.report["claims"]
                stage(f"evidence ranker: {kept}, mean reciprocal rank {gain} more on {count} claims")
                self.ranker = fitted.report
                if fitted.kept:
                    student.ranker = fitted.ranker
                    prepare_train = out_of_fold_prepare(task, student, fitted.out_of_fold)
        # What the program reads off train's gold, such as which labels name no evidence in Track 2.
        student.fit([record for record in train if record.gold is not None])
        return prepare_train

    def identity(self) -> dict[str, str]:
        """Return everything that must be the same for a compile to go on under its name."""
        plan = self.plan
        records = chain.from_iterable(plan.records(name) for name in plan.data)
        identity = {
            "task": plan.task.name,
            "optimizer": f"{','.join(plan.optimizers)} with {listed(asdict(plan.settings))}",
            "program": digest_text(program_text(plan.task, self.student)),
            "lm": self.lm.identity,
            "teacher": self.teacher.identity,
            "limits": listed(plan.limits),
        }
        for name, path in plan.data.items():
            identity[f"{name} data"] = digest_file(path)
        identity |= picture_digest(self.student, chain.from_iterable(record.img_paths for record in records))
        if plan.target:
            identity["target"] = digest_file(plan.target)
        if plan.target_mix:
            identity["target mix"] = listed(plan.target_mix)
        return identity

    def check_alive(self) -> None:
        """Judge dev with the uncompiled program. `search` finds these answers in the response cache, so that there is a
        champion wherever the budget ends; a dead server, or a budget that is too small for this, is a UserError before
        anything is saved."""
        dev = self.cases["dev"]
        self.callbacks.stage(f"judging {len(dev)} records of dev with the uncompiled program")
        baseline = evaluate(self.plan.task, self.student, dev, self.lm)
        check_any_judged(baseline, "dev")

    def aim(self) -> None:
        """Weigh the records of each split to the target, if there is one. Its mix is the one that is stated, or comes
        from the uncompiled program's answers to it, as far as the budget reaches."""
        plan, stage = self.plan, self.callbacks.stage
        if plan.target is None and plan.target_mix is None:
            return
        mix = stated_mix(plan.task, plan.target_mix) if plan.target_mix else self._estimate_mix()
        target = Target.of(mix, self.target_records, self.comparison, plan.target)
        self.target, self.cases = target.weigh_splits(plan.task, self.cases)
        if mix:
            stage(str(mix))
        stage("optimizers average over train, the race and the choice go by dev, both weighted to the target")
        for warning in self.target.warnings():
            stage(f"warning: {warning}")

    def _estimate_mix(self) -> Mix | None:
        """Return the mix of the target by the answers of the uncompiled program; None for a task without labels."""
        task, seed = self.plan.task, self.plan.settings.seed
        if not task.labels:
            return None
        records = drawn(self.target_records, seed)
        self.callbacks.stage(f"judging {len(records)} records of the target with the uncompiled program, for its mix")
        try:
            on_target = judge_all(task, self.student, records, self.lm)
        except BudgetSpent:
            self.callbacks.stage("the mix of the target is not known: the budget is spent; --target-mix states it")
            return None
        on_dev = judge_all(task, self.student, self.cases["dev"], self.lm)
        return estimate_mix(task, self.cases["dev"], on_dev, on_target, seed)

    def search(self) -> None:
        """Run the optimizers, each on the uncompiled program, and choose the champion among all that they left, on dev
        (see `aisr.optimize.champion`)."""
        task, dev, stage = self.plan.task, self.cases["dev"], self.callbacks.stage
        search = Search(
            task=task,
            student=self.student,
            train=self.cases["train"],
            dev=dev,
            settings=self.plan.settings,
            lm=self.lm,
            teacher=self.teacher,
            note=stage,
        )
        candidates = [Candidate("uncompiled", self.student)]
        names: dict[str, list[str]] = {}  # of the candidates of each optimizer
        for optimizer in self.plan.optimizers:
            stage(f"{optimizer}: looking for better programs")
            known = len(candidates)
            try:
                candidates = compile_candidates(optimizer, search, candidates)  # all so far, the new ones last
            finally:
                self._check_teacher()
            names[optimizer] = [name for name, _ in candidates[known:]]
            if others := len(candidates) - 1:
                compared = f"{pluralize(others, 'candidate')} and the uncompiled program"
                stage(f"comparing {compared} on {len(dev)} records of dev")
            # After each, so that one that spends the whole budget does not leave those before it without a score.
            self.choice = choice = choose(task, candidates, dev, self.lm)
        for contender in choice.contenders:
            self.callbacks.scored(contender)
        for optimizer, own in names.items():
            reason = why_none_was_kept(choice, own)
            if reason is not None:
                stage(f"{optimizer}: {reason}")
        # As if it came from its artifact: what is scored is what is saved. Its context is not saved.
        text = program_text(task, choice.champion.program)
        self.champion = parse(text, "the champion", task).program
        self.champion.copy_context(choice.champion.program)

    def _check_teacher(self) -> None:
        """Raise UserError where no call of the teacher succeeded: candidates without it tell nothing about it."""
        error = self.teacher.contact.error
        if error is not None:
            reason = redact.secrets(" ".join(f"{type(error).__name__}: {error}".split()))[:500]
            raise UserError(
                f"every call of the teacher, {self.teacher.spec}, failed, the first with {reason}; nothing is saved"
            )

    def score_test(self) -> None:
        """Score the champion, as it is saved, and the uncompiled program on test, as far as the budget reaches.

        Only here is a gain honest: the champion was chosen because it did well on dev.
        """
        if "test" not in self.cases:
            return
        self.test = self._score_test(f"champion ({self.choice.champion.name})", self.champion)
        if self.test is not None:
            self.baseline_test = self._score_test("hand-written prompt", self.student)

    def _score_test(self, role: str, program: Program) -> Result | None:
        test = self.cases["test"]
        self.callbacks.stage(f"scoring the {role} on {len(test)} records of test")
        try:
            return evaluate(self.plan.task, program, test, self.lm)
        except BudgetSpent:
            self.callbacks.stage(f"the {role} is not scored on test: the budget is spent")
            return None

    @cached_property
    def gain_on_test(self) -> Interval | None:
        """The paired difference of champion and uncompiled program on test; None where one has no score."""
        return self.test.gain(self.baseline_test) if self.test and self.baseline_test else None

    def save(self) -> None:
        """Write the artifact."""
        title = f"{self.plan.task.name} · {self.plan.name}"
        save_files(
            self.folder,
            {
                "program.json": program_text(self.plan.task, self.champion),
                "manifest.json": as_json(self.manifest.model_dump()),
                "report.json": as_json(self.report()),
                "PROMPT.md": prompt_page(title, self.plan.task, self.champion, self.manifest),
            },
        )

    @cached_property
    def manifest(self) -> Manifest:
        """The manifest, as of its first use at the end of the compile."""
        plan, choice = self.plan, self.choice
        results = {
            "dev": choice.champion.dev,
            "baseline_dev": choice.contenders[0].dev,
            "test": self.test,
            "baseline_test": self.baseline_test,
            "no_lm_dev": choice.champion.dev.no_lm,
            "no_lm_test": self.test.no_lm if self.test else None,
        }
        scores = {name: result.summary() for name, result in results.items() if result is not None}
        for name in ("dev", "test"):
            result = results[name]
            weighted = result.summary_at_target() if result is not None else None
            if weighted is not None:
                scores[f"target_{name}"] = weighted
        return Manifest(
            task=plan.task.name,
            name=plan.name,
            digest=digest_text(program_text(plan.task, self.champion)),
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            command=plan.command,
            optimizer=",".join(plan.optimizers),
            settings=asdict(plan.settings),
            options=self.champion.options.model_dump(),
            champion=choice.champion.name,
            ranker=self.ranker,
            lm=LMInfo.model_validate(self.lm),
            teacher=None if self.teacher is self.lm else LMInfo.model_validate(self.teacher),
            data=self._describe_data(),
            leakage={
                "rule": LEAKAGE_RULE,
                "splits": {name: leak._asdict() for name, leak in self.leakage.with_train.items()},
            },
            target=self.target.as_dict() if self.target else None,
            scores=scores,
            gain_on_dev=choice.champion.gain,
            gain_on_test=self.gain_on_test,
            spend=self.lm.ledger.spend.as_dict(),
            stopped_early=self.lm.ledger.stopped,
            seconds=round(time.monotonic() - self.began, 1),
            versions=read_versions(),
        )

    def _describe_data(self) -> dict[str, Data]:
        """Return the files of the splits, and that of the target."""
        files = {name: (path, len(self.cases[name])) for name, path in self.plan.data.items()}
        if self.plan.target:
            files["target"] = self.plan.target, len(self.target_records)
        return {
            name: Data(file=path.name, path=str(path), digest=digest_file(path), records=records)
            for name, (path, records) in files.items()
        }

    def report(self) -> dict[str, Any]:
        """Return report.json: the scores of all candidates on dev, and of champion and baseline on test."""
        candidates = [
            {
                "name": contender.name,
                "finished": contender.finished,
                "dev": contender.dev.report(),
                "gain": list(contender.gain),
                "prompt_tokens": contender.prompt_tokens,
            }
            for contender in self.choice.contenders
        ]
        report: dict[str, Any] = {
            "champion": self.choice.champion.name,
            "candidates": candidates,
            "unscored": self.choice.unscored,
        }
        if self.test:
            report["test"] = self.test.report()
            report["baseline_test"] = self.baseline_test.report() if self.baseline_test else None
        return report
