"""A language model as programs use it: `LedgerLM`, a `dspy.LM` whose calls are limited and charged, and `OpenLM`: that,
with the adapter that renders its prompts and reads its answers (`aisr.lm.answers`)."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import dspy
from dspy.lm15 import BillingError, Request, Response
from dspy.utils.exceptions import LMAuthError, LMError, LMProviderError

from aisr.base import redact
from aisr.base.private import adapter_message_call
from aisr.lm.answers import Ending, endings, failed_ending, token_counts
from aisr.lm.budget import Call, Ledger, current_call
from aisr.lm.config import THREADS, Price
from aisr.lm.embeddings import Embeddings
from aisr.lm.endpoint import with_readable_logprobs
from aisr.lm.rate_limit import RETRIES, RateLimiter
from aisr.lm.response_cache import attributes, invalidate, plain, record_keys

if TYPE_CHECKING:
    from aisr.lm.recorded import Recorder


class LedgerLM(dspy.LM):
    """A `dspy.LM` that enters each call into a ledger, sends nothing once a limit of the ledger is reached, waits for
    an overloaded server, and keeps no history (pictures would fill the memory).

    gives_logprobs: whether programs may ask for log-probabilities with their answers (see `aisr.programs.program`).
    name: what errors call it, with the address of its server, if the user gave one, as `address`.
    threads: the most calls in flight; num_retries: see `aisr.lm.rate_limit`, which retries in DSPy's stead;
    recorder: see `aisr.lm.recorded`.
    """

    recorder: "Recorder | None" = None
    limit_option = "-L max_tokens"  # the option that sets how long an answer may be, as it is typed
    address_option = "--api-base"

    def __init__(
        self,
        model: str,
        *,
        ledger: Ledger,
        price: Price | None,
        gives_logprobs: bool = False,
        threads: int = THREADS,
        num_retries: int = RETRIES,
        name: str | None = None,
        address: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, num_retries=0, **kwargs)
        self.name, self.address = name or model, address
        self.ledger = ledger
        self.limiter = RateLimiter(threads, num_retries)
        self.price = price
        self.gives_logprobs = gives_logprobs
        self.contact = Contact()
        self._secrets = redact.secret_values()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        def send() -> Any:
            # DSPy tells a call of its own adapters by the LM's identity, and warns of any other.
            with self._counted(args, kwargs) as lm, adapter_message_call(lm, kwargs.get("messages")):
                return self._clean(super(LedgerLM, lm).__call__(*args, **kwargs))

        with self._recording(args, kwargs) as keep:
            return keep(self.limiter.run(send))

    async def acall(self, *args: Any, **kwargs: Any) -> Any:
        async def send() -> Any:
            with self._counted(args, kwargs) as lm, adapter_message_call(lm, kwargs.get("messages")):
                return self._clean(await super(LedgerLM, lm).acall(*args, **kwargs))

        with self._recording(args, kwargs) as keep:
            return keep(await self.limiter.arun(send))

    def update_history(self, entry: dict[str, Any]) -> None:
        """Keep no history, but how the latest answer ended."""
        response = entry["response"]
        keep_ending(endings(response), entry["outputs"], token_counts(response))

    def failed_ending(self) -> str | None:
        """Return why the latest answer to this thread or task is none, see `aisr.lm.answers`; None where it may be
        one."""
        latest = latest_answer()
        limit = self.kwargs.get("max_tokens") or self.kwargs.get("max_completion_tokens")
        reasons = (
            failed_ending(ending, output, limit, self.limit_option)
            for ending, output in zip(latest.endings, latest.outputs, strict=False)
        )
        return next(filter(None, reasons), None)

    def _recording(self, args: tuple[Any, ...], options: dict[str, Any]) -> AbstractContextManager[Any]:
        return nullcontext(lambda outputs: outputs) if not self.recorder else self.recorder.record(self, args, options)

    # For `aisr.programs`, which import nothing of this package.
    record_keys = staticmethod(record_keys)
    invalidate = staticmethod(invalidate)

    @contextmanager
    def _counted(self, args: tuple[Any, ...], options: dict[str, Any]) -> Iterator["LedgerLM"]:
        """This LM, or one that sends nothing. What it sends is charged, whatever the result."""
        reason = self.ledger.spent_out()
        lm = self if reason is None else self._refusing(reason)
        call = self._call(args, options)
        usage = _Usage(dspy.settings.usage_tracker)
        token = current_call.set(call)
        try:
            with dspy.context(usage_tracker=usage, disable_history=False):
                yield lm
        except BaseException as error:
            # Other exceptions are of calls that could not be made; an interruption ends one that may have been sent.
            if isinstance(error, LMError):
                self._explain(error)
            if reason is None and (isinstance(error, LMError) or not isinstance(error, Exception)):
                if usage.reported is not None and not call.has_answer:
                    call.receive(usage.reported)
                self.ledger.charge(call, self.price)
                if isinstance(error, LMError):
                    self.contact.fail(error)
            raise
        finally:
            current_call.reset(token)
        self.contact.succeed()
        if usage.reported is None:
            self.ledger.from_cache()
        else:
            if not call.has_answer:
                call.receive(usage.reported)
            self.ledger.charge(call, self.price)

    def _explain(self, error: LMError) -> None:
        """Have an error name this LM as the user did, its status, and what may be wrong, in one line; DSPy and lm15
        write the name of an engine, and advice on their own settings."""
        words = [f"{self.name} at {self.address}" if self.address else self.name]
        said = " ".join(error.message.partition("\n\n")[0].split())
        if error.status and f"HTTP {error.status}" not in said:
            words.append(f"HTTP {error.status}")
        words.append(said)
        if self.address and error.status in (404, 405):
            words[-1] += (
                f" (is {self.address_option} right? requests go to {self.address.rstrip('/')}/chat/completions)"
            )
        elif self.address and isinstance(error, LMAuthError):
            words[-1] += " (its key comes from AISR_API_KEY, else OPENAI_API_KEY)"
        error.message = ": ".join(words)
        error.args = (error.message,)

    def _call(self, args: tuple[Any, ...], options: dict[str, Any]) -> Call:
        """What a call sends. DSPy takes messages, or a prompt as a text or a `Request`."""
        prompt = args[0] if args else options.get("prompt")
        if isinstance(prompt, Request):
            prompt = "\n".join([str(prompt.system or ""), *(message.text or "" for message in prompt.messages)])
        return Call(options.get("messages") or [{"content": str(prompt or "")}])

    def _clean(self, outputs: Any) -> Any:
        """Answers without the keys that a server repeats in them: they go into predictions, demos and instructions. And
        log-probabilities that are numbers, as our engine for servers sees to itself."""
        if not isinstance(self.engine, str):
            return [self._without_keys(output) for output in outputs] if isinstance(outputs, list) else outputs
        answers = plain(outputs)
        if answers == []:
            raise LMProviderError("the answer holds no choice")
        if isinstance(answers, list):
            answers = [with_readable_logprobs(answer) for answer in answers]
        return attributes(redact.throughout(answers, self._secrets))

    def _without_keys(self, output: Any) -> Any:
        if isinstance(output, dict) and isinstance(output.get("text"), str):
            output["text"] = redact.values(output["text"], self._secrets)
        return redact.values(output, self._secrets) if isinstance(output, str) else output

    def _refusing(self, reason: str) -> "LedgerLM":
        engine = _RefusingEngine(self.ledger, reason)
        lm: LedgerLM = self.copy(engine=engine, async_engine=InThread(engine), timeout=None)
        return lm


class Latest(NamedTuple):
    """The latest answers to a thread or task: how they ended, what of them is returned, tokens of prompt and answer."""

    endings: Sequence[Ending]
    outputs: Sequence[Any]
    tokens: tuple[int, int]


_latest: ContextVar[Latest | None] = ContextVar("latest answer", default=None)


def keep_ending(endings: Sequence[Ending], outputs: Sequence[Any], tokens: tuple[int, int] = (0, 0)) -> None:
    """Keep how the latest answer ended, for `LedgerLM.failed_ending` and recorders."""
    _latest.set(Latest(endings, outputs, tokens))


def latest_answer() -> Latest:
    """Return the latest answers to this thread or task."""
    return _latest.get() or Latest((), (), (0, 0))


class Contact:
    """Whether an LM was ever reached. Copies of an LM share the contact of the original; calls that a limit kept from
    being sent do not count."""

    def __init__(self) -> None:
        self._is_answered = False
        self._error: Exception | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> "Contact":
        return self

    def succeed(self) -> None:
        """Note an answer, be it of the cache."""
        self._is_answered = True

    def fail(self, error: Exception) -> None:
        """Note a call that failed."""
        self._error = self._error or error

    @property
    def error(self) -> Exception | None:
        """The error of the first call, where every call failed."""
        return None if self._is_answered else self._error


class _Usage:
    """Stands in for DSPy's usage tracker while one call lasts: DSPy reports each answer to it that is not from the
    cache."""

    def __init__(self, outer: Any) -> None:
        self.reported: dict[str, Any] | None = None
        self._outer = outer

    def add_usage(self, model: str, usage: dict[str, Any]) -> None:
        self.reported = usage
        if self._outer is not None:
            self._outer.add_usage(model, usage)


class _RefusingEngine:
    """The engine of an LM whose limit is reached: the cache still answers, and any other call ends here."""

    def __init__(self, ledger: Ledger, reason: str) -> None:
        self.ledger = ledger
        self.reason = reason

    def complete(self, request: Request) -> Response:
        raise BillingError(self.ledger.refuse(self.reason))

    def close(self) -> None:
        """Nothing to close."""


class InThread:
    """The async counterpart of an engine that has none: each request in a thread, so that no event loop waits."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    def __deepcopy__(self, memo: dict[int, Any]) -> "InThread":
        return self

    async def complete(self, request: Request) -> Response:
        response: Response = await asyncio.to_thread(self.engine.complete, request)
        return response

    async def aclose(self) -> None:
        """Nothing to close."""


@dataclass(frozen=True)
class OpenLM:
    """A language model ready for use, with its adapter, and what a manifest records of it."""

    lm: LedgerLM
    adapter: dspy.Adapter
    spec: str
    endpoint: str | None  # digest of the address, never the address
    threads: int  # how many calls at a time make sense
    reflection_tokens: int = 16_000  # the longest answer where it reflects
    supports_vision: bool | None = None  # None: not known
    embeddings: Embeddings = field(default_factory=Embeddings)  # of the texts of its records

    @property
    def ledger(self) -> Ledger:
        return self.lm.ledger

    @property
    def identity(self) -> str:
        """What tells its answers from those of another LM: the model, the form of its answers, and whether with
        log-probabilities. Not the address of its server: a model may move, or be served at several."""
        logprobs = "with" if self.lm.gives_logprobs else "without"
        model = self.spec if self.endpoint else self.lm.model
        return f"{model} {type(self.adapter).__name__} {logprobs} log-probabilities"

    def context(self) -> Any:
        """`with lm.context(): program(...)`."""
        return dspy.context(
            lm=self.lm,
            adapter=self.adapter,
            trace=None,  # DSPy's would keep the inputs of ten thousand calls; optimizers open their own
            max_errors=10**9,
            warn_on_type_mismatch=False,  # records are validated when they are read
        )

    def describe(self) -> dict[str, Any]:
        return {
            "spec": self.spec,
            "model": self.lm.model,
            "endpoint": self.endpoint,
            "adapter": type(self.adapter).__name__,
            "temperature": self.lm.kwargs.get("temperature"),
            "logprobs": self.lm.gives_logprobs,
        }
