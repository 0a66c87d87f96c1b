"""The Python interface: a language model, a program, and its judgement of records. `aisr` exports the public names.

Imports of DSPy, MLflow and the rest of the project stand in the functions: importing `aisr` loads none of them.
"""

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from aisr.base.errors import UserError as UserError
from aisr.lm.config import LMUnavailable as LMUnavailable

if TYPE_CHECKING:
    from dspy import Example
    from pydantic import BaseModel

    from aisr.artifact.manifest import LabelScore
    from aisr.artifact.program import Loaded
    from aisr.lm.client import OpenLM
    from aisr.predict.judge import Outcome
    from aisr.programs.task import Task

NO_DRAWINGS: Mapping[str, Path] = MappingProxyType({})
ARTIFACTS = "artifacts"  # the folder, where AISR_ARTIFACTS names no other
OPTION = re.compile(r"(?:--|-L )([a-z][a-z_-]*+)")  # of a command, in a message

Record: TypeAlias = "Mapping[str, Any] | BaseModel"  # as a line of a JSONL file has it, or read from there


def in_python(error: Exception | str) -> str:
    """Return the message of an error or of a limit, without secrets; a command's `--api-base` is
    `api_base` here."""
    from aisr.base import redact

    return OPTION.sub(lambda option: option[1].replace("-", "_"), redact.secrets(str(error)))


# --- The language model


class LanguageModel:
    """A language model that is ready for use, by any number of threads; made by `open_lm`."""

    def __init__(self, opened: "OpenLM") -> None:
        self.opened = opened

    def __repr__(self) -> str:
        return f"<aisr.LanguageModel {self.spec}>"

    @property
    def spec(self) -> str:
        """Its name: `embedded`, or PROVIDER/MODEL."""
        return self.opened.spec

    @property
    def threads(self) -> int:
        """How many calls at a time make sense."""
        return self.opened.threads

    @property
    def supports_vision(self) -> bool | None:
        """Whether it takes pictures; None where that is not known."""
        return self.opened.supports_vision

    @property
    def spend(self) -> dict[str, int | float | None]:
        """The use so far: `calls` sent, `cached_calls` answered from the cache, `prompt_tokens` and
        `completion_tokens` of those sent, of the former the `prefix_tokens` that the provider had in its own cache, and
        `usd` (None where a price is unknown)."""
        return self.opened.ledger.spend.as_dict()

    @property
    def exhausted_reason(self) -> str | None:
        """The limit that kept a call from being sent; None for none."""
        reason = self.opened.ledger.stopped
        return None if reason is None else in_python(reason)

    def estimating(self) -> "LanguageModel":
        """Return the same language model with which nothing is sent: answers are made up, and `spend` is an estimate of
        what judging by it would use."""
        from aisr.optimize.estimate import DryRun

        return LanguageModel(DryRun().open(self.opened))

    @contextmanager
    def context(self) -> Iterator[None]:
        """Have `aisr.ask` and programs called within ask this language model: `with lm.context(): …`.

        Errors of a call leave it as `UnusableAnswer`, and those that would meet every call as `LMUnavailable`, without
        keys.
        """
        from dspy.utils.exceptions import AdapterParseError, LMError

        from aisr.base import redact
        from aisr.lm.retries import FATAL_ERRORS
        from aisr.predict.judge import failure_text
        from aisr.programs.program import UnusableAnswer

        try:
            with self.opened.context():
                yield
        except FATAL_ERRORS as error:
            raise LMUnavailable(in_python(error)) from None
        except UnusableAnswer as error:
            raise UnusableAnswer(redact.secrets(str(error))) from None
        except (LMError, AdapterParseError) as error:
            raise UnusableAnswer(failure_text(error)) from None


def open_lm(
    spec: str = "embedded",
    *,
    api_base: str | None = None,
    price: tuple[float, float] | None = None,
    max_usd: float | None = None,
    max_calls: int | None = None,
    output: str | os.PathLike[str] | None = None,
    needs_key: bool = True,
    **settings: Any,
) -> LanguageModel:
    """Return a language model by its name: `embedded`, PROVIDER/MODEL such as `openai/gpt-4o-mini`, or `recorded:FILE`,
    the answers that `aisr compile --record FILE` wrote. Its key comes from the environment.

    api_base: address of an OpenAI-compatible server for `openai/MODEL`; price: USD a million prompt and completion
    tokens, where LiteLLM's list lacks the model; max_usd, max_calls: nothing more is sent once so much is spent;
    output: a file or folder, for all runs of which `max_usd` holds together; needs_key: whether its key must be at
    hand, not where nothing is sent (`estimating`); settings: what `-L` of the commands takes, by the same names and
    with the same defaults, such as `threads=16` (the fields of `aisr.lm.config.LMConfig`).

    Answers are kept in DSPy's own response cache, which is the caller's: in the folder DSPY_CACHEDIR, else below the
    home folder, or as `dspy.configure_cache` has it. Raises `LMUnavailable`.
    """
    from aisr.lm import config as configs
    from aisr.lm import open as opening
    from aisr.lm.budget import Ledger, Limits

    for number in (*(price or ()), max_usd):
        if number is not None and not 0 <= number < inf:
            raise UserError(f"a price or limit of {number}; expected a finite number of 0 or more")
    limits = Limits(max_usd, max_calls)
    ledger = Ledger(limits) if output is None else Ledger.for_output(Path(output), limits)
    try:
        stated = configs.Price(*price) if price else None
        config = configs.LMConfig.parse({"model": spec, "api_base": api_base, "price": stated, **settings})
        opened = opening.open_lm(config, ledger, needs_key)
    except LMUnavailable as error:
        raise LMUnavailable(in_python(error)) from error
    return LanguageModel(opened)


# --- Verdicts and programs


class ShownEvidence(NamedTuple):
    """One piece of evidence of a record, as it stood in the prompt."""

    key: str  # "table 1", or the id of a paragraph
    lines: tuple[str, ...]  # its text, then the rows of a table, one a line
    picture: str | None  # the path that the record gives, unchecked
    chosen: int  # its place in the predicted evidence, from 1; 0 where it was not named


@dataclass(frozen=True)
class Verdict:
    """The judgement of one record: of `answer` and `failure` exactly one is None. A failure is never a label."""

    id: str
    answer: Mapping[str, Any] | None  # as in a predictions file: `labels`, or `label` and `evidence_para_ids`
    failure: str | None  # the reason in one line
    # One a statement (a sentence of Track 1, the claim of Track 2); none for a failed record and a task without labels.
    labels: tuple[str, ...] = ()
    probabilities: tuple[Mapping[str, float] | None, ...] = ()  # of each label, summing to 1; None where unknown
    evidence: tuple[ShownEvidence, ...] = ()  # in the order of the prompt

    @property
    def line(self) -> dict[str, Any]:
        """The record as a line of a predictions file."""
        return {"id": self.id, "failed": self.failure} if self.answer is None else {"id": self.id, **self.answer}


@dataclass(frozen=True)
class TestScores:
    """How a compiled program did on its test split, which chose nothing."""

    __test__: ClassVar = False  # no test class of pytest

    records: int
    per_label: "Mapping[str, LabelScore]"
    calibration_error: float | None  # of its probabilities, in 0-1; None where it gave none
    lm: str  # the LM that it was tested with, and compiled for

    @property
    def statements(self) -> int:
        """The number of gold statements."""
        return sum(one.support for one in self.per_label.values())

    @property
    def accuracy(self) -> float | None:
        """The share of them that it labelled right, in 0-1; None for a task without labels."""
        right = sum(one.recall * one.support for one in self.per_label.values())
        return right / self.statements if self.statements else None


class LoadedProgram:
    """A program of a task, for any number of threads; made by `load` and `uncompiled`.

    A record without an id gets the one that the official preparation gives it, by its place. It warns where the
    program was fitted to another LM than it is used with.
    """

    def __init__(self, loaded: "Loaded", test_scores: TestScores | None = None) -> None:
        self.loaded = loaded
        self.test_scores = test_scores  # None where nothing is known

    def __repr__(self) -> str:
        return f"<aisr.LoadedProgram {self.task} {self.digest}>"

    @property
    def task(self) -> str:
        """The name of its task, such as `track1`."""
        return self.loaded.task.name

    @property
    def digest(self) -> str:
        """Its digest: 16 hex digits, as in manifest and registry."""
        return self.loaded.digest

    @property
    def labels(self) -> Mapping[str, str]:
        """Each label of its task with its definition, the one that finds no fault first; none for a task without."""
        task = self.loaded.task
        return {label: task.definitions[label] for label in task.labels} if task.labels else {}

    @property
    def shows_pictures(self) -> bool:
        """Whether its LM is shown the pixels of pictures."""
        return self.loaded.program.picture_mode == "image"

    @property
    def picture_problems(self) -> Mapping[tuple[str, str], str]:
        """Why pictures could not be shown so far, by the id of a record and the path that it gives."""
        image_folder = self.loaded.program.image_folder
        return dict(image_folder.problems) if image_folder else {}

    def picture_file(self, path: str) -> str | None:
        """Return the absolute path of a picture that a record names, checked; None for one that cannot be shown."""
        image_folder = self.loaded.program.image_folder
        return image_folder.file("", path) if image_folder else None

    def judge(self, record: Record, lm: LanguageModel) -> Verdict:
        """Return the verdict on one record. Raises `UserError` for a record of the wrong form, and `LMUnavailable`."""
        _check_lm(self.loaded, lm)
        return self._judge(0, record, lm)

    def judge_all(self, records: Iterable[Record], lm: LanguageModel) -> Iterator[Verdict]:
        """Return the verdicts on all records, in their order, by the threads of the LM. At most four records for each
        thread are read ahead.

        Raises `UserError` (`records[3]: …`) when that record's turn comes, and `LMUnavailable`.
        """
        from aisr.predict.judge import map_ordered

        _check_lm(self.loaded, lm)
        numbered = enumerate(records)
        return map_ordered(lambda item: self._judge(*item, lm, f"records[{item[0]}]: "), numbered, lm.threads)

    async def ajudge(self, record: Record, lm: LanguageModel) -> Verdict:
        """`judge` for an event loop, in a thread of its own."""
        import dspy

        verdict: Verdict = await dspy.asyncify(self.judge)(record, lm)
        return verdict

    def _judge(self, number: int, record: Record, lm: LanguageModel, where: str = "") -> Verdict:
        """Return the verdict on the `number`th record, from 0. where: before the message of an error."""
        import dspy
        from dspy.utils.exceptions import LMError

        from aisr.predict.judge import judge

        task, program = self.loaded.task, self.loaded.program
        checked = _check_record(task, record, number, where)
        try:
            example = program.prepare(checked)
            outcome = judge(task, program, example, lm.opened)
        except LMError as error:
            raise LMUnavailable(in_python(error)) from None
        except UserError as error:  # also where a record has pictures, and no folder for them is known
            raise UserError(f"{where}{in_python(error)}") from error
        if outcome.failure is not None:  # judging the record again asks the LM again
            dspy.cache.reset_memory_cache()  # on disk its answers are invalid already
        return _verdict(task, checked, example, outcome)


def _check_record(task: "Task", record: Record, number: int, where: str = "") -> Any:
    """Return the `number`th record, from 0, as the task has it. Raises `UserError`; its message begins with `where`."""
    from pydantic import ValidationError

    from aisr.base.jsonl import explain

    if isinstance(record, task.record):
        return record
    if not isinstance(record, Mapping):
        raise UserError(
            f"{where}a {type(record).__name__}; expected a dict such as a line of a JSONL file, of {task.name}"
        )
    name = record.get("id")
    try:
        return task.record.model_validate({**record, "id": f"{task.name}-{number + 1:06d}" if name is None else name})
    except ValidationError as error:
        raise UserError(f"{where}{explain(error)}") from error


def _verdict(task: "Task", record: Any, example: "Example", outcome: "Outcome") -> Verdict:
    """Return an outcome as the caller gets it."""
    evidence = _shown(task, record, example, outcome.answer)
    if outcome.failure is not None:
        return Verdict(example.id, None, outcome.failure, evidence=evidence)
    answer = task.prediction.line(outcome.answer)
    if not task.labels:
        return Verdict(example.id, answer, None, evidence=evidence)
    probabilities = tuple(
        dict(zip(task.labels, one.probabilities, strict=True)) if one.has_probabilities else None
        for one in outcome.judgements
    )
    labels = tuple(one.label for one in outcome.judgements)
    return Verdict(example.id, answer, None, labels, probabilities, evidence)


def _shown(task: "Task", record: Any, example: "Example", answer: Any) -> tuple[ShownEvidence, ...]:
    """The evidence of a record in the order of the prompt. The items of a bundle are read off the prompt, which has a
    line an item, led by its key in brackets, and the rows of a table below it."""
    from aisr.programs.text import ROW

    exhibits = task.exhibits(record, example, answer)
    if not task.labels or task.names_evidence:
        return tuple(ShownEvidence(one.key, tuple(one.text.split(ROW)), one.picture, one.chosen) for one in exhibits)
    evidence = task.evidence(example)
    if not evidence:
        return ()
    pictures = {one.key: one.picture for one in exhibits}
    items: list[tuple[str, list[str]]] = []
    for line in evidence.split("\n"):
        key, closed, text = line.removeprefix("[").partition("] ")
        if closed and line.startswith("[") and key in pictures:
            items.append((key, [text]))
        elif items:
            items[-1][1].append(line.strip().removeprefix(ROW.strip() + " "))
        else:
            items.append(("", [line]))
    return tuple(ShownEvidence(key, tuple(lines), pictures.get(key), 0) for key, lines in items)


def load(
    name: str | os.PathLike[str],
    task: "str | Task | None" = None,
    *,
    artifacts: str | os.PathLike[str] | None = None,
    image_root: str | os.PathLike[str] | None = None,
    drawings: Mapping[str, Path] = NO_DRAWINGS,
) -> LoadedProgram:
    """Return a compiled program, by the folder of an artifact, or `models:/aisr-track1@champion` or
    `models:/aisr-track1/3`. Reads JSON and checks its digest; nothing that is stored there runs.

    task: the task that it must be a program of, by name, place (`package.module:TASK`) or itself; needed for a program
    of a task that is none of ours. artifacts: the artifacts folder, whose MLflow store knows `models:/…` (default:
    AISR_ARTIFACTS, else `artifacts`) and which keeps what is read in pictures; a store that MLFLOW_TRACKING_URI names
    comes first. image_root: the folder that the pictures of the records are in, for a program that shows them;
    drawings: of pictures there that are no raster images, the path of one by theirs. Raises `UserError`.
    """
    from aisr.tracking import registry

    root = _artifacts(artifacts)
    try:
        loaded = registry.load(os.fspath(name), root, _task(task))
        _attach_images(loaded, image_root, drawings, root)
    except UserError as error:
        raise UserError(in_python(error)) from error
    return LoadedProgram(loaded, _test_scores(os.fspath(name), root))


def uncompiled(
    task: "str | Task",
    lm: LanguageModel,
    *,
    artifacts: str | os.PathLike[str] | None = None,
    image_root: str | os.PathLike[str] | None = None,
    drawings: Mapping[str, Path] = NO_DRAWINGS,
    **options: Any,
) -> LoadedProgram:
    """Return the program of a task as it is before any compile, for an LM.

    options: of its program, as `-T` takes them; where they do not say, the LM is shown pictures if it is known to take
    them and there is an image_root, and states how likely its labels are if it gives no log-probabilities. The rest is
    as for `load`. Raises `UserError`.
    """
    from aisr.artifact.program import parse, program_text
    from aisr.predict.prepare import evidence_form, verbalizes

    chosen = _task(task)
    assert chosen is not None
    known = chosen.program.Options.model_fields
    if "verbalized_confidence" in known and verbalizes(lm.opened):
        options.setdefault("verbalized_confidence", True)
    if "evidence" in known and image_root is not None and lm.supports_vision:
        options.setdefault("evidence", "image")
    if "evidence" in options:
        options["evidence"] = evidence_form(options["evidence"], lm.opened)
    root = _artifacts(artifacts)
    try:
        loaded = parse(program_text(chosen, chosen.build(options)), "the uncompiled program", chosen)
        _attach_images(loaded, image_root, drawings, root)
    except UserError as error:
        raise UserError(in_python(error)) from error
    return LoadedProgram(loaded)


def _artifacts(folder: str | os.PathLike[str] | None) -> Path:
    return Path(folder or os.environ.get("AISR_ARTIFACTS") or ARTIFACTS)


def _task(task: "str | Task | None") -> "Task | None":
    from aisr.programs.registry import find_task

    return find_task(task) if isinstance(task, str) else task


def _attach_images(
    loaded: "Loaded", image_root: str | os.PathLike[str] | None, drawings: Mapping[str, Path], artifacts: Path
) -> None:
    from aisr.predict.prepare import open_images

    if image_root is not None:
        loaded.program.image_folder = open_images(Path(image_root), drawings)


def _test_scores(name: str, root: Path) -> TestScores | None:
    """What the folder or run of a program says of its test split; None where that is missing, and so is it for one that
    cannot be read: a program is complete without it."""
    from aisr.base.files import BadArtifact
    from aisr.tracking import registry

    try:
        manifest, test = registry.load_scores(name, root)
    except BadArtifact:
        return None
    if test is None:
        return None
    judged = sum(source.judgements for source in test.confidence.values())
    error = sum(source.judgements * source.calibration_error for source in test.confidence.values())
    return TestScores(test.records, test.per_label, error / judged if judged else None, manifest.lm.spec)


def _check_lm(loaded: "Loaded", lm: LanguageModel) -> None:
    """Raise `LMUnavailable` where the LM cannot judge what the program shows; warn where it is not the one that the
    program was fitted to."""
    from aisr.predict.judge import another_lm
    from aisr.predict.prepare import attach

    try:
        attach(loaded.program, lm.opened, loaded.program.image_folder)
    except UserError as error:
        raise LMUnavailable(in_python(error)) from error
    if warning := another_lm(loaded.program, lm.opened):
        warnings.warn(warning, UserWarning, stacklevel=3)
