"""A language model as programs use it: `LedgerLM`, a `dspy.LM` whose calls are cached, limited, charged and retried,
and `OpenLM`: that, with the adapter that renders its prompts and reads its answers (`aisr.lm.answers`)."""

import json
import os
from contextvars import ContextVar
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import dspy
from dspy.utils.callback import with_callbacks
from dspy.utils.exceptions import LMAuthError, LMError
from pydantic import BaseModel

from aisr.base import redact
from aisr.base.files import digest_text
from aisr.base.private import adapter_message_call
from aisr.lm.answers import Answer, read_answer
from aisr.lm.budget import Ledger, Spend
from aisr.lm.config import LMConfig, Price
from aisr.lm.retries import Contact

if TYPE_CHECKING:
    from aisr.lm.recorded import Recorder

CONNECTION = {"api_base", "api_key", "base_url", "cache", "timeout"}  # options of a call that shape no answer
_calls: ContextVar[list[str] | None] = ContextVar("calls of an answer", default=None)
_latest: ContextVar[Answer | None] = ContextVar("latest answer", default=None)
_entry: ContextVar[dict[str, Any]] = ContextVar("latest entry of DSPy's history")


def call_digest(lm: dspy.LM, prompt: Any = None, *, messages: Any = None, **options: Any) -> str:
    """Return the digest of a call: of its messages, the model, and the options that shape an answer, such as
    temperature, rollout and schema."""
    shaping = {name: value for name, value in {**lm.kwargs, **options}.items() if name not in CONNECTION}
    call = [lm.model, prompt, messages, {name: value for name, value in shaping.items() if value is not None}]
    return digest_text(json.dumps(call, sort_keys=True, default=_as_json))


def _as_json(value: Any) -> Any:
    if isinstance(value, type) and issubclass(value, BaseModel):  # the schema of an answer
        return value.model_json_schema()
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else dict(value)


class LedgerLM(dspy.LM):
    """A `dspy.LM` whose answers DSPy's cache keeps as text, that enters each call into a ledger, sends nothing once a
    limit of the ledger is reached, and keeps no history (pictures would fill the memory)."""

    gives_logprobs = False  # whether programs ask for log-probabilities with their answers
    recorder: "Recorder | None" = None

    def __init__(
        self, model: str, *, ledger: Ledger, price: Price | None, config: LMConfig | None = None, **kwargs: Any
    ) -> None:
        """config: by which errors name the LM, its address and its options."""
        super().__init__(model, num_retries=0, **kwargs)
        self.config = config or LMConfig(model)
        self.ledger = ledger
        self.price = price
        self.contact = Contact()

    @with_callbacks  # type: ignore[untyped-decorator]
    def __call__(self, prompt: Any = None, *, messages: Any = None, **options: Any) -> Any:
        """Return the outputs of a call: of the cache, else of the LM. Raises `LMError`."""
        call = call_digest(self, prompt, messages=messages, **options)
        if (calls := _calls.get()) is not None:
            calls.append(call)
        if self.recorder:
            self.recorder.calls.add(call)
        answer = self.answer(call, prompt, messages, options)
        if self.recorder:
            answer = self.recorder.keep(answer)
        _latest.set(answer)
        self.contact.succeed()
        return [_with_attributes(output) for output in answer.outputs]

    def answer(self, call: str, prompt: Any, messages: Any, options: dict[str, Any]) -> Answer:
        """Return the answer to a call. call: its digest."""
        use_cache = options.pop("cache", self.cache)
        if use_cache and (text := dspy.cache.get(self._cache_key(call))):
            self.ledger.from_cache()
            return Answer.model_validate_json(text)
        answer = self.contact.run(lambda: self._send(call, prompt, messages, options))
        if use_cache:
            dspy.cache.put(self._cache_key(call), answer.model_dump_json())
        return answer

    def _send(self, call: str, prompt: Any, messages: Any, options: dict[str, Any]) -> Answer:
        self.ledger.check()
        usage: dict[str, Any] = {}
        try:
            # DSPy tells a call of its own adapters by the LM's identity, and warns of any other.
            with dspy.context(disable_history=False, callbacks=[]), adapter_message_call(self, messages):
                super().__call__(prompt, messages=messages, cache=False, **options)
            usage = _entry.get()["usage"]
        except LMError as error:
            self._explain(error)
            raise
        finally:
            self.ledger.add(Spend.of(usage, self.price))
        return _without_keys(read_answer(call, _entry.get()))

    def update_history(self, entry: dict[str, Any]) -> None:
        """Keep no history, but the latest entry, for `_send`."""
        _entry.set(entry)

    async def acall(self, *args: Any, **options: Any) -> Any:
        """The same call, for which the event loop waits; `dspy.asyncify` runs a program in a thread of its own."""
        return self(*args, **options)

    def failed_ending(self) -> str | None:
        """Return why the latest answer to this thread or task is none, see `Answer.failure`; None where it may be
        one."""
        limit = self.kwargs.get("max_tokens") or self.kwargs.get("max_completion_tokens")
        answer = _latest.get()
        return answer.failure(limit, self.config.option("max_tokens")) if answer else None

    @staticmethod
    def record_keys() -> list[str]:
        """Return a list that gets the digest of every call that this thread or task makes from here on."""
        calls: list[str] = []
        _calls.set(calls)
        return calls

    def invalidate(self, calls: list[str]) -> None:
        """Have the next process ask for the answers to some calls again. This one keeps them, as a compile judges the
        same records over and over."""
        for call in dict.fromkeys(calls):
            dspy.cache.put(self._cache_key(call), None, enable_memory_cache=False)

    def _cache_key(self, call: str) -> dict[str, Any]:
        """Return the key of an answer. Two servers answer differently under one name, and DSPy and LiteLLM read their
        address from the environment as well, such as from OPENAI_BASE_URL."""
        provider = self.model.partition("/")[0].removesuffix("_chat").replace("-", "_").upper()
        server = os.environ.get(f"{provider}_BASE_URL") or os.environ.get(f"{provider}_API_BASE") or None
        return {"call": call, "server": server}

    def _explain(self, error: LMError) -> None:
        """Have an error name this LM as the user did, its status, and what may be wrong, in one line; DSPy and lm15
        write the name of an engine, and advice on their own settings."""
        address = self.config.api_base
        words = [f"{self.config.model} at {address}" if address else self.config.model]
        said = " ".join(error.message.partition("\n\n")[0].split())
        if error.status and f"HTTP {error.status}" not in said:
            words.append(f"HTTP {error.status}")
        if address and error.status in (404, 405):
            option = self.config.option("api_base")
            said += f" (is {option} right? requests go to {address.rstrip('/')}/chat/completions)"
        elif address and isinstance(error, LMAuthError):
            said += " (its key comes from AISR_API_KEY, else OPENAI_API_KEY)"
        error.message = ": ".join([*words, said])
        error.args = (error.message,)


def _with_attributes(output: Any) -> Any:
    """Return an output whose log-probabilities have attributes, as DSPy and LiteLLM give them."""
    if not isinstance(output, dict) or not output.get("logprobs"):
        return output
    entries = json.loads(json.dumps(output["logprobs"]), object_hook=lambda entry: SimpleNamespace(**entry))
    return {**output, "logprobs": entries}


def _without_keys(answer: Answer) -> Answer:
    """Return an answer without the values of secret variables: it goes into predictions, demos and instructions."""
    text = answer.model_dump_json()
    clean = redact.values(text)
    return answer if clean == text else Answer.model_validate_json(clean)


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
