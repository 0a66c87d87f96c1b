"""A compiled program, and what it makes of records."""

import asyncio
import os
import warnings
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from aisr.api.lm import LM, BadProgram, BadRecord, LMUnavailable, in_python

if TYPE_CHECKING:
    from dspy import Example
    from pydantic import BaseModel

    from aisr.artifact.program_file import Loaded
    from aisr.predict.judge import Outcome


# --- What became of a record.


@dataclass(frozen=True)
class Verdict:
    """What is thought of one statement: a sentence of Track 1, the claim of Track 2.

    probabilities: of each label of the task, summing to 1; source: where they come from: the decision layer, or without
    one, best first, what a decision model gives for each option, the log-probabilities of the LM, what it states beside
    its labels, or the vote of an answer alone, of which the probabilities know next to nothing.
    """

    label: str
    probabilities: Mapping[str, float]
    source: Literal["options", "logprobs", "stated", "vote", "layer"]


@dataclass(frozen=True)
class Judged:
    """One record, judged or failed: of `answer` and `failure` exactly one is None. A failure is never a label.

    answer: the fields of its line in a predictions file (`labels`; or `label` and `evidence_para_ids`); failure: the
    reason in one line; verdicts: one a statement, none where the record failed or the task has no labels.
    """

    id: str
    answer: Mapping[str, Any] | None
    failure: str | None
    verdicts: tuple[Verdict, ...] = ()

    @property
    def line(self) -> dict[str, Any]:
        """The record as a line of a predictions file."""
        return {"id": self.id, "failed": self.failure} if self.answer is None else {"id": self.id, **self.answer}


Record: TypeAlias = "Mapping[str, Any] | BaseModel"  # as a line of a JSONL file has it, or read from there
ARTIFACTS = "artifacts"  # the folder, where AISR_ARTIFACTS does not say another


class Program:
    """A compiled program, for any number of threads and event loops; made by `load`.

    A record without an id gets the one that the official preparation gives it, by its place. A warning is given where
    the program was fitted to another LM than it is used with.
    """

    def __init__(self, loaded: "Loaded") -> None:
        self.loaded = loaded

    def __repr__(self) -> str:
        return f"<aisr.Program {self.task} {self.digest}>"

    @property
    def task(self) -> str:
        """Its name, such as `track1`."""
        return self.loaded.task.name

    @property
    def digest(self) -> str:
        """What tells it from every other program: 16 hex digits, as manifest and registry have them."""
        return self.loaded.digest

    def judge(self, record: Record, lm: LM) -> Judged:
        """What becomes of one record. Raises `BadRecord` and `LMUnavailable`."""
        check(self.loaded, lm)
        return self._judge(0, record, lm)

    def judge_all(self, records: Iterable[Record], lm: LM) -> Iterator[Judged]:
        """What becomes of each record, in their order, as the threads of the LM judge them; a few are read ahead,
        however many there are.

        Raises `BadRecord` (`records[3]: …`) when that record's turn comes, and `LMUnavailable`.
        """
        from aisr.predict.judge import in_order

        check(self.loaded, lm)
        numbered = enumerate(records)
        return in_order(numbered, lambda one: self._judge(*one, lm, f"records[{one[0]}]: "), lm.opened.threads)

    async def ajudge(self, record: Record, lm: LM) -> Judged:
        """`judge` for an event loop."""
        check(self.loaded, lm)
        return await self._ajudge(0, record, lm)

    async def ajudge_all(self, records: Iterable[Record], lm: LM) -> AsyncGenerator[Judged, None]:
        """`judge_all` for an event loop: `async for judged in program.ajudge_all(records, lm)`."""
        from aisr.predict.judge import AHEAD

        check(self.loaded, lm)
        waiting: deque[asyncio.Task[Judged]] = deque()
        try:
            for number, record in enumerate(records):
                waiting.append(asyncio.create_task(self._ajudge(number, record, lm, f"records[{number}]: ")))
                if len(waiting) == AHEAD * lm.opened.threads:
                    yield await waiting.popleft()
            while waiting:
                yield await waiting.popleft()
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    def _judge(self, number: int, record: Record, lm: LM, where: str = "") -> Judged:
        from aisr.predict.judge import judge

        given = example(self.loaded, record, number, where)
        with refusals():
            outcome = judge(self.loaded.task, self.loaded.program, given, lm.opened)
        return judged(self.loaded, given, _tried(outcome))

    async def _ajudge(self, number: int, record: Record, lm: LM, where: str = "") -> Judged:
        from aisr.predict.judge import ajudge

        given = await asyncio.to_thread(example, self.loaded, record, number, where)  # it may read pictures
        with refusals():
            outcome = await ajudge(self.loaded.task, self.loaded.program, given, lm.opened)
        return judged(self.loaded, given, _tried(outcome))


def _tried(outcome: "Outcome") -> "Outcome":
    """The same; where it is a failure, whoever judges the record again has the LM asked again."""
    from aisr.lm.response_cache import retry_failed

    if outcome.failure is not None:
        retry_failed()
    return outcome


def load(
    program: str | os.PathLike[str],
    *,
    artifacts: str | os.PathLike[str] | None = None,
    image_root: str | os.PathLike[str] | None = None,
) -> Program:
    """A compiled program, by the folder of an artifact, or `models:/aisr-track1@champion` or `models:/aisr-track1/3`.
    Reads JSON and checks its digest; nothing that is stored there runs.

    artifacts: the artifacts folder, whose MLflow store knows the latter (default: AISR_ARTIFACTS, else `artifacts`) and
    which keeps what is read in pictures; a store that MLFLOW_TRACKING_URI names comes first. image_root: the folder
    that the pictures of the records are in, for a program that shows them. Raises `BadProgram`.
    """
    from aisr.predict.prepare import attach_gallery, open_gallery
    from aisr.programs.errors import UserError
    from aisr.tracking import registry

    root = Path(artifacts or os.environ.get("AISR_ARTIFACTS") or ARTIFACTS)
    try:
        loaded = registry.load(os.fspath(program), root)
        if image_root is not None:
            attach_gallery(loaded.program, open_gallery(Path(image_root), root))
    except UserError as error:  # BadArtifact, NoStore, and a folder of pictures that is none
        raise BadProgram(in_python(error)) from error
    return Program(loaded)


def check(loaded: "Loaded", lm: LM) -> None:
    """Raises `LMUnavailable` where the LM cannot judge what the program shows; warns where it is not the one that the
    program was fitted to. The program's retriever then embeds by the server that goes with the LM."""
    from aisr.predict.judge import another_lm
    from aisr.predict.prepare import attach_embeddings, check_suits
    from aisr.programs.errors import UserError

    try:
        check_suits(loaded.program, lm.opened)
    except UserError as error:
        raise LMUnavailable(in_python(error)) from error
    attach_embeddings(loaded.program, lm.opened.embeddings)
    if said := another_lm(loaded.program, lm.opened):
        warnings.warn(said, UserWarning, stacklevel=3)


def example(loaded: "Loaded", record: Record, number: int, where: str = "") -> "Example":
    """What a program takes for a record, the `number`th from 0. Raises `BadRecord`, that begins with `where`."""
    from pydantic import ValidationError

    from aisr.programs.errors import UserError
    from aisr.programs.lines import explain

    task = loaded.task
    try:
        if not isinstance(record, Mapping | task.record):
            raise UserError(
                f"a {type(record).__name__}; expected a dict such as a line of a JSONL file, of {task.name}"
            )
        if isinstance(record, Mapping):
            name = record.get("id")
            record = task.record.model_validate(
                {**record, "id": f"{task.name}-{number + 1:06d}" if name is None else name}
            )
        with refusals():  # the embedding model of a retriever can refuse as well
            return loaded.program.prepare(record)
    except ValidationError as error:
        raise BadRecord(f"{where}{explain(error)}") from error
    except UserError as error:  # also where a record has pictures, and nobody said where they are
        raise BadRecord(f"{where}{in_python(error)}") from error


def judged(loaded: "Loaded", given: "Example", outcome: "Outcome") -> Judged:
    """An outcome, as the caller gets it."""
    if outcome.failure is not None:
        return Judged(given.id, None, outcome.failure)
    labels = loaded.task.judgements.labels if loaded.task.judgements else ()
    verdicts = [
        Verdict(one.label, dict(zip(labels, one.chances, strict=True)), one.source) for one in outcome.judgements
    ]
    return Judged(given.id, loaded.task.line(outcome.answer), None, tuple(verdicts))


@contextmanager
def refusals() -> Iterator[None]:
    """What would meet every record alike, in our words and without keys or addresses."""
    from dspy.utils.exceptions import LMError

    try:
        yield
    except LMError as error:
        raise LMUnavailable(in_python(error)) from None
