"""Scores of programs on labelled records, of two programs on the same ones, and of retrievers: what the commands
`evaluate`, `compare` and `retrieval` call, and Python may."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple, TypeAlias

from aisr.api import LanguageModel, LoadedProgram, artifacts_folder, as_task, errors_in_python
from aisr.artifact.manifest import check_comparable
from aisr.artifact.program import uncompiled_baseline
from aisr.base.errors import UserError
from aisr.base.files import as_json, percent, try_writing, write_whole
from aisr.base.jsonl import read
from aisr.judging import evaluate as scoring
from aisr.judging.evaluate import Evaluation, Measures, Result, claims_with_evidence, compare_rankers, measure_ranker
from aisr.judging.judge import ReplayedRecord, attach_for, judge_all, judge_with_calls
from aisr.metrics.intervals import Interval, in_words
from aisr.optimize.leakage import group_records, keys_of, prepare_all
from aisr.optimize.ranker_fit import fit_ranker
from aisr.optimize.target import Target, compare_sets, drawn, estimate_mix, parse_mix, read_target, stated_mix
from aisr.programs.probabilities import SOURCES
from aisr.programs.retrieval import Matcher, bm25
from aisr.programs.task import Query, Task
from aisr.records import PathLike, Records, as_file, as_optional_file
from aisr.report.page import write_evaluation_report
from aisr.tracking.experiment import check_writable
from aisr.tracking.runs import log_evaluation
from aisr.tracking.store import try_to_log

Compared: TypeAlias = LoadedProgram | Literal["uncompiled"]  # the other program before its compile
Ranker: TypeAlias = Callable[[Query], Matcher]
FITTED = "fitted"  # the name of the evidence ranker among retrievers
MOST_WEIGHTS = 5  # of a fitted ranker that are listed, the heaviest


# --- One program


@dataclass(frozen=True)
class ProgramScores:
    """How a program did on labelled records. Scores are in 0-1, with their 95 % intervals, and print as points."""

    evaluation: Evaluation  # with the scores of each record
    target: Target | None = None  # what the records were weighted to
    logged: str | None = None  # the run in MLflow
    not_logged: str | None = None  # why MLflow took nothing; what was paid for is kept

    @property
    def score(self) -> Interval:
        """The official ranking score."""
        return self.evaluation.result.interval

    @property
    def at_target(self) -> Interval | None:
        """The ranking score weighted to the target; None without one."""
        return self.evaluation.result.at_target

    @property
    def failures(self) -> Mapping[str, str]:
        """Why records could not be judged, by their ids."""
        return self.evaluation.result.failures

    def as_dict(self) -> dict[str, Any]:
        """Return the scores, their parts, and those of each label, as `aisr evaluate --output` writes them."""
        return self.evaluation.result.report()

    def confidence_lines(self) -> list[str]:
        """Return how sure the program was, by where its probabilities come from, and whether it was right to be."""
        lines = []
        for source, report in self.evaluation.result.confidence.items():
            right, error = percent(report["accuracy"]), percent(report["calibration_error"])
            known = f"{report['judgements']} labels with probabilities ({SOURCES[source]})"
            lines.append(f"{known}: {right} % right; expected calibration error {error}")
        return lines

    def target_lines(self) -> list[str]:
        """Return what the target is, the score weighted to it, and how far that can be trusted; nothing without one."""
        target = self.target
        if target is None or self.at_target is None:
            return []
        lines = []
        if target.mix:
            lines.append(str(target.mix))
        if target.comparison:
            lines += target.comparison.lines("these records", "target")
        lines.append(f"weighted to the target: {self.at_target}")
        lines += [f"  {warning}" for warning in target.warnings()]
        return lines


@errors_in_python()
def evaluate(
    program: LoadedProgram,
    data: Records,
    lm: LanguageModel,
    *,
    limit: int | None = None,
    target: Records | None = None,
    target_mix: str | None = None,
    image_root: PathLike | None = None,
    output: PathLike | None = None,
    track: bool = False,
    artifacts: PathLike | None = None,
    name: str = "",
    command: str = "",
) -> ProgramScores:
    """Judge labelled records, and return the official score with a 95 % interval over groups of records that share
    something.

    data: a JSONL file, dicts such as its lines, or checked records. limit: take the first so many. target: unlabelled
    records of the set that will be ranked, to which these are weighted; target_mix: its mix, such as "error-free=0.16",
    where it is known. image_root: where picture paths start; by default beside or above the file. output: a JSON file
    for the scores; the records and a page stand in a folder beside it. track: log the evaluation to the MLflow store of
    `artifacts` (default: AISR_ARTIFACTS, else `artifacts`), with `name` and `command`. Raises `UserError` for a bad or
    unlabelled record, and where MLflow is out of reach, before anything is spent; `LMUnavailable` for what would meet
    every record.
    """
    loaded, task, root = program.loaded, program.loaded.task, artifacts_folder(artifacts)
    if track:
        check_writable(root, task, registers=False)
    out = None if output is None else Path(output)
    if out is not None:
        try_writing(out)
    with as_file(data) as file, as_optional_file(target, "target") as target_file:
        mix = stated_mix(task, parse_mix(task, target_mix)) if target_mix else None
        target_records = read_target(task, target_file) if target_file else []
        records = list(islice(read(file, task.record, task.name), limit))
        attach_for(loaded.program, lm.opened, image_root, file)
        cases = prepare_all(task, loaded.program.prepare, records, file, group_records(task, records))
        began = time.monotonic()
        pairs = list(zip(records, cases, strict=True))
        replayed = judge_with_calls(task, loaded.program, pairs, lm.opened)
        outcomes = [one.outcome for one in replayed]
        aim = None
        if target_file or mix:
            if mix is None and task.labels:
                on_target = judge_all(task, loaded.program, drawn(target_records, 0), lm.opened)
                mix = estimate_mix(task, cases, outcomes, on_target, 0)
            comparison = compare_sets(task, records, target_records) if target_file else None
            aim = Target.of(mix, target_records, comparison, target_file)
            aim, weighted = aim.weigh_splits(task, {str(file): cases})
            cases = weighted[str(file)]
        seconds = time.monotonic() - began
        result = scoring.score_outcomes(task, cases, outcomes)
        done = Evaluation(loaded, name or loaded.digest, file, lm.opened, result, seconds, command)
        scores = ProgramScores(done, aim)
        logged = _write(scores, replayed, out, root if track else None)
    return ProgramScores(done, aim, *logged)


def _write(
    scores: ProgramScores, replayed: list[ReplayedRecord], output: Path | None, root: Path | None
) -> tuple[str | None, str | None]:
    """Write an evaluation to a file and the folder beside it, and log it to the MLflow store below an artifacts folder,
    as far as these are named. Return the run, and why there is none."""
    if output is None and root is None:
        return None, None
    with TemporaryDirectory() as temporary:
        folder = report_folder(output) if output else Path(temporary)
        write_evaluation_report(scores.evaluation, replayed, folder, scores.target)
        if output:
            write_whole(output, as_json(scores.as_dict()))
        if root is None:
            return None, None
        return try_to_log(lambda: log_evaluation(root, scores.evaluation, folder, replayed), "not logged to MLflow")


def report_folder(output: Path) -> Path:
    """Return the folder of an evaluation's records and page, beside the file of its scores."""
    return output.with_name(f"{output.stem}-report")


# --- Two programs


class ProgramComparison(NamedTuple):
    """Two programs on the same labelled records."""

    first: Result
    second: Result
    gain: Interval  # the paired difference of the second from the first, in 0-1, with its 95 % interval

    @property
    def changed(self) -> int:
        """How many records are scored differently."""
        return self.second.changed(self.first)

    def describe_gain(self, other: str) -> str:
        """Return in words whether the second is better than the first, by its name."""
        return in_words(self.gain, other)


@errors_in_python()
def compare(
    first: Compared,
    second: Compared,
    data: Records,
    lm: LanguageModel,
    *,
    limit: int | None = None,
    image_root: PathLike | None = None,
) -> ProgramComparison:
    """Judge the same labelled records with two programs, and return their official scores and the paired difference.

    first, second: programs as `load` returns them; "uncompiled" is the other one before its compile. data: a JSONL
    file, dicts such as its lines, or checked records. limit: take the first so many.
    Raises `UserError` for a bad or unlabelled record, for programs of two tasks, and where both are "uncompiled";
    `LMUnavailable` for what would meet every record.
    """
    check_comparable(first, second)
    saved = [one for one in (first, second) if isinstance(one, LoadedProgram)]
    if len({one.task for one in saved}) > 1:
        raise UserError(f"a program of {saved[0].task} and one of {saved[1].task}; expected two of one task")
    task = saved[0].loaded.task
    results: list[Result] = []
    with as_file(data) as file:
        records = list(islice(read(file, task.record, task.name), limit))
        group = group_records(task, records)
        for one in (first, second):
            loaded = one.loaded if isinstance(one, LoadedProgram) else uncompiled_baseline(saved[0].loaded)
            attach_for(loaded.program, lm.opened, image_root, file)
            cases = prepare_all(task, loaded.program.prepare, records, file, group)
            results.append(scoring.evaluate(task, loaded.program, cases, lm.opened))
    return ProgramComparison(results[0], results[1], results[1].gain(results[0]))


# --- Retrievers


@dataclass(frozen=True)
class RetrievalScores:
    """How well paragraphs are ranked for the claims that have gold evidence."""

    claims: int
    measures: Mapping[str, Measures]  # by retriever: its measures by name, of each claim (see `measure_ranker`)
    gains: Mapping[str, Mapping[str, Interval]]  # of the fitted ranker over each retriever, by measure
    notes: tuple[str, ...] = ()  # what was fitted, in words


@errors_in_python()
def score_retrieval(
    task: str | Task,
    data: Records,
    *,
    retrievers: Sequence[str] = ("bm25", "dense", "hybrid"),
    fit: Records | None = None,
    context_tokens: int = 3000,
) -> RetrievalScores:
    """Return how well paragraphs are ranked for claims, by the gold evidence of labelled records. No LM is asked.

    fit: labelled records to fit an evidence ranker on, which is scored too; on `data` itself it is cross-validated.
    context_tokens: of the paper that a prompt shows. Raises `UserError` for a task that retrieves nothing, and for
    records without gold evidence.
    """
    chosen = as_task(task)
    matchers = {name: chosen.build({"retriever": name}).match for name in retrievers}
    rankers: dict[str, Ranker] = {name: _always(matcher) for name, matcher in matchers.items()}
    with as_file(data) as file, as_optional_file(fit, "fit") as train:
        claims = claims_with_evidence(chosen, file)
        notes: list[str] = []
        if train:
            rankers[FITTED], notes = _fit(chosen, train, file, claims)
        measures = {name: measure_ranker(ranker, claims, context_tokens) for name, ranker in rankers.items()}
    gains = {}
    if train:
        gains = {name: compare_rankers(measures[FITTED], measures[name], claims) for name in matchers}
    return RetrievalScores(len(claims), measures, gains, tuple(notes))


def _always(matcher: Matcher) -> Ranker:
    return lambda _: matcher


def _fit(task: Task, train: Path, file: Path, claims: Sequence[Query]) -> tuple[Ranker, list[str]]:
    """Return a function from a claim to the fitted ranker's matcher, and what was fitted, in words; on the file that it
    was fitted on, one that saw neither the claim's paper nor a claim like it."""
    records = list(read(train, task.record, task.name))
    fitted = fit_ranker(task, records, keys_of(task, records), bm25, seed=0)
    notes = [f"fitted on {fitted.report['claims']} claims with evidence, in {fitted.report['groups']} groups"]
    notes += [f"  {weight:+.2f}  {name}" for name, weight in fitted.ranker.by_weight()[:MOST_WEIGHTS]]
    if train.resolve() == file.resolve():
        unseen = {paper: ranker.matcher() for paper, ranker in fitted.out_of_fold.items()}
        return lambda claim: unseen[tuple(claim.paragraphs.values())], notes
    count = sum(tuple(claim.paragraphs.values()) in fitted.out_of_fold for claim in claims)
    if count:
        notes.append(f"{count} of {len(claims)} claims cite papers that it was fitted on: their scores are optimistic")
    return _always(fitted.ranker.matcher()), notes
