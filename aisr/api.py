"""The Python interface: an LM, a compiled program, and its judgement of records. `aisr` exports the public names.

Imports of DSPy, MLflow and the rest of the project stand in the functions: importing `aisr` loads none of them.
"""

import asyncio
import os
import re
import warnings
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from dspy import Example
    from pydantic import BaseModel

    from aisr.artifact.program import Loaded
    from aisr.lm.client import OpenLM
    from aisr.predict.judge import Outcome

Record: TypeAlias = "Mapping[str, Any] | BaseModel"  # as a line of a JSONL file has it, or read from there
ARTIFACTS = "artifacts"  # the folder, where AISR_ARTIFACTS names no other
OPTION = re.compile(r"(?:--(?:set \w+\.)?|\blimits\.)([a-z]+(?:[-_][a-z]+)*)")  # of a command


# --- Errors. A record that merely fails is none: see `Judged`.


class Error(Exception):
    """An error that the caller can mend; the message says what was expected, and what to do."""


class BadRecord(Error, ValueError):
    """A record of the wrong form: `records[3]: sentence_label[0].sentence: Field required`."""


class BadProgram(Error, ValueError):
    """There is no such program, or it is not what was saved; or its store or its pictures cannot be opened."""


class LMUnavailable(Error):
    """The language model cannot be opened, or would refuse every record: a refused key, an account without
    credit, a limit that is reached, a server closed for long."""


def in_python(error: Exception) -> str:
    """The message of an error, without secrets and addresses; a command's `--api-base` is `api_base` here."""
    from aisr.base import redact

    return OPTION.sub(lambda option: option[1].replace("-", "_"), redact.addresses(str(error)))


# --- The language model


class LM:
    """A language model that is ready for use, by any number of threads and event loops; made by `open_lm`."""

    def __init__(self, opened: "OpenLM") -> None:
        self.opened = opened

    def __repr__(self) -> str:
        return f"<aisr.LM {self.spec}>"

    @property
    def spec(self) -> str:
        """Its name: `embedded`, or PROVIDER/MODEL."""
        return self.opened.spec

    @property
    def spend(self) -> dict[str, int | float | None]:
        """The use so far: `calls` sent, `cached_calls` answered from the cache, `prompt_tokens` and
        `completion_tokens` of those sent, of the former the `prefix_tokens` that the provider had in its own cache, and
        `usd` (None where a price is unknown)."""
        return self.opened.ledger.spend.as_dict()

    async def aclose(self) -> None:
        """Close the connections of this event loop; the next call opens new ones. `async with contextlib.aclosing(lm):`
        does it at the end of a block."""
        await self.opened.lm.aclose()


def open_lm(
    spec: str = "embedded",
    *,
    api_base: str | None = None,
    schema: bool = True,
    logprobs: bool = True,
    threads: int | None = None,
    timeout: float | None = None,
    price: tuple[float, float] | None = None,
    max_usd: float | None = None,
    max_calls: int | None = None,
    max_minutes: float | None = None,
    embedding_api_base: str | None = None,
    embedding_price: float | None = None,
) -> LM:
    """A language model by its name: `embedded`, PROVIDER/MODEL such as `openai/gpt-4o-mini`, or `recorded:FILE`, the
    answers that `aisr compile --record FILE` wrote. Its key comes from the environment.

    api_base: address of an OpenAI-compatible server for `openai/MODEL`; schema: whether that server takes a JSON
    schema; logprobs: whether to ask for log-probabilities, where it may give them; threads: calls at a time (default 8;
    the embedded model takes 1); timeout: seconds to wait for a complete answer (default: 600);
    price: USD a million prompt and completion tokens, where LiteLLM's list lacks the model; max_usd, max_calls,
    max_minutes: nothing more is sent once so much is spent, or after so long; embedding_api_base and embedding_price:
    where the embedding model of a retriever is, if not at `api_base`, and USD a million of its tokens.

    Answers are kept in DSPy's own response cache, which is the caller's: in the folder DSPY_CACHEDIR, else below the
    home folder, or as `dspy.configure_cache` has it; as text, never pickles. To share that of the commands, set
    DSPY_CACHEDIR to `artifacts/.cache` before the first LM is opened. Raises `LMUnavailable`.
    """
    from aisr.lm import config as configs
    from aisr.lm import open as opening
    from aisr.lm.budget import Ledger, Limits

    ledger = Ledger(Limits(max_usd, max_calls, max_minutes))
    try:
        config = configs.LMConfig(
            spec,
            api_base=api_base,
            schema=schema,
            logprobs=logprobs,
            threads=threads,
            timeout=timeout,
            price=configs.Price(*price) if price else None,
            embedding_api_base=embedding_api_base,
            embedding_price=embedding_price,
        )
        opened = opening.open_lm(config, ledger)
    except configs.LMUnavailable as error:
        raise LMUnavailable(in_python(error)) from error
    return LM(opened)


# --- Results


@dataclass(frozen=True)
class Verdict:
    """The judgement of one statement: a sentence of Track 1, the claim of Track 2."""

    label: str
    probabilities: Mapping[str, float]  # of each label of the task, summing to 1
    # Of the probabilities: the decision layer, or without one, best first: a decision model's for each option, the LM's
    # log-probabilities, those that it states beside its labels, or the vote of its answer alone, which says little.
    source: Literal["options", "logprobs", "stated", "vote", "layer"]


@dataclass(frozen=True)
class Judged:
    """One record, judged or failed: of `answer` and `failure` exactly one is None. A failure is never a label."""

    id: str
    answer: Mapping[str, Any] | None  # as in a predictions file: `labels`, or `label` and `evidence_para_ids`
    failure: str | None  # the reason in one line
    verdicts: tuple[Verdict, ...] = ()  # one a statement; none for a failed record or a task without labels

    @property
    def line(self) -> dict[str, Any]:
        """The record as a line of a predictions file."""
        return {"id": self.id, "failed": self.failure} if self.answer is None else {"id": self.id, **self.answer}


# --- Programs


class Program:
    """A compiled program, for any number of threads and event loops; made by `load`.

    A record without an id gets the one that the official preparation gives it, by its place. It warns where the
    program was fitted to another LM than it is used with.
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
        """Its digest: 16 hex digits, as in manifest and registry."""
        return self.loaded.digest

    def judge(self, record: Record, lm: LM) -> Judged:
        """The result for one record. Raises `BadRecord` and `LMUnavailable`."""
        check_lm(self.loaded, lm)
        return self._judge(0, record, lm)

    def judge_all(self, records: Iterable[Record], lm: LM) -> Iterator[Judged]:
        """The results of all records, in their order, judged by the threads of the LM. At most four records for each
        thread are read ahead.

        Raises `BadRecord` (`records[3]: …`) when that record's turn comes, and `LMUnavailable`.
        """
        from aisr.predict.judge import map_ordered

        check_lm(self.loaded, lm)
        numbered = enumerate(records)
        return map_ordered(lambda item: self._judge(*item, lm, f"records[{item[0]}]: "), numbered, lm.opened.threads)

    async def ajudge(self, record: Record, lm: LM) -> Judged:
        """`judge` for an event loop."""
        check_lm(self.loaded, lm)
        return await self._ajudge(0, record, lm)

    async def ajudge_all(self, records: Iterable[Record], lm: LM) -> AsyncGenerator[Judged, None]:
        """`judge_all` for an event loop: `async for judged in program.ajudge_all(records, lm)`."""
        from aisr.predict.judge import AHEAD

        check_lm(self.loaded, lm)
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

        example = prepare_record(self.loaded, record, number, where)
        with translated_errors():
            outcome = judge(self.loaded.task, self.loaded.program, example, lm.opened)
        return to_judged(self.loaded, example, _retry_later(outcome))

    async def _ajudge(self, number: int, record: Record, lm: LM, where: str = "") -> Judged:
        from aisr.predict.judge import ajudge

        example = await asyncio.to_thread(prepare_record, self.loaded, record, number, where)  # it may read pictures
        with translated_errors():
            outcome = await ajudge(self.loaded.task, self.loaded.program, example, lm.opened)
        return to_judged(self.loaded, example, _retry_later(outcome))


def _retry_later(outcome: "Outcome") -> "Outcome":
    """The same outcome. After a failure, judging the record again asks the LM again."""
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
    from aisr.base.errors import UserError
    from aisr.predict.prepare import attach_gallery, open_gallery
    from aisr.tracking import registry

    root = Path(artifacts or os.environ.get("AISR_ARTIFACTS") or ARTIFACTS)
    try:
        loaded = registry.load(os.fspath(program), root)
        if image_root is not None:
            attach_gallery(loaded.program, open_gallery(Path(image_root), root))
    except UserError as error:  # BadArtifact, NoStore, and a folder of pictures that is none
        raise BadProgram(in_python(error)) from error
    return Program(loaded)


def check_lm(loaded: "Loaded", lm: LM) -> None:
    """Raises `LMUnavailable` where the LM cannot judge what the program shows; warns where it is not the one that the
    program was fitted to. The program's retriever then embeds by the server that goes with the LM."""
    from aisr.base.errors import UserError
    from aisr.predict.judge import another_lm
    from aisr.predict.prepare import attach_embeddings, check_compatible

    try:
        check_compatible(loaded.program, lm.opened)
    except UserError as error:
        raise LMUnavailable(in_python(error)) from error
    attach_embeddings(loaded.program, lm.opened.embeddings)
    if warning := another_lm(loaded.program, lm.opened):
        warnings.warn(warning, UserWarning, stacklevel=3)


def prepare_record(loaded: "Loaded", record: Record, number: int, where: str = "") -> "Example":
    """The example of the `number`th record, from 0. Raises `BadRecord`; its message begins with `where`."""
    from pydantic import ValidationError

    from aisr.base.errors import UserError
    from aisr.programs.records import explain

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
        with translated_errors():  # the embedding model of a retriever can refuse as well
            return loaded.program.prepare(record)
    except ValidationError as error:
        raise BadRecord(f"{where}{explain(error)}") from error
    except UserError as error:  # also where a record has pictures, and no folder for them is known
        raise BadRecord(f"{where}{in_python(error)}") from error


def to_judged(loaded: "Loaded", example: "Example", outcome: "Outcome") -> Judged:
    """An outcome as the caller gets it."""
    if outcome.failure is not None:
        return Judged(example.id, None, outcome.failure)
    from aisr.programs.task import LabelTask

    labels = loaded.task.labels if isinstance(loaded.task, LabelTask) else ()
    verdicts = [
        Verdict(one.label, dict(zip(labels, one.probabilities, strict=True)), one.source) for one in outcome.judgements
    ]
    return Judged(example.id, loaded.task.prediction.line(outcome.answer), None, tuple(verdicts))


@contextmanager
def translated_errors() -> Iterator[None]:
    """Errors that would meet every record alike, as `LMUnavailable` without keys or addresses."""
    from dspy.utils.exceptions import LMError

    try:
        yield
    except LMError as error:
        raise LMUnavailable(in_python(error)) from None
