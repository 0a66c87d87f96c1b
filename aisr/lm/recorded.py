"""Recorded answers: `recording` writes the answers of LMs to a file while a compile runs, and `--lm recorded:FILE`
gives them back, so that anybody repeats the compile without a key, a server or costs.

The file is JSON Lines, gzip. Its first line (`Header`) has what shapes prompts and choices; each further line
(`Answer`) an answer, by the digest of its call. It holds no prompt, key or address. Calls are recorded and replayed
above the response cache, whose hits reach no engine.
"""

import gzip
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

from dspy.lm15 import InvalidRequestError, Request, Response
from dspy.utils.exceptions import LMConfigurationError
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from aisr.base.errors import UserError
from aisr.base.files import pluralize, replacing
from aisr.base.jsonl import LONGEST_LINE, explain
from aisr.lm.answers import Answer, adapter_for
from aisr.lm.budget import Ledger, Spend
from aisr.lm.client import OpenLM
from aisr.lm.config import RECORDED, LMConfig, LMUnavailable, Price
from aisr.lm.info import LMInfo

# --- The lines of a recording


class RecordedEngine(LMInfo):
    """An LM as far as it shapes prompts and the choice of a champion. It stands in the place of its engine, and answers
    nothing."""

    model: str
    temperature: float | None = Field(default=None, exclude=True)  # one of `sampling`
    logprobs: bool | None = Field(default=None, exclude=True)  # `gives_logprobs`
    sampling: dict[str, Any]  # temperature, longest answer
    price: Price | None  # the champion is chosen by score and price
    gives_logprobs: bool
    supports_vision: bool | None
    reflection_tokens: int
    supports_response_schema: bool
    supported_params: Annotated[list[str], BeforeValidator(sorted)]  # of a set: the file is the same each time

    def complete(self, request: Request) -> Response:
        raise InvalidRequestError("a recording answers no request but those of its compile")


class Header(BaseModel):
    """The first line. aisr: the version that wrote it; lms: by role, `lm` and maybe `teacher`."""

    model_config = ConfigDict(extra="forbid")
    format: Literal[1] = 1
    aisr: str
    lms: dict[str, RecordedEngine]


def read_lines(path: Path) -> Iterator[Header | Answer]:
    """Yield the lines of a recording, the header first. Raises `LMUnavailable`, with file and line, for other files."""
    number = 1
    try:
        with gzip.open(path) as file:
            while (text := file.readline(LONGEST_LINE + 1)) or number == 1:
                if len(text) > LONGEST_LINE:
                    raise ValueError(f"longer than {LONGEST_LINE >> 20} MiB")
                yield (Header if number == 1 else Answer).model_validate_json(text)
                number += 1
    except (OSError, EOFError, zlib.error, ValueError) as error:
        reason = explain(error) if isinstance(error, ValidationError) else getattr(error, "strerror", None) or error
        raise LMUnavailable(
            f"{path}:{number}: {reason}; expected a recording, which `aisr compile … --record FILE` writes"
        ) from error


def _packed(answer: Answer) -> bytes:
    """Return an answer as it is kept in memory: the log-probabilities of 20 alternatives a token are a hundred times as
    long as the text."""
    return zlib.compress(answer.model_dump_json().encode(), 1)


def _unpacked(packed: bytes) -> Answer:
    return Answer.model_validate_json(zlib.decompress(packed))


# --- Recording


@contextmanager
def recording(path: Path, lms: Mapping[str, OpenLM]) -> Iterator["Recorder"]:
    """Record all answers of LMs, by role, for as long as the block lasts. The file is written when the block ends well.

    Raises UserError where another file has that name, and `CannotWrite`.
    """
    if path.exists():
        try:
            next(read_lines(path))
        except LMUnavailable as error:
            raise UserError(f"--record {path} exists and is no recording; choose another name") from error
    header = Header(aisr=version("aisr"), lms={role: RecordedEngine.model_validate(lm) for role, lm in lms.items()})
    with replacing(path) as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as lines:
        recorder = Recorder(lines)
        recorder.write(header)
        for lm in lms.values():
            lm.recorder = recorder
        try:
            yield recorder
        finally:
            for lm in lms.values():
                lm.recorder = None
        if recorder.error is not None:
            raise recorder.error


class Recorder:
    """Writes the first answer to each call. A call that is made again returns that answer, also where two threads made
    it at once and the server answered differently: a replay has one answer to give."""

    def __init__(self, lines: gzip.GzipFile) -> None:
        self.calls: set[str] = set()  # digests of all calls, also of those that failed
        self.error: OSError | None = None  # why lines could not be written
        self._lines = lines
        self._lock = threading.Lock()
        self._answers: dict[str, bytes] = {}

    def __str__(self) -> str:
        text, unanswered = pluralize(len(self._answers), "answer"), len(self.calls) - len(self._answers)
        if not unanswered:
            return text
        return f"{text}; no answer came to {pluralize(unanswered, 'call')}: run the same command again"

    def keep(self, answer: Answer) -> Answer:
        """Return the first answer to a call, which is written down."""
        with self._lock:
            if answer.call not in self._answers:
                self._answers[answer.call] = _packed(answer)
                self.write(answer)
        return _unpacked(self._answers[answer.call])

    def write(self, line: BaseModel) -> None:
        """Write a line. A failure ends the recording and not the compile, whose answers cost money."""
        try:
            self._lines.write(line.model_dump_json(exclude_defaults=isinstance(line, Answer)).encode() + b"\n")
        except OSError as error:
            self.error = self.error or error


# --- Replaying


class UnknownPrompt(LMConfigurationError):
    """A recording holds no answer to a call. It ends the command, as every other record would meet it too."""


class RecordedLM(OpenLM):
    """An LM whose answers are those of a recording. They count as answers of the cache."""

    def __init__(
        self, model: RecordedEngine, config: LMConfig, ledger: Ledger, header: Header, answers: dict[str, bytes]
    ) -> None:
        """answers: packed, by the digests of their calls."""
        super().__init__(model.model, config, ledger, model.price, engine=model)
        self.spec, self.endpoint, self.kwargs = model.spec, model.endpoint, dict(model.sampling)
        self.adapter = adapter_for(schema=model.adapter == "JSONAdapter")
        self.gives_logprobs, self.supports_vision = model.gives_logprobs, model.supports_vision
        self.reflection_tokens = model.reflection_tokens
        self.header, self.answers = header, answers

    def answer(self, call: str, prompt: Any, messages: Any, options: Mapping[str, Any]) -> Answer:
        """Return the answer to a call. Raises `UnknownPrompt`, and from then on always, for the teacher as well: DSPy's
        optimizers take the error for a failed record, and would go on to another program."""
        if self.ledger.final_error is None and call not in self.answers:
            self.ledger.final_error = UnknownPrompt(self._explanation())
        if self.ledger.final_error is not None:
            raise self.ledger.final_error
        self.ledger.add(Spend(cached_calls=1))
        return _unpacked(self.answers[call])

    def _explanation(self) -> str:
        options = {"lm": "--lm", "teacher": "--teacher-lm"}
        lms = " ".join(f"{options.get(role, role)} {model.spec}" for role, model in self.header.lms.items())
        return (
            f"{_path(self.config)} holds no answer to a prompt. Prompts change with the version of aisr (recorded: "
            f"{self.header.aisr}, this one: {version('aisr')}), with data, options, optimizer and seed, and with the "
            f"LMs (recorded: {lms}); repeat the recorded command with {RECORDED}FILE in place of each LM, or ask an LM"
        )


def _path(config: LMConfig) -> Path:
    return Path(config.model.removeprefix(RECORDED))


def open_recorded(config: LMConfig, ledger: Ledger) -> OpenLM:
    """Return the recorded LM of the role of a config. Raises `LMUnavailable`."""
    lines = read_lines(_path(config))
    header: Header = next(lines)  # type: ignore[assignment]
    answers = {answer.call: _packed(answer) for answer in lines if isinstance(answer, Answer)}
    model = header.lms.get(config.role or "lm")
    if model is None:
        raise LMUnavailable(f"{config.option('lm')} {config.model}: that compile had no such LM; leave the option out")
    return RecordedLM(model, config, ledger, header, answers)
