"""Running a program over records: every record ends as an answer or as a failure with its reason.

Records are judged by an LM, or replayed: a search keeps neither prompts nor answers, since those of all candidates
would fill the memory. The response cache still has them afterwards, so that a replay of one program costs nothing.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import dspy
from dspy.utils.callback import BaseCallback
from dspy.utils.exceptions import AdapterParseError, LMError

from aisr.base import redact
from aisr.base.errors import UserError
from aisr.base.files import digest_text
from aisr.base.jsonl import count_lines, read, valid_text
from aisr.base.progress import counted
from aisr.lm.budget import BudgetSpent, Ledger, Limits
from aisr.lm.client import FATAL_ERRORS, OpenLM
from aisr.lm.config import LMUnavailable
from aisr.programs.case import Case
from aisr.programs.pictures import BadPicture, ImageFolder
from aisr.programs.probabilities import Judgement
from aisr.programs.program import Program, UnusableAnswer
from aisr.programs.records import Record
from aisr.programs.task import Answer, Task

DETAILS = ("judgements", "lm_evidence_ids", "ranking")  # fields of a prediction, and of `Outcome`, beside the answer
FAILURES = (UnusableAnswer, BadPicture, AdapterParseError, LMError)  # fail one record, but for those in `FATAL_ERRORS`
FORGOTTEN = "the response cache no longer holds the answer"
IMAGES = "images"  # the folder that the official archives are extracted to
PREFETCH_PER_THREAD = 4  # items that may be read before they are needed
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


# --- A program prepared for an LM


def find_image_folder(image_root: str | PathLike[str] | None, data: Path) -> ImageFolder | None:
    """Return the pictures of a data file: those below `image_root`, else below the nearest folder, of the file's own
    and the two above it, that has a folder `images`.

    None where neither exists; a program that needs pictures then raises. Raises UserError for a root that is no folder.
    """
    if image_root:
        return open_images(Path(image_root))
    for folder in data.resolve().parents[:3]:
        if (folder / IMAGES).is_dir():
            return open_images(folder)
    return None


def open_images(root: Path, drawn: Mapping[str, Path] = MappingProxyType({})) -> ImageFolder:
    """Return the pictures below a folder, and those drawn from drawings there. Raises UserError for no folder."""
    if not root.is_dir():
        raise UserError(f"--image-root {root}: no such folder; expected the one that holds {IMAGES}/")
    return ImageFolder(root, drawn)


def picture_digest(program: Program, paths: Iterable[str]) -> dict[str, str]:
    """Return the part of a run's identity that is its pictures: one digest of their contents, whichever folder they are
    in. Empty for a program that shows none. paths: as records name them."""
    folder = program.image_folder
    if folder is None or not program.shows_pictures:
        return {}
    lines = [f"{path} {folder.digest(path)}" for path in sorted({*paths})]
    return {"pictures": digest_text("\n".join(lines))}


def attach(program: Program, lm: OpenLM, image_folder: ImageFolder | None) -> None:
    """Prepare a program for an LM, with the folder of its records' pictures. Raises `LMUnavailable` where it shows
    pictures and the LM takes none."""
    if program.picture_mode == "image" and lm.supports_vision is False:
        raise LMUnavailable(
            f"--lm {lm.spec} takes no pictures, and this program shows them; compile with -T picture_mode=ocr"
        )
    program.image_folder = image_folder


def attach_for(program: Program, lm: OpenLM, image_root: str | PathLike[str] | None, data: Path) -> None:
    """Prepare a program as `attach` does, with the pictures of a data file, else with those that it has."""
    attach(program, lm, find_image_folder(image_root, data) or program.image_folder)


# --- Judging


@dataclass(frozen=True)
class Outcome:
    """The result for one record."""

    answer: Answer | None  # None for a failed record
    failure: str | None = None  # its reason
    judgements: Sequence[Judgement] = ()  # the label probabilities of each statement
    lm_evidence_ids: Sequence[str] = ()  # evidence ids that the model names itself
    ranking: Sequence[str] = ()  # evidence ids as the program ranks them, best first


def judge(task: Task, program: Program, record: Record | Case, lm: OpenLM) -> Outcome:
    """Return the program's answer to one record, or to the case that was prepared from it.

    A failed call or an unusable answer is a failed record. What would fail every record alike (a refused key, an
    account without credit, an unknown model, a wrong configuration, a server closed for long) is raised.
    """
    case = record if isinstance(record, Case) else program.prepare(record)
    try:
        with lm.context():
            prediction = program(**case.example.inputs())
    except FATAL_ERRORS:  # each is an `LMError`, but every record would meet it
        raise
    except FAILURES as error:
        return Outcome(None, failure_text(error))
    return Outcome(task.answer(prediction), **{name: prediction.get(name, ()) for name in DETAILS})


def failure_text(error: Exception) -> str:
    """Return an error of the LM in a line, without keys and addresses: it stands in artifacts."""
    return redact.addresses(" ".join(f"{type(error).__name__}: {error}".split()))[:500]


def judge_all(task: Task, program: Program, records: Iterable[Record | Case], lm: OpenLM) -> list[Outcome]:
    """Return the outcomes of all records or cases, in their order."""
    outcomes = map_ordered(lambda record: judge(task, program, record, lm), records, lm.threads)
    return list(counted(outcomes, "judging records", len(records) if isinstance(records, Sized) else None))


def map_ordered(work: Callable[[ItemT], ResultT], items: Iterable[ItemT], threads: int) -> Iterator[ResultT]:
    """Return the result of each item in the order of the items, with up to `threads` at work.

    At most `PREFETCH_PER_THREAD` items for each thread are read ahead of the slowest, however many there are in all. An
    error of `work` is raised in its place; no further item is begun then.
    """
    if threads == 1:
        yield from map(work, items)
        return
    waiting: deque[Future[ResultT]] = deque()
    kept = _kept_threads.get()
    with nullcontext(kept) if kept else ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) == PREFETCH_PER_THREAD * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            begun = []
            for future in waiting:
                if not future.cancel():
                    begun.append(future)
            wait(begun)


_kept_threads: ContextVar[ThreadPoolExecutor | None] = ContextVar("threads of a compile", default=None)


@contextmanager
def keep_threads(lm: OpenLM) -> Iterator[None]:
    """Have all that an LM judges within the block use the same threads, which end with it.

    A new thread opens the 16 files of DSPy's cache again: a quarter of the CPU of a call where three records are judged
    at a time, as by GEPA.
    """
    with ThreadPoolExecutor(lm.threads) as pool:
        token = _kept_threads.set(pool)
        try:
            yield
        finally:
            _kept_threads.reset(token)


# --- What is behind a judgement: the calls of the LM


@dataclass(frozen=True)
class LMCall:
    """A call of the LM."""

    messages: list[tuple[str, str]]  # role and text of each
    answer: str | None  # as it came; None where there is none


@dataclass(frozen=True)
class ReplayedRecord:
    """A labelled record, its outcome, and the calls behind that."""

    record: Record
    case: Case
    outcome: Outcome
    calls: list[LMCall]


def judge_with_calls(
    task: Task, program: Program, pairs: Sequence[tuple[Record, Case]], lm: OpenLM
) -> list[ReplayedRecord]:
    """Return the outcomes of labelled records, in their order, and the calls behind them."""
    replayed = map_ordered(lambda pair: _judge_one(task, program, *pair, lm), pairs, lm.threads)
    return list(counted(replayed, "judging records", len(pairs)))


def _judge_one(task: Task, program: Program, record: Record, case: Case, lm: OpenLM) -> ReplayedRecord:
    recorder = _CallRecorder()
    with dspy.context(callbacks=[recorder]):
        return ReplayedRecord(record, case, judge(task, program, case, lm), recorder.calls)


def replay(
    task: Task,
    program: Program,
    path: Path,
    lm: OpenLM,
    limit: int | None = None,
    failures: Mapping[str, str] = MappingProxyType({}),
) -> list[ReplayedRecord]:
    """Return the labelled records of a file as a program judged them before, in their order. Nothing is sent.

    failures: the reasons of records that failed then, by id. A record that the cache cannot answer is one of these, or
    has the reason `FORGOTTEN`.
    """
    cached = from_cache_only(lm)

    def work(record: Record) -> ReplayedRecord:
        case = program.prepare(record)
        try:
            return _judge_one(task, program, record, case, cached)
        except BudgetSpent:  # a call would have been sent: the answer is not in the cache
            return ReplayedRecord(record, case, Outcome(None, failures.get(record.id, FORGOTTEN)), [])

    records = islice(read(path, task.record, task.name), limit)
    replayed = map_ordered(work, records, lm.threads)
    return list(counted(replayed, f"reading the answers to {path.name} again", count_lines(path, limit)))


def from_cache_only(lm: OpenLM) -> OpenLM:
    """Return a copy of an LM that sends no call and has a ledger of its own: replayed calls were counted already."""
    cached: OpenLM = lm.copy(ledger=Ledger(Limits(calls=0)))
    return cached


class _CallRecorder(BaseCallback):
    """Records the LM calls of one record."""

    def __init__(self) -> None:
        self.calls: list[LMCall] = []
        self._pending: dict[str, list[tuple[str, str]]] = {}

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        messages = inputs.get("messages") or []
        self._pending[call_id] = [(str(message["role"]), _text(message["content"])) for message in messages]

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        answer = outputs[0] if outputs else None
        if isinstance(answer, dict):
            answer = answer.get("text")
        text = None if answer is None else _text(answer)
        self.calls.append(LMCall(self._pending.pop(call_id, []), text))


def _text(content: Any) -> str:
    """Return a message or answer as it can be written to a file, without keys, addresses, and halves of characters."""
    return redact.addresses(valid_text(message_text(content)))


def message_text(content: Any) -> str:
    """Return the content of a message as a text; a picture in it is only mentioned."""
    if not isinstance(content, list):
        return str(content)
    return "\n".join(str(part.get("text") or f"[{part.get('type', 'part')}]") for part in content)
