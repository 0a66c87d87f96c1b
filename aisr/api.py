"""The Python interface: a language model, a program, and its judgement of records. `aisr` exports the public names, and
imports this module, which loads DSPy, when one of them is used."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import dspy
from dspy.utils.exceptions import AdapterParseError, LMError
from pydantic import BaseModel, ValidationError

from aisr.artifact.program import Loaded, parse, program_text
from aisr.base import redact
from aisr.base.errors import COMMAND, UserError
from aisr.base.jsonl import explain
from aisr.judging.evaluate import probabilities
from aisr.judging.judge import Outcome, attach, failure_text, judge, map_ordered, open_images
from aisr.lm import open as opening
from aisr.lm.budget import Ledger, Limits
from aisr.lm.client import FATAL_ERRORS, OpenLM
from aisr.lm.config import LMConfig, LMUnavailable
from aisr.optimize.estimate import DryRun
from aisr.programs.case import Case
from aisr.programs.evidence import ShownEvidence
from aisr.programs.program import Program, UnusableAnswer
from aisr.programs.registry import find_task
from aisr.programs.task import Task
from aisr.tracking import registry

NO_DRAWINGS: Mapping[str, Path] = MappingProxyType({})
OPTION = re.compile(r"(?<!pip install )(?:--|-L )([a-z][a-z_-]*+)")  # of a command, in a message

AnyRecord: TypeAlias = Mapping[str, Any] | BaseModel  # as a line of a JSONL file has it, or read from there


def in_python(error: Exception | str) -> str:
    """Return the message of an error or of a limit, without secrets; what a command names `--api-base` is `api_base`
    to Python."""
    message = redact.secrets(str(error))
    if COMMAND.get():
        return message
    message = message.replace("price=PROMPT,COMPLETION", "price=(PROMPT, COMPLETION)")
    return OPTION.sub(lambda option: option[1].replace("-", "_"), message)


@contextmanager
def errors_in_python(where: str = "") -> Iterator[None]:
    """Raise errors for the user as `in_python` words them, after `where`; those of every record as `LMUnavailable`."""
    try:
        yield
    except FATAL_ERRORS as error:
        raise LMUnavailable(in_python(error)) from None  # its traceback would show what the server answered
    except UserError as error:
        error.args = (f"{where}{in_python(error)}",)
        raise


# --- The language model


class LanguageModel:
    """A language model that is ready for use, by any number of threads; made by `open_lm`."""

    def __init__(self, opened: OpenLM) -> None:
        self.opened = opened
        self.spec = opened.spec  # its name: `embedded`, or PROVIDER/MODEL
        self.threads = opened.threads  # how many calls at a time make sense
        self.supports_vision = opened.supports_vision  # whether it takes pictures; None where that is not known
        # Whether answers surely come with log-probabilities; at a server of one's own only the first one shows that.
        self.gives_logprobs = opened.gives_logprobs and opened.endpoint is None

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
        """Return a copy of this language model that sends nothing: answers are made up, and `spend` is an estimate of
        what judging by it would use."""
        return LanguageModel(DryRun().open(self.opened))

    @contextmanager
    def context(self) -> Iterator[None]:
        """Have `aisr.ask` and programs called within ask this language model: `with lm.context(): …`.

        Errors of a call leave it as `UnusableAnswer`, and those that would meet every call as `LMUnavailable`, without
        keys.
        """
        try:
            with self.opened.context():
                yield
        except FATAL_ERRORS as error:
            raise LMUnavailable(in_python(error)) from None
        except (LMError, AdapterParseError) as error:
            raise UnusableAnswer(failure_text(error)) from None


def open_lm(
    spec: str | None = None,
    *,
    api_base: str | None = None,
    price: tuple[float, float] | None = None,
    max_usd: float | None = None,
    max_calls: int | None = None,
    output: str | os.PathLike[str] | None = None,
    needs_key: bool = True,
    **settings: Any,
) -> LanguageModel:
    """Return a language model by its name: PROVIDER/MODEL such as `openai/gpt-4o-mini`, `recorded:FILE`, the answers
    that `aisr compile --record FILE` wrote, or `embedded`, a small built-in one. Its key comes from the environment.

    api_base: address of an OpenAI-compatible server for `openai/MODEL`; price: USD a million prompt and completion
    tokens, where LiteLLM's list lacks the model; max_usd, max_calls: nothing more is sent once so much is spent;
    output: a file or folder, for all runs of which `max_usd` holds together; needs_key: whether its key must be at
    hand, not where nothing is sent (`estimating`); settings: what `-L` of the commands takes, by the same names and
    with the same defaults, such as `threads=16` (the fields of `aisr.lm.config.LMConfig`).

    Answers are kept in DSPy's own response cache, which is the caller's: in the folder DSPY_CACHEDIR, else below the
    home folder, or as `dspy.configure_cache` has it. Raises `LMUnavailable`.
    """
    with errors_in_python():
        limits = Limits(max_usd, max_calls)
        ledger = Ledger(limits) if output is None else Ledger.for_output(Path(output), limits)
        config = LMConfig.parse({"model": spec, "api_base": api_base, "price": price, **settings})
        opened = opening.open_config(config, ledger, needs_key)
        opened.repeats_failed = True  # judging a record again asks again
        return LanguageModel(opened)


# --- Verdicts and programs


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


class LoadedProgram:
    """A program of a task, for any number of threads; made by `load` and `uncompiled`.

    A record without an id gets the one that the official preparation gives it, by its place. It warns where the
    program was fitted to another LM than it is used with.
    """

    def __init__(self, loaded: Loaded) -> None:
        task = loaded.task
        self.loaded = loaded
        self.test_scores = loaded.test_scores  # None where nothing is known
        self.task = task.name
        self.digest = loaded.digest  # 16 hex digits, as in manifest and registry
        # Each label of its task with its definition, the one that finds no fault first; none for a task without.
        self.labels: Mapping[str, str] = {label: task.definitions[label] for label in task.labels}
        self.shows_pictures = loaded.program.picture_mode == "image"  # whether its LM is shown their pixels

    @property
    def module(self) -> Program:
        """The program as a `dspy.Module`, with its prompts, demos and evidence ranker inside; not a copy."""
        return self.loaded.program

    @property
    def picture_problems(self) -> Mapping[tuple[str, str], str]:
        """Why pictures could not be shown so far, by the id of a record and the path that it gives."""
        image_folder = self.loaded.program.image_folder
        return dict(image_folder.problems) if image_folder else {}

    def picture_file(self, path: str) -> str | None:
        """Return the absolute path of a picture that a record names, checked; None for one that cannot be shown."""
        image_folder = self.loaded.program.image_folder
        return image_folder.file("", path) if image_folder else None

    def judge(self, record: AnyRecord, lm: LanguageModel) -> Verdict:
        """Return the verdict on one record. Raises `UserError` for a record of the wrong form, and `LMUnavailable`."""
        self._attach(lm)
        return self._judge(0, record, lm)

    def judge_all(self, records: Iterable[AnyRecord], lm: LanguageModel) -> Iterator[Verdict]:
        """Return the verdicts on all records, in their order, by the threads of the LM. At most four records for each
        thread are read ahead.

        Raises `UserError` (`records[3]: …`) when that record's turn comes, and `LMUnavailable`.
        """
        self._attach(lm)
        numbered = enumerate(records)
        return map_ordered(lambda item: self._judge(*item, lm, f"records[{item[0]}]: "), numbered, lm.threads)

    async def ajudge(self, record: AnyRecord, lm: LanguageModel) -> Verdict:
        """`judge` for an event loop, in a thread of its own."""
        verdict: Verdict = await dspy.asyncify(self.judge)(record, lm)
        return verdict

    def _attach(self, lm: LanguageModel) -> None:
        """Prepare the program for an LM. Raises `LMUnavailable` where that cannot judge what the program shows; warns
        where it is not the one that the program was fitted to."""
        program = self.loaded.program
        with errors_in_python():
            attach(program, lm.opened, program.image_folder)

    def _judge(self, number: int, record: AnyRecord, lm: LanguageModel, where: str = "") -> Verdict:
        """Return the verdict on the `number`th record, from 0. where: before the message of an error."""
        task, program = self.loaded.task, self.loaded.program
        with errors_in_python(where):  # also where a record has pictures, and no folder for them is known
            checked = check_record(task, record, number)
            case = program.prepare(checked)
            outcome = judge(task, program, case, lm.opened)
        return _verdict(task, checked, case, outcome)


def check_record(task: Task, record: AnyRecord, number: int) -> Any:
    """Return the `number`th record, from 0, as the task has it. Raises `UserError`."""
    if isinstance(record, task.record):
        return record
    if not isinstance(record, Mapping):
        raise UserError(f"a {type(record).__name__}; expected a dict such as a line of a JSONL file, of {task.name}")
    name = record.get("id")
    try:
        return task.record.model_validate({**record, "id": f"{task.name}-{number + 1:06d}" if name is None else name})
    except ValidationError as error:
        raise UserError(explain(error)) from error


def _verdict(task: Task, record: Any, case: Case, outcome: Outcome) -> Verdict:
    """Return an outcome as the caller gets it."""
    judgements = outcome.judgements if task.labels else ()
    return Verdict(
        id=case.id,
        answer=None if outcome.failure is not None else task.prediction.line(outcome.answer),
        failure=outcome.failure,
        labels=tuple(judgement.label for judgement in judgements),
        probabilities=tuple(probabilities(task, judgement) for judgement in judgements),
        evidence=tuple(task.shown_evidence(record, case, outcome.answer)),
    )


def load(
    name: str | os.PathLike[str],
    task: str | Task | None = None,
    *,
    artifacts: str | os.PathLike[str] | None = None,
    image_root: str | os.PathLike[str] | None = None,
    drawings: Mapping[str, Path] = NO_DRAWINGS,
) -> LoadedProgram:
    """Return a compiled program, by the folder of an artifact, or `models:/aisr-track1@champion` or
    `models:/aisr-track1/3`. Reads JSON and checks its digest; nothing that is stored there runs.

    task: the task that it must be a program of, by name, place (`package.module:TASK`) or itself; needed for a program
    of a task that is none of ours. artifacts: the artifacts folder, whose MLflow store knows `models:/…` (default:
    AISR_ARTIFACTS, else `artifacts`); a store that MLFLOW_TRACKING_URI names comes first. image_root: the folder that
    the pictures of the records are in, for a program that shows them; drawings: of pictures there that are no raster
    images, the path of one by theirs. Raises `UserError`.
    """
    with errors_in_python():
        loaded = registry.load(os.fspath(name), artifacts_folder(artifacts), as_task(task) if task else None)
        return _with_images(loaded, image_root, drawings)


def uncompiled(
    task: str | Task,
    lm: LanguageModel,
    *,
    image_root: str | os.PathLike[str] | None = None,
    drawings: Mapping[str, Path] = NO_DRAWINGS,
    **options: Any,
) -> LoadedProgram:
    """Return the program of a task as it is before any compile, for an LM.

    options: of its program, as `-T` takes them; where they do not say, the LM is shown pictures if it is known to take
    them and there is an image_root. The rest is as for `load`. Raises `UserError`.
    """
    with errors_in_python():
        chosen = as_task(task)
        if "picture_mode" in chosen.program.Options.model_fields and image_root is not None and lm.supports_vision:
            options.setdefault("picture_mode", "image")
        program = chosen.build(options)
        loaded = parse(program_text(chosen, program), "the uncompiled program", chosen)
        return _with_images(loaded, image_root, drawings)


def as_task(task: str | Task) -> Task:
    return find_task(task) if isinstance(task, str) else task


def artifacts_folder(artifacts: str | os.PathLike[str] | None) -> Path:
    """Return the artifacts folder that a caller names, by default that of AISR_ARTIFACTS, else `artifacts`."""
    return Path(artifacts or os.environ.get("AISR_ARTIFACTS") or "artifacts")


def _with_images(
    loaded: Loaded, image_root: str | os.PathLike[str] | None, drawings: Mapping[str, Path]
) -> LoadedProgram:
    if image_root is not None:
        loaded.program.image_folder = open_images(Path(image_root), drawings)
    return LoadedProgram(loaded)
