"""Prediction by a provider's batch API: the requests as a file, the answers from a file, at half the price and within
a day.

The format is OpenAI's, which others have taken over: `{"custom_id", "method", "url", "body"}` a line, answered by
`{"custom_id", "response": {"status_code", "body"}, "error"}` in any order. A request is known by the digest of its
body, so equal requests are sent once, and an answer to another prompt is never taken for one to this. Reading the
answers is an ordinary prediction with another LM: the same parsing, checks, decision layer, resume. DSPy's
own OpenAI engine builds the bodies and reads the answers, so that a request of a batch is the request of a live run,
byte for byte, and its answer goes the same way.
"""

import json
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from dspy.lm15 import InvalidRequestError, LMRouter, Request, Response, RouterConfig
from pydantic import BaseModel, ConfigDict, ValidationError

from aisr.base import redact
from aisr.base.errors import UserError
from aisr.base.files import digest_text, replacing
from aisr.lm.budget import Ledger
from aisr.lm.client import LedgerLM, OpenLM
from aisr.lm.config import LMConfig, LMUnavailable
from aisr.lm.embeddings import Embeddings
from aisr.lm.endpoint import Endpoint, readable, without_secrets
from aisr.lm.open import open_lm
from aisr.predict.judge import judge
from aisr.programs.program import Program
from aisr.programs.records import BadLine, explain, read
from aisr.programs.task import Task

Body = dict[str, Any]
# From the body of a request and an answer of the right form to the body of the response.
Exchange = Callable[[Body, str], Body]

EXPORT, IMPORT = "export", "import"
URL = "/v1/chat/completions"
# What OpenAI takes in one file.
MOST_REQUESTS = 50_000
MOST_BYTES = 200 * 10**6


@dataclass(frozen=True)
class Export:
    """The result of an export."""

    records: int  # read
    requests: int  # written
    size: int  # in bytes
    failures: dict[str, str]  # reasons of records whose requests could not be made

    @property
    def too_large(self) -> str:
        """Which limits of OpenAI's the file exceeds, in words; empty where it is within them."""
        over = [(self.requests > MOST_REQUESTS, f"{MOST_REQUESTS:,} requests"), (self.size > MOST_BYTES, "200 MB")]
        return ", ".join(limit for exceeded, limit in over if exceeded)


def open_batch_lm(batch: str | None, answers: Path | None, config: LMConfig, ledger: Ledger | None = None) -> OpenLM:
    """The LM of `--batch`: one that answers from a file, or for the requests alone. Needs no key.

    Raises UserError for options that do not go together, and `BadLine` for a line that answers nothing.
    """
    if (answers is not None) != (batch == IMPORT):
        raise UserError("--answers, the file that the provider gave back, goes with --batch import, and only with it")
    if batch not in (EXPORT, IMPORT):
        raise UserError(f"--batch {batch!r}: one of: {EXPORT}, {IMPORT}")
    if not config.model.startswith("openai/"):
        raise LMUnavailable(f"--batch speaks OpenAI's format: --lm openai/MODEL, not {config.model}")
    # Nothing is sent, so that no limit is for it; embeddings are requested as ever.
    lm = replace(open_lm(config, needs_key=False), embeddings=Embeddings(config, ledger))
    logging.getLogger("dspy").setLevel(logging.CRITICAL)
    return lm if answers is None else offline(lm, Answers(answers).answer)


def export(task: Task, program: Program, data: Path, out: Path, lm: OpenLM) -> Export:
    """Write the requests that predicting `data` would send, each once; the file is written whole or not at all.

    Raises UserError where `out` exists, where the program asks in steps or not at all, `BadLine` for a bad input line,
    and `CannotWrite`.
    """
    if not program.asks_lm or not program.predictors():
        raise UserError("the program asks no LM, so that there is nothing to export; leave out --batch to predict")
    if len(program.predictors()) > 1:  # its questions build on its answers
        raise UserError("--batch takes programs that ask all at once; one that asks in steps predicts without --batch")
    if out.exists():
        raise UserError(f"{out} exists; choose another --out or remove it")
    failures = {}
    records = size = 0
    requests = _Requests()
    recorder = offline(lm, requests.record)
    with replacing(out) as file:
        for record in read(data, task.record, task.name):
            records += 1
            outcome = judge(task, program, record, recorder)
            if outcome.failure is not None:
                failures[record.id] = outcome.failure
            size += file.write(requests.take_lines())
    return Export(records, len(requests.ids), size, failures)


class _Requests:
    """The lines of an export, each request once. `export` writes them: here a full disk would look like a failed
    call."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self._new: list[bytes] = []

    def record(self, body: Body, stand_in: str) -> Body:
        """Record a request, and answer it with the stand-in so that the program goes on to its next."""
        key = request_id(body)
        if key not in self.ids:
            self.ids.add(key)
            line = {"custom_id": key, "method": "POST", "url": URL, "body": body}
            self._new.append(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        return _completion(body, stand_in)

    def take_lines(self) -> bytes:
        """The lines of the requests since the last call."""
        lines, self._new = self._new, []
        return b"".join(lines)


def request_id(body: Body) -> str:
    """The `custom_id` of a request: the digest of its body."""
    return digest_text(json.dumps(body, sort_keys=True))


class _Response(BaseModel):
    model_config = ConfigDict(extra="ignore")
    status_code: int
    body: Any = None


class _Answer(BaseModel):
    """A line of the file that a batch API gives back."""

    model_config = ConfigDict(extra="ignore")
    custom_id: str
    response: _Response | None = None
    error: Any = None

    @property
    def body(self) -> Body | None:
        """The model's answer, or None."""
        fine = self.response is not None and self.response.status_code == 200 and not self.error
        return self.response.body if fine and self.response and isinstance(self.response.body, dict) else None

    @property
    def refusal(self) -> str:
        """The reason why there is none."""
        status = f"status {self.response.status_code}: " if self.response else ""
        error = self.error or (self.response.body if self.response else None)
        if isinstance(error, dict) and isinstance(error.get("error"), dict):
            error = error["error"]  # OpenAI wraps the errors of its servers once more
        if isinstance(error, dict):
            error = " ".join(str(error[key]) for key in ("code", "message") if error.get(key)) or error
        return f"{status}{error or 'no answer and no error'}"


class Answers:
    """The answers of a batch by their requests. Memory holds only where each stands in the file.

    Raises `BadLine` for a line that is no answer. Of several lines to one request the first with an answer counts.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._place: dict[str, int] = {}
        answered: set[str] = set()
        with path.open("rb") as file:
            place = 0
            for number, line in enumerate(file, start=1):
                if line.strip():
                    answer = self._parse(line, number)
                    key = answer.custom_id
                    if key not in answered and (answer.body is not None or key not in self._place):
                        self._place[key] = place
                    if answer.body is not None:
                        answered.add(key)
                place += len(line)

    def answer(self, body: Body, stand_in: str) -> Body:
        """The answer to a request. Raises lm15's InvalidRequestError, with the reason, where there is none."""
        place = self._place.get(request_id(body))
        if place is None:
            raise InvalidRequestError(
                f"{self.path.name} holds no answer to this request; was it exported with the same program, LM and data?"
            )
        with self.path.open("rb") as file:
            file.seek(place)
            answer = self._parse(file.readline(), 0)
        if answer.body is None:
            raise InvalidRequestError(f"the batch answered with {answer.refusal}")
        return readable(answer.body)

    def _parse(self, line: bytes, number: int) -> _Answer:
        try:
            return _Answer.model_validate_json(line)
        except ValidationError as error:
            raise BadLine(
                f"{self.path}:{number}: {explain(error)}; expected a line of a batch API's output, with custom_id and "
                "response or error"
            ) from error


def _completion(body: Body, text: str) -> Body:
    """A chat completion of `text`; where log-probabilities were requested, the text has probability 1."""
    certain = {"token": text, "logprob": 0.0, "bytes": None, "top_logprobs": []}
    choice: Body = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    if body.get("logprobs"):
        choice["logprobs"] = {"content": [certain], "refusal": None}
    return {"id": "none", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice]}


# --- A file in place of the network


def offline(opened: OpenLM, exchange: Exchange) -> OpenLM:
    """The LM with `exchange` in place of its server. Nothing is sent or cached, and one thread suffices."""
    lm = opened.lm.copy(engine=OfflineEngine(opened.lm, exchange), cache=False)
    lm.price = None  # the price of a batch is not on LiteLLM's list
    return replace(opened, lm=lm, threads=1)


class OfflineEngine:
    """The engine of an LM without a network, for `dspy.LM(engine=...)`."""

    asks_once = True  # aisr.programs.program: there is nobody to ask for a repair
    supports_function_calling = False
    supports_reasoning = False

    def __init__(self, lm: LedgerLM, exchange: Exchange) -> None:
        self.supports_response_schema = lm.supports_response_schema
        self.supported_params = lm.supported_params
        declared = lm.engine.providers if isinstance(lm.engine, Endpoint) else ()
        known = LMRouter(RouterConfig(providers=declared)).resolve_openai_chat(lm.model)
        self._model = f"{known.provider}:{known.model}"
        self._wire = _Wire(exchange)
        config = RouterConfig(providers=declared, api_keys={known.provider: "none"}, transport=self._wire)
        self._router = LMRouter(config)

    def __deepcopy__(self, memo: dict[int, Any]) -> "OfflineEngine":
        return self

    def complete(self, request: Request) -> Response:
        extensions = dict(request.config.extensions or {})
        metadata = extensions.pop("metadata", {})  # ours, and not for a server
        self._wire.of_thread.stand_in = metadata.get("stand_in", "")
        sent = replace(request, model=self._model, config=replace(request.config, extensions=extensions or None))
        return without_secrets(self._router.complete(sent), request.model, redact.secret_values())

    def close(self) -> None:
        self._router.close()


class _Wire:
    """The transport of that engine."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self.of_thread = threading.local()  # a request and its transport share a thread

    def stream(self, request: Any) -> "_Reply":
        body = json.loads(request.body)
        answer = self._exchange(body, self.of_thread.stand_in)
        return _Reply(json.dumps(answer).encode())

    def close(self) -> None:
        """Nothing to close."""


@dataclass
class _Reply:
    """A response with status 200, as far as the engine looks at it."""

    body: bytes
    status = 200
    reason = "OK"
    http_version = "HTTP/1.1"
    headers = (("content-type", "application/json"),)

    def read(self) -> bytes:
        return self.body

    def __enter__(self) -> "_Reply":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Nothing to give back."""
