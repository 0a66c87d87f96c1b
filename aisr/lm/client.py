"""One spec string, one language model: `embedded`, or a model string of DSPy and LiteLLM such as `openai/gpt-4o-mini`.

Keys come from the environment only and are written nowhere.
"""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import dspy
from dspy.lm15 import ProviderError, Request, Response
from dspy.utils.exceptions import LMError, LMProviderError

from aisr.base import redact
from aisr.base.private import adapter_message_call
from aisr.lm.budget import LONGEST_ANSWER, Call, Contact, Ledger, Refusal, Usage, current_call
from aisr.lm.config import THREADS, Price, listed_answer
from aisr.lm.embeddings import Embeddings
from aisr.lm.endpoint import check_length, with_readable_logprobs
from aisr.lm.rate_limit import RETRIES, RateLimiter
from aisr.lm.response_cache import attributes, invalidate, plain, record_keys


class LedgerLM(dspy.LM):
    """A `dspy.LM` that enters each call into a ledger, sends nothing once a limit of the ledger is reached, waits for
    an overloaded server, and keeps no history (pictures would fill the memory).

    gives_logprobs: whether programs may ask for log-probabilities with their answers (see `aisr.programs.ask`).
    threads: the most calls in flight; num_retries: see `aisr.lm.rate_limit`, which retries in DSPy's stead; context and
    longest: tokens of the model's context, and of its longest answer where a call sends no bound, for `Call`.
    """

    def __init__(
        self,
        model: str,
        *,
        ledger: Ledger,
        price: Price | None,
        gives_logprobs: bool = False,
        threads: int = THREADS,
        num_retries: int = RETRIES,
        context: int | None = None,
        longest: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, num_retries=0, **kwargs)
        self.ledger = ledger
        self.limiter = RateLimiter(threads, num_retries)
        self.price = price
        self.gives_logprobs = gives_logprobs
        self.hidden = redact.secret_values()
        self.contact = Contact()
        self.context = context
        self.longest = listed_answer(model) or LONGEST_ANSWER if longest is None else longest

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        def send() -> Any:
            # DSPy tells a call of its own adapters by the LM's identity, and warns of any other.
            with self._counted(args, kwargs) as lm, adapter_message_call(lm, kwargs.get("messages")):
                return self._clean(super(LedgerLM, lm).__call__(*args, **kwargs))

        return self.limiter.run(send)

    async def acall(self, *args: Any, **kwargs: Any) -> Any:
        async def send() -> Any:
            with self._counted(args, kwargs) as lm, adapter_message_call(lm, kwargs.get("messages")):
                return self._clean(await super(LedgerLM, lm).acall(*args, **kwargs))

        return await self.limiter.arun(send)

    @contextmanager
    def _counted(self, args: tuple[Any, ...], options: dict[str, Any]) -> Iterator["LedgerLM"]:
        """This LM, or one that sends nothing; what it sends is charged, whatever it ends in."""
        reason = self.ledger.spent_out()
        lm = self if reason is None else self._refusing(reason)
        call = self._call(args, options)
        usage = Usage(dspy.settings.usage_tracker)
        token = current_call.set(call)
        try:
            # A history entry would tell the same, at a tenth of what a call costs this process.
            with dspy.context(usage_tracker=usage, disable_history=True):
                yield lm
        except BaseException as error:
            # Other errors are of calls that could not be made; what is no Exception ended one that may have been sent.
            if reason is None and (isinstance(error, LMError) or not isinstance(error, Exception)):
                if usage.reported is not None and not call.has_answer:
                    call.receive(usage.reported)
                self.ledger.charge(call, self.price, error)
                if isinstance(error, LMError):
                    self.contact.failed(error)
            raise
        finally:
            current_call.reset(token)
        self.contact.answered()
        if usage.reported is None:
            self.ledger.from_cache()
        else:
            if not call.has_answer:
                call.receive(usage.reported)
            self.ledger.charge(call, self.price)

    def _call(self, args: tuple[Any, ...], options: dict[str, Any]) -> Call:
        """What a call sends. DSPy takes messages, or a prompt as a text or a `Request`."""
        prompt = args[0] if args else options.get("prompt")
        text = "\n".join([str(prompt.system or ""), *(message.text or "" for message in prompt.messages)]) \
            if isinstance(prompt, Request) else str(prompt or "")  # fmt: skip
        messages = options.get("messages") or [{"content": text}]
        if questions := (options.get("metadata") or {}).get("questions"):  # a decision model reads them as well
            messages = [*messages, {"content": str(questions)}]
        bounds = ("max_tokens", "max_completion_tokens")
        longest = next((given[name] for given in (options, self.kwargs) for name in bounds if given.get(name)), None)
        return Call(messages, self.longest if longest is None else int(longest), self.context)

    def _clean(self, outputs: Any) -> Any:
        """Answers of DSPy's own engines without the keys that a server repeats in them: they go into predictions,
        demos and instructions. Our engines see to that themselves."""
        if not isinstance(self.engine, str):
            return outputs
        answers = plain(outputs)
        try:
            check_length(answers)
        except ProviderError as error:
            raise LMProviderError(str(error)) from None
        if isinstance(answers, list):
            answers = [with_readable_logprobs(answer) for answer in answers]
        return attributes(redact.throughout(answers, self.hidden))

    def record_keys(self) -> list[str]:
        """See `aisr.lm.response_cache.record_keys`."""
        return record_keys()

    def invalidate(self, keys: Iterable[str]) -> None:
        """See `aisr.lm.response_cache.invalidate`."""
        invalidate(keys)

    def _refusing(self, reason: str) -> "LedgerLM":
        refusal = Refusal(self.ledger, reason)
        lm: LedgerLM = self.copy(engine=refusal, async_engine=InThread(refusal), timeout=None)
        return lm


@dataclass(frozen=True)
class OpenLM:
    """A language model ready for use, the adapter that suits it, and what a manifest says of it."""

    lm: LedgerLM
    adapter: dspy.Adapter
    spec: str
    endpoint: str | None  # digest of the address, never the address
    threads: int  # how many calls at a time make sense
    longest: int = 16_000  # tokens that it may write where it reflects
    sees: bool | None = None  # whether it takes pictures, where that is known
    window: int | None = None  # tokens that its context holds, where that is known
    decides: bool = False  # whether it gives probabilities for options in place of writing (`aisr/lm/decide.py`)
    brief: bool = False  # whether new programs ask it in short words, which describe the options one by one
    embeddings: Embeddings = field(default_factory=Embeddings)  # where the texts of its records are embedded

    @property
    def ledger(self) -> Ledger:
        return self.lm.ledger

    @property
    def identity(self) -> str:
        """What tells its answers from those of another LM: the model, the form asked for, and whether with
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
