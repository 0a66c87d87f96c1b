"""A language model as programs use it: `OpenLM`, a `dspy.LM` with the adapter that renders its prompts and reads its
answers (`aisr.lm.answers`). A call is a `dspy.lm15.Request`: it is answered from DSPy's cache, else sent, as often as
that may help; what is sent is limited and charged by a ledger (`aisr.lm.budget`).

DSPy retries as well, but would wait for as long as a server asks, be it a day, and for minutes on a wrong port.
"""

import json
import logging
import os
import random
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import dspy
from dspy.lm15 import LM15Error, Message, OpenAIChatLM, Request, Response, TextPart, Usage, request_from_openai_chat
from dspy.utils.callback import with_callbacks
from dspy.utils.exceptions import (
    LMAuthError,
    LMBillingError,
    LMConfigurationError,
    LMError,
    LMInvalidRequestError,
    LMRateLimitError,
    LMTransportError,
    LMUnsupportedFeatureError,
    LMUnsupportedModelError,
    is_retryable_lm_error,
)
from pydantic import BaseModel, ValidationError

from aisr.base import redact
from aisr.base.files import digest_text
from aisr.lm.answers import Answer, adapter_for, read_answer
from aisr.lm.budget import BudgetSpent, Ledger, Spend
from aisr.lm.config import LMConfig, Price
from aisr.lm.schema import Detail, with_lists
from aisr.lm.transport import Stopped, check_stopping

if TYPE_CHECKING:
    from aisr.lm.recorded import Recorder

log = logging.getLogger("aisr")

# --- When a call that failed is sent again, and when it ends the run

OVERLOADED = (503, 529)  # 529 is Anthropic's
RETRIES = 3  # of a call that failed in passing: a timeout, a lost connection, HTTP 500
PATIENCE = 8  # retries of a call that was refused for overload: it is no fault of the call's
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds; doubled with each retry
LONGEST_RETRY_AFTER = 120.0  # seconds; a server that asks for more has no room today


class WaitTooLong(LMRateLimitError):
    """The server asks for more than `LONGEST_RETRY_AFTER`. Other records would meet the same, so the run ends."""


class Unreachable(LMTransportError):
    """No call has reached the server: its address is wrong, or it does not run."""


# Errors that every record would meet.
FATAL_ERRORS = (
    LMAuthError,
    BudgetSpent,
    LMBillingError,
    LMConfigurationError,
    LMUnsupportedModelError,
    WaitTooLong,
    Unreachable,
    Stopped,
)


class Contact:
    """The calls to one server, by any number of threads. Copies of an LM share the contact of the original."""

    def __init__(self, schema_detail: Detail) -> None:
        self.first_wait = FIRST_WAIT
        self.schema_detail: Detail = schema_detail  # "none" once it refused numbers of items
        self.error: LMError | None = None  # of the first call, where every call failed
        self._is_answered = False
        self._under_way: dict[str, Future[str]] = {}
        self._lock = threading.Lock()

    def succeed(self) -> None:
        """Note an answer, be it of the cache."""
        self._is_answered, self.error = True, None

    def refuse_counts(self) -> bool:
        """Note that the server refused numbers of items. Return whether it is the first time."""
        with self._lock:
            is_first = self.schema_detail != "none"
            self.schema_detail = "none"
        return is_first

    def share(self, call: str, send: Callable[[], str]) -> str:
        """Return the result of `send`, or that of the same call where it is under way: DSPy sends an example again
        after two minutes, and a slow model would be paid twice."""
        with self._lock:
            is_first = call not in self._under_way
            future = self._under_way.setdefault(call, Future())
        if is_first:
            try:
                future.set_result(send())
            except BaseException as error:
                future.set_exception(error)
            finally:
                with self._lock:
                    del self._under_way[call]
        return future.result()

    def run(self, send: Callable[[], Response]) -> Response:
        """Return the result of `send`, after as many retries as it takes.

        Raises the last error of a call that goes on failing, `WaitTooLong`, and `Unreachable` where not even a second
        attempt reached a server that none has reached before, so that a wrong port is told in seconds.
        """
        attempt = 1
        while True:
            try:
                return send()
            except LMError as error:
                check_stopping(self._wait(error, attempt))
            attempt += 1

    def _wait(self, error: LMError, attempt: int) -> float:
        """Return the seconds to wait before a call is sent again. Raises the error where it is final."""
        if self.error is None and not self._is_answered and not isinstance(error, BudgetSpent):
            self.error = error
        if isinstance(error, LMTransportError) and self.error is not None and attempt > 1:
            raise Unreachable(error.message) from error
        retries = RETRIES
        asked: float | None = None  # seconds that an overloaded server asks for
        if isinstance(error, LMRateLimitError) or error.status in OVERLOADED:
            retries, asked = PATIENCE, error.retry_after
        if asked is not None and asked > LONGEST_RETRY_AFTER:
            raise WaitTooLong(
                f"the LM asks to wait for {asked:.0f} s; run the same command again after that"
            ) from error
        if not is_retryable_lm_error(error) or attempt > retries:
            raise error
        if asked is not None:
            return asked
        # Calls that were refused together shall not come back together.
        return random.uniform(0.5, 1.0) * min(self.first_wait * 2.0 ** (attempt - 1), LONGEST_WAIT)


# --- The language model

# Options of a call that are no part of its digest, and those of the others that are no part of its request.
NOT_SHAPING = {"api_base", "api_key", "base_url", "cache", "lists", "timeout"}
NOT_SENT = ("n", "rollout_id")
TEMPERATURE = 0.0
NAMES_SCHEMA = re.compile(r"schema|(?:min|max)_?items|response_format|grammar", re.IGNORECASE)
_answers: ContextVar[list[Answer] | None] = ContextVar("answers of a task", default=None)


class OpenLM(dspy.LM):
    """A `dspy.LM` ready for use, whose answers DSPy's cache keeps as text, that enters each call into a ledger, sends
    nothing once a limit of the ledger is reached, and keeps no history (pictures would fill the memory)."""

    recorder: "Recorder | None" = None
    endpoint: str | None = None  # digest of its server's address, never the address
    reflection_tokens = 16_000  # its longest answer where it reflects
    supports_vision: bool | None = None  # None where that is not known
    repeats_failed = False  # whether this process, too, asks again where an answer failed its record

    def __init__(
        self,
        model: str,
        config: LMConfig,
        ledger: Ledger,
        price: Price | None,
        max_tokens: int | None = None,
        **connection: Any,
    ) -> None:
        """config: its settings, and by which names errors call it; max_tokens: the longest answer, where the config
        says nothing. Raises `LMConfigurationError` for settings that a model of OpenAI's that reasons refuses."""
        super().__init__(
            model, num_retries=0, temperature=config.temperature, max_tokens=config.max_tokens, **connection
        )
        is_reasoning = "max_completion_tokens" in self.kwargs  # where defaults of ours would be refused as well
        if not is_reasoning:
            defaults = {"temperature": TEMPERATURE, "max_tokens": max_tokens}
            self.kwargs |= {name: value for name, value in defaults.items() if self.kwargs[name] is None}
        self.config, self.ledger, self.price = config, ledger, price
        self.spec, self.threads = config.model, config.threads  # how many calls at a time make sense
        wants_logprobs = config.api_base is None if config.logprobs is None else config.logprobs
        # Whether programs ask for log-probabilities with their answers.
        self.gives_logprobs = wants_logprobs and not is_reasoning and "logprobs" in self.supported_params
        self.adapter = adapter_for(config.schema and self.supports_response_schema)
        self.contact = Contact(getattr(self.engine, "schema_detail", "none"))

    def __deepcopy__(self, memo: dict[int, Any]) -> "OpenLM":
        """A copy of a program asks the same LM, on the same account."""
        return self

    @property
    def supported_params(self) -> set[str]:
        """As DSPy has them, but for the response format, which `adapter` brings along."""
        return set(super().supported_params) - {"response_format"}

    @property
    def sampling(self) -> dict[str, Any]:
        """Options of all calls that shape answers, such as temperature."""
        return {name: value for name, value in self.kwargs.items() if name not in NOT_SHAPING}

    @property
    def identity(self) -> str:
        """What tells its answers from those of another LM: the model, the form of its answers, and whether with
        log-probabilities. Not the address of its server: a model may move, or be served at several."""
        logprobs = "with" if self.gives_logprobs else "without"
        model = self.spec if self.endpoint else self.model
        return f"{model} {type(self.adapter).__name__} {logprobs} log-probabilities"

    def context(self) -> Any:
        """`with lm.context(): program(...)`."""
        return dspy.context(
            lm=self,
            adapter=self.adapter,
            trace=None,  # DSPy's would keep the inputs of ten thousand calls; optimizers open their own
            max_errors=10**9,
            warn_on_type_mismatch=False,  # records are validated when they are read
        )

    # --- Calls

    @with_callbacks  # type: ignore[untyped-decorator]
    def __call__(self, prompt: Any = None, *, messages: Any = None, **options: Any) -> Any:
        """Return the outputs of a call, of a `Request` its `Response`: of the cache, else of the LM. Raises
        `LMError`."""
        if isinstance(prompt, Request):
            return self._respond(prompt, options)
        call = self.call_digest(prompt, messages=messages, **options)
        if self.recorder:
            self.recorder.calls.add(call)
        answer = self.answer(call, prompt, messages, options)
        if self.recorder:
            answer = self.recorder.keep(answer)
        if (answers := _answers.get()) is not None:
            answers.append(answer)
        self.contact.succeed()
        return answer.legacy_outputs()

    def _respond(self, request: Request, options: Mapping[str, Any]) -> Response:
        """Return the response to a request as it stands, but for the model, which is this one."""
        call = digest_text(OpenAIChatLM(api_key="none").build_request(request, stream=False).body.decode())
        answer = self.answer(call, replace(request, model=self.model), None, options)
        return Response(
            id=None,
            model=self.model,
            message=Message.assistant([TextPart(answer.text)]),
            finish_reason="length" if answer.finish == ["length"] else "stop",
            usage=Usage(output_tokens=answer.tokens),
        )

    async def acall(self, *args: Any, **options: Any) -> Any:
        """Return what a call does; the event loop waits for it (`dspy.asyncify` has a thread a program)."""
        return self(*args, **options)

    def call_digest(self, prompt: Any = None, *, messages: Any = None, **options: Any) -> str:
        """Return the digest of a call: of its messages, the model, and the options that shape an answer, such as
        temperature, rollout and schema."""
        shaping = self._shaping(options)
        if form := shaping.get("response_format"):
            shaping["response_format"] = form.get("json_schema", {}).get("schema", form)
        call = [self.model, prompt, messages, shaping]
        return digest_text(json.dumps(call, sort_keys=True, default=_as_json))

    def _shaping(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a call that shape its answer, with those of all calls."""
        chosen = {**self.kwargs, **options}
        return {name: value for name, value in chosen.items() if name not in NOT_SHAPING and value is not None}

    def answer(self, call: str, prompt: Any, messages: Any, options: Mapping[str, Any]) -> Answer:
        """Return the answer to a call. call: its digest."""

        def send() -> str:
            wanted = options.get("n") or 1
            responses = [self.contact.run(lambda: self._send(prompt, messages, options)) for _ in range(wanted)]
            # Without the values of secret variables: it goes into predictions, demos and instructions.
            return redact.values(read_answer(call, responses).model_dump_json())

        if not options.get("cache", self.cache):
            return Answer.model_validate_json(send())
        key = self._cache_key(call)
        if (kept := _from_cache(key)) is not None:
            self.ledger.add(Spend(cached_calls=1))
            return kept

        text = self.contact.share(call, lambda: _keep_in_cache(key, send()))
        return Answer.model_validate_json(text)

    def request(self, prompt: Any, messages: Any, options: Mapping[str, Any]) -> Request:
        """Return a call as DSPy's engines take it. Raises `LMUnsupportedFeatureError`."""
        if isinstance(prompt, Request):
            return prompt
        shaping = self._shaping(options)
        for name in NOT_SENT:
            shaping.pop(name, None)
        if form := shaping.get("response_format"):
            shaping["response_format"] = with_lists(form, options.get("lists") or {}, self.contact.schema_detail)
        try:
            return request_from_openai_chat(
                {"model": self.model, "messages": messages or [{"role": "user", "content": prompt}], **shaping}
            )
        except LM15Error as error:
            raise LMUnsupportedFeatureError(error.message) from error

    def _send(self, prompt: Any, messages: Any, options: Mapping[str, Any]) -> Response:
        """Return the response to a call. What it took is charged, of a refused reply what that reports."""
        form = self._shaping(options).get("response_format") or {}
        has_lists = bool(options.get("lists")) and form.get("type") == "json_schema"
        has_counts = has_lists and self.contact.schema_detail == "counts"
        self.ledger.start_call()
        usage: Usage | None = None
        try:
            with dspy.context(disable_history=True, callbacks=[]):
                response: Response = super().__call__(self.request(prompt, messages, options), cache=False)
            usage = response.usage
            return response
        except LMError as error:
            usage = getattr(error.__cause__, "usage", None)
            if has_counts and isinstance(error, LMInvalidRequestError) and NAMES_SCHEMA.search(error.message):
                if self.contact.refuse_counts():
                    reason = " ".join(error.message.split())[:200]
                    log.warning(
                        f"{self.spec} takes no numbers of items in a schema; they are left out from here on ({reason})"
                    )
                return self._send(prompt, messages, options)
            self._explain(error)
            raise
        finally:
            self.ledger.end_call(Spend.of(usage, self.price))

    def _cache_key(self, call: str) -> dict[str, Any]:
        """Return the key of an answer. Two servers answer differently under one name."""
        return {"call": call, "server": gateway(self.model)}

    def _explain(self, error: LMError) -> None:
        """Have an error name this LM as the user did, its status, and what may be wrong, in one line; DSPy and lm15
        write the name of an engine, and advice on their own settings."""
        address = self.config.api_base
        words = [f"{self.config.model} at {address}" if address else self.config.model]
        reason = " ".join(error.message.partition("\n\n")[0].split())
        if error.status and f"HTTP {error.status}" not in reason:
            words.append(f"HTTP {error.status}")
        if address and error.status in (404, 405):
            option = self.config.option("api_base")
            reason += f" (is {option} right? requests go to {address.rstrip('/')}/chat/completions)"
        elif address and isinstance(error, LMAuthError):
            reason += " (its key comes from AISR_API_KEY, else OPENAI_API_KEY)"
        error.message = ": ".join(filter(None, [*words, reason]))
        error.args = (error.message,)

    # --- Answers that are none

    @staticmethod
    def record_answers() -> list[Answer]:
        """Return a list that gets every answer to this thread or task from here on."""
        answers: list[Answer] = []
        _answers.set(answers)
        return answers

    def failed_ending(self, answer: Answer) -> str | None:
        """Return why an answer is none, see `Answer.failure`; None where it may be one."""
        limit = self.kwargs.get("max_tokens") or self.kwargs.get("max_completion_tokens")
        return answer.failure(limit, self.config.option("max_tokens"))

    def invalidate(self, answers: Iterable[Answer]) -> None:
        """Have the next process ask for some answers again. This one keeps them, unless `repeats_failed`: a compile
        judges the same records over and over."""
        for call in {answer.call for answer in answers}:
            dspy.cache.put(self._cache_key(call), None, enable_memory_cache=self.repeats_failed)


def gateway(model: str) -> str | None:
    """Return the address of a model's provider that the environment names, such as by OPENAI_BASE_URL: DSPy and LiteLLM
    read it there as well."""
    provider = model.partition("/")[0].removesuffix("_chat").replace("-", "_").upper()
    return os.environ.get(f"{provider}_BASE_URL") or os.environ.get(f"{provider}_API_BASE") or None


def _as_json(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else dict(value)


# --- The response cache, DSPy's

_warned = threading.Event()


def _from_cache(key: dict[str, Any]) -> Answer | None:
    """Return a kept answer; None where there is none, or an entry of another form."""
    try:
        return Answer.model_validate_json(dspy.cache.get(key) or "")
    except ValidationError:
        return None
    except Exception as error:  # of SQLite and the disk
        warn_of_cache(error, dspy.cache.disk_cache_dir)
        return None


def _keep_in_cache(key: dict[str, Any], text: str) -> str:
    """Keep an answer, or say that the disk takes none, and return it."""
    dspy.cache.put(key, text)
    if dspy.cache.enable_disk_cache and not _warned.is_set():
        try:
            if dspy.cache.cache_key(key) not in dspy.cache.disk_cache:
                warn_of_cache("an answer was not kept", dspy.cache.disk_cache_dir)
        except Exception as error:
            warn_of_cache(error, dspy.cache.disk_cache_dir)
    return text


def warn_of_cache(reason: object, folder: str) -> None:
    """Say once that the response cache fails: DSPy is silent, and the next run would pay again."""
    if not _warned.is_set():
        _warned.set()
        log.warning(
            f"the response cache in {folder} fails ({reason}): the same command will pay for the same answers again. "
            "Make room there, make it writable, or set DSPY_CACHEDIR to another folder"
        )
