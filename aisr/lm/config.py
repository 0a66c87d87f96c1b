"""How a language model is named, reached and paid: `LMConfig`, the one value behind `--lm` and the options beside it;
and what LiteLLM's list says of a model.

`LMConfig` is a frozen dataclass: its fields are what `-L NAME=VALUE` takes, each with its help; `role` has none, as
nobody sets it. Values are checked when one is made, with messages that name the options of its `role`: `--lm` and
`-L price`, or `--teacher-lm` and `-L teacher.price`. The teacher LM of a compile is

    teacher = lm.for_role("teacher", model, api_base=..., price=...)

`aisr.lm.open.open_lm(config, ledger)` opens it. This module imports neither DSPy nor LiteLLM.
"""

import json
import os
import warnings
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from aisr.base.errors import UserError

EMBEDDED = "embedded"
RECORDED = "recorded:"  # before the file of recorded answers
PROVIDER = "provider"  # in the place of an address: whoever the model string names
THREADS, MOST_THREADS = 8, 1_000
SECONDS, LONGEST_TIMEOUT = 600.0, 86_400.0  # until an answer is given up
TEMPERATURE = 0.0
MAX_TOKENS, MAX_TOKENS_OF_SERVER = 1_024, 8_000  # the latter leaves a model that thinks room to
MOST_TOKENS, HIGHEST_TEMPERATURE, HIGHEST_PRICE = 1_000_000, 2.0, 1_000_000


class LMUnavailable(UserError):
    """The language model cannot be used as things stand."""


class Price(NamedTuple):
    """US dollars a million tokens."""

    prompt: float
    completion: float

    @classmethod
    def parse(cls, text: str, option: str = "--price") -> "Price":
        """From "0.15,0.60". Raises UserError for anything but two numbers that are not negative. option: whose value
        it is."""
        try:
            prompt, completion = (float(part) for part in text.split(","))
        except ValueError:
            prompt = completion = -1.0
        if not (0 <= prompt <= HIGHEST_PRICE and 0 <= completion <= HIGHEST_PRICE):
            raise UserError(
                f"{option} {text!r}: expected USD a million prompt and completion tokens, at most {HIGHEST_PRICE:,} "
                "each, such as 0.15,0.60"
            )
        return cls(prompt, completion)

    def usd(self, prompt: int, completion: int) -> float:
        """US dollars of so many tokens. Those that the provider had in its own cache count in full."""
        return (prompt * self.prompt + completion * self.completion) / 1e6


@dataclass(frozen=True)
class LMConfig:
    """How to reach a language model, and the embedding model of a retriever beside it. Raises `LMUnavailable` for what
    cannot be, saying which option helps; UserError for a price that is none."""

    model: str = field(
        default=EMBEDDED,
        metadata={
            "help": "`embedded`, PROVIDER/MODEL such as openai/gpt-4o-mini, or recorded:FILE, the answers that "
            "`aisr compile --record FILE` wrote.",
        },
    )
    api_base: str | None = field(
        default=None,
        metadata={"help": "Address of the server of --lm openai/MODEL (its API is OpenAI's)."},
    )
    schema: bool = field(default=True, metadata={"help": "Whether a server of your own takes a JSON schema."})
    logprobs: bool | None = field(
        default=None,
        metadata={
            "help": "Whether to ask for log-probabilities. Default: where a provider gives them; not at a server of "
            "your own."
        },
    )
    max_tokens: int | None = field(
        default=None,
        metadata={
            "help": "Tokens of an answer at most, thoughts included. Default: 8000 at a server of your own, 512 of the "
            "embedded model, else 1024.",
            "min": 1,
            "max": MOST_TOKENS,
        },
    )
    temperature: float | None = field(
        default=None,
        metadata={
            "help": "Randomness of answers. Default: 0; models that reason have their own.",
            "min": 0,
            "max": HIGHEST_TEMPERATURE,
        },
    )
    threads: int | None = field(
        default=None,
        metadata={"help": "LM calls at a time. Default: 8; the embedded model takes 1.", "min": 1, "max": MOST_THREADS},
    )
    timeout: float | None = field(
        default=None,
        metadata={"help": "Seconds until an answer of the LM that is not complete is given up. Default: 600."},
    )
    price: Price | str | None = field(
        default=None,
        metadata={"help": "USD a million prompt,completion tokens, where LiteLLM's list lacks the model."},
    )
    embedding_api_base: str | None = field(
        default=None,
        metadata={
            "help": "Address of the server that embeds for a retriever, or `provider`. Default: that of --api-base, or "
            "the provider of the embedding model."
        },
    )
    embedding_price: float | None = field(
        default=None,
        metadata={
            "help": "USD a million tokens of a retriever's embedding model, where LiteLLM's list lacks it.",
            "min": 0,
            "max": HIGHEST_PRICE,
        },
    )
    role: str = ""  # whose options these are: `teacher` for --teacher-lm; no option itself

    def __post_init__(self) -> None:
        _ = self.stated_price  # raises for what is no price
        for one in fields(self):
            value, least, most = getattr(self, one.name), one.metadata.get("min"), one.metadata.get("max")
            if value is not None and most is not None and not least <= value <= most:
                raise LMUnavailable(f"{self.option(one.name)} {value}: expected {least} to {most}")
        if self.timeout is not None and not 0 < self.timeout <= LONGEST_TIMEOUT:
            raise LMUnavailable(
                f"{self.option('timeout')} {self.timeout}: expected seconds, more than 0, at most a day"
            )
        if self.embedding_api_base and self.embedding_api_base != PROVIDER:
            check_address(self.embedding_api_base, self.option("embedding-api-base"))
        if needs_no_server(self.model):
            self._check_without_server()
            return
        if self.api_base:
            check_address(self.api_base, self.option("api-base"))
        provider, slash, name = self.model.partition("/")
        if not slash or not name:
            raise LMUnavailable(
                f"{self.option('lm')} {self.model!r}: expected `embedded` or PROVIDER/MODEL, such as "
                "openai/gpt-4o-mini or ollama_chat/llama3.2, or recorded:FILE for recorded answers"
            )
        if self.api_base and provider != "openai":
            raise LMUnavailable(
                f"{self.option('api-base')} speaks OpenAI's protocol: {self.option('lm')} openai/{name}, not "
                f"{self.model}"
            )

    def _check_without_server(self) -> None:
        for name, value in (("max-tokens", self.max_tokens), ("temperature", self.temperature)):
            if self.is_recorded and value is not None:
                raise LMUnavailable(f"{self.option(name)} goes with an LM that answers, not with --lm {self.model}")
        if self.timeout is not None:
            raise LMUnavailable(
                f"{self.option('timeout')} goes with an LM that is reached over a network, not with --lm {self.model}"
            )
        if self.api_base:
            raise LMUnavailable(
                f"{self.option('api-base')} goes with a model string such as openai/MODEL, not with "
                f"{self.option('lm')} {self.model}"
            )

    def option(self, name: str) -> str:
        """The name of an option of this LM, as it is typed."""
        if name == "lm" or (name == "api-base" and not self.role):
            return f"--{self.role}-{name}" if self.role else f"--{name}"
        return f"-L {f'{self.role}.' if self.role else ''}{name.replace('-', '_')}"

    @property
    def is_recorded(self) -> bool:
        return self.model.startswith(RECORDED)

    @property
    def stated_price(self) -> Price | None:
        """`price` as numbers."""
        return Price.parse(self.price, self.option("price")) if isinstance(self.price, str) else self.price

    @property
    def most_threads(self) -> int:
        return self.threads or THREADS

    @property
    def embedding_address(self) -> str | None:
        """The address of the server that embeds; None: whom the embedding model's string names."""
        if self.embedding_api_base == PROVIDER:
            return None
        return self.embedding_api_base or self.api_base

    def for_role(self, role: str, model: str, api_base: str | None = None, price: str | None = None) -> "LMConfig":
        """The LM of --ROLE-lm, reached as this one is unless options say otherwise. api_base: an address or `provider`.

        Raises `LMUnavailable` where this one is at a server of the user's own and nobody says where that one is:
        records would leave for a provider unasked.
        """
        if self.api_base and api_base is None and not needs_no_server(model):
            raise LMUnavailable(
                f"--{role}-lm {model}: --api-base is the address of --lm alone; add -L "
                f"{role}.api_base=ADDRESS, the same one if it serves both, or -L {role}.api_base=provider to send "
                f"the records to {model.partition('/')[0]}"
            )
        address = None if api_base == PROVIDER else api_base
        own: dict[str, Any] = {"model": model, "api_base": address, "price": price}
        own |= {"schema": self.schema or not address, "timeout": None if needs_no_server(model) else self.timeout}
        if model.startswith(RECORDED):
            own |= {"max_tokens": None, "temperature": None}
        return replace(self, role=role, **own)


def needs_no_server(model: str) -> bool:
    """Return whether a model runs in this process, or is a recording."""
    return model == EMBEDDED or model.startswith(RECORDED)


def check_address(address: str, option: str) -> None:
    """Raises `LMUnavailable` for what is no address of a server, or one that holds a password or a query. option: whose
    value it is, such as `--api-base`."""
    if not address.startswith(("http://", "https://")):
        raise LMUnavailable(f"{option} {address!r}: expected an address that begins with http:// or https://")
    try:
        parts = urlsplit(address)
        known = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:  # a bracket that is not closed, a port that is no number
        known = False
    if not known:
        raise LMUnavailable(f"{option} {address!r}: expected an address such as http://127.0.0.1:8000/v1")
    if "@" in address.partition("://")[2].partition("/")[0]:
        raise LMUnavailable(f"{option} holds a user name or password; a key goes into OPENAI_API_KEY")
    if "?" in address or "#" in address:
        raise LMUnavailable(
            f"{option} holds a query (behind `?` or `#`), to which nothing can be joined; expected the address that "
            "/chat/completions is joined to, and a key in OPENAI_API_KEY"
        )


def address_in_environment(model: str) -> str | None:
    """Return the address of a model's server by the variables of its provider, such as OPENAI_BASE_URL, which DSPy and
    LiteLLM read; None where there is none. Two servers answer differently under one name."""
    name = model.partition("/")[0].removesuffix("_chat").replace("-", "_").upper()
    return os.environ.get(f"{name}_BASE_URL") or os.environ.get(f"{name}_API_BASE") or None


# --- What LiteLLM's list says of a model: the one inside the package, read without importing LiteLLM


def listed_price(model: str) -> Price | None:
    """The price of a model in LiteLLM's list (the one inside the package); None where it is not listed."""
    about = _listed(model)
    prompt, completion = about.get("input_cost_per_token"), about.get("output_cost_per_token")
    return None if prompt is None or completion is None else Price(1e6 * prompt, 1e6 * completion)


def listed_input_price(model: str) -> Price | None:
    """The price of what an embedding model reads, which writes nothing; None where it is not listed."""
    prompt = _listed(model).get("input_cost_per_token")
    return None if prompt is None else Price(1e6 * prompt, 0.0)


def listed_vision(model: str) -> bool | None:
    """Whether a model takes pictures by LiteLLM's list; None where it is not listed."""
    about = _listed(model)
    return bool(about.get("supports_vision")) if about else None


def quiet_litellm() -> Any:
    """LiteLLM, which takes seconds to import, without its advice on standard error and its own retries."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # the list of the package, not of the web
    import litellm

    litellm.suppress_debug_info = True
    litellm.DEFAULT_MAX_RETRIES = 0  # `aisr.lm.retries` retries; without retries LiteLLM sends a request thrice
    # LiteLLM 1.109 defines types at its first call of which pydantic 2.14 warns.
    warnings.filterwarnings("ignore", "Items? .* on TypedDict class", UserWarning)
    return litellm


def _listed(model: str) -> dict[str, Any]:
    prices = _price_list()
    return prices.get(model) or prices.get(model.partition("/")[2]) or {}


@lru_cache(maxsize=1)
def _price_list() -> dict[str, dict[str, Any]]:
    """Read from the file, since importing LiteLLM takes up to ten seconds."""
    from importlib.metadata import distribution

    file = distribution("litellm").locate_file("litellm/model_prices_and_context_window_backup.json")
    prices: dict[str, dict[str, Any]] = json.loads(Path(str(file)).read_text(encoding="utf-8"))
    return prices
