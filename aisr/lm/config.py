"""How a language model is named, reached and paid: `LMConfig`, the one value behind `--lm` and the options beside it;
and what LiteLLM's list says of a model.

`LMConfig` is a frozen dataclass: its fields are what `-L NAME=VALUE` takes, with their bounds, which `LMConfig.parse`
checks by pydantic. Messages name the options of its `role`: `--lm` and `-L price`, or `--teacher-lm` and
`-L teacher.price`. The teacher LM of a compile is

    teacher = lm.for_role("teacher", model, {"price": "1,2"})

`aisr.lm.open.open_lm(config, ledger)` opens it. This module imports neither DSPy nor LiteLLM.
"""

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlsplit

from annotated_types import Interval

from aisr.base.errors import UserError

EMBEDDED = "embedded"
RECORDED = "recorded:"  # before the file of recorded answers
PROVIDER = "provider"  # in the place of an address: whoever the model string names
TEMPERATURE = 0.0
MAX_TOKENS, MAX_TOKENS_OF_SERVER = 1_024, 8_000  # the latter leaves a model that thinks room to
HIGHEST_PRICE = 1_000_000


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
    """How to reach a language model. Raises `LMUnavailable` for what cannot be, saying which option helps; UserError
    for a price that is none."""

    model: str = EMBEDDED  # or PROVIDER/MODEL, or `recorded:` and the file that `aisr compile --record FILE` wrote
    api_base: str | None = None  # address of the server of openai/MODEL, with OpenAI's API
    schema: bool = True  # whether a server of the user's own takes a JSON schema
    logprobs: bool | None = None  # whether to ask for them; None: where a provider gives them, not at a server
    max_tokens: Annotated[int | None, Interval(ge=1, le=1_000_000)] = None  # of an answer, thoughts included
    temperature: Annotated[float | None, Interval(ge=0, le=2)] = None  # None: 0; models that reason have their own
    threads: Annotated[int, Interval(ge=1, le=1_000)] = 8  # LM calls at a time; the embedded model takes 1
    timeout: Annotated[float, Interval(gt=0, le=86_400)] = 600.0  # seconds until an answer is given up
    price: Price | str | None = None  # where LiteLLM's list lacks the model
    role: str = ""  # whose options these are: `teacher` for --teacher-lm; no option itself

    @classmethod
    def parse(cls, settings: Mapping[str, Any], role: str = "") -> "LMConfig":
        """Return the config of settings by name, whose values may be texts. Raises as the class, with the option of a
        value that its field cannot have."""
        from pydantic import TypeAdapter, ValidationError  # `--help` does without it

        from aisr.base.jsonl import explain

        try:
            return TypeAdapter(cls).validate_python({**settings, "role": role})
        except ValidationError as error:
            flag = f"-L {role}." if role else "-L "
            raise LMUnavailable(f"{flag if error.errors()[0]['loc'] else ''}{explain(error)}") from None

    def __post_init__(self) -> None:
        _ = self.stated_price  # raises for what is no price
        provider, _, name = self.model.partition("/")
        if not needs_no_server(self.model) and not name:
            raise LMUnavailable(
                f"{self.option('lm')} {self.model!r}: expected `embedded` or PROVIDER/MODEL, such as "
                "openai/gpt-4o-mini or ollama_chat/llama3.2, or recorded:FILE for recorded answers"
            )
        if self.api_base:
            check_address(self.api_base, self.option("api_base"))
            if needs_no_server(self.model) or provider != "openai":
                raise LMUnavailable(
                    f"{self.option('api_base')} speaks OpenAI's protocol: {self.option('lm')} "
                    f"openai/{name or 'MODEL'}, not {self.model}"
                )

        for shaping in ("max_tokens", "temperature"):
            if self.is_recorded and getattr(self, shaping) is not None:
                raise LMUnavailable(f"{self.option(shaping)}: the answers of {self.model} are there; leave it out")

    def option(self, name: str) -> str:
        """Return the name of an option of this LM, as it is typed. name: of its field, or `lm`."""
        if name == "lm" or (name == "api_base" and not self.role):
            return f"--{self.role}-{name}" if self.role else f"--{name.replace('_', '-')}"
        return f"-L {self.role}.{name}" if self.role else f"-L {name}"

    @property
    def is_recorded(self) -> bool:
        return self.model.startswith(RECORDED)

    @property
    def stated_price(self) -> Price | None:
        """`price` as numbers."""
        return Price.parse(self.price, self.option("price")) if isinstance(self.price, str) else self.price

    def for_role(self, role: str, model: str, settings: Mapping[str, Any]) -> "LMConfig":
        """The LM of --ROLE-lm, reached as this one is unless `settings`, by name as in `parse`, say otherwise.

        Raises `LMUnavailable` where this one is at a server of the user's own and nobody says where that one is:
        records would leave for a provider unasked.
        """
        address = settings.get("api_base")
        if self.api_base and address is None and not needs_no_server(model):
            raise LMUnavailable(
                f"--{role}-lm {model}: --api-base is the address of --lm alone; add -L "
                f"{role}.api_base=ADDRESS, the same one if it serves both, or -L {role}.api_base=provider to send "
                f"the records to {model.partition('/')[0]}"
            )
        address = None if address == PROVIDER else address
        own = {"model": model, "price": None, "schema": self.schema or not address}
        return LMConfig.parse({**vars(self), **own, **settings, "api_base": address}, role)


def needs_no_server(model: str) -> bool:
    """Return whether a model runs in this process, or is a recording."""
    return model == EMBEDDED or model.startswith(RECORDED)


def check_address(address: str, option: str) -> None:
    """Raises `LMUnavailable` for what is no address of a server, or one that holds a password or a query. option: whose
    value it is, such as `--api-base`."""
    try:
        parts = urlsplit(address)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a bracket that is not closed, a port that is no number
        known = False
    if "?" in address or "#" in address or "@" in address.partition("://")[2].partition("/")[0]:
        raise LMUnavailable(
            f"{option} holds a user name, a password or a query (behind `?` or `#`); expected the address that "
            "/chat/completions is joined to, and a key in OPENAI_API_KEY"
        )
    if not known:
        raise LMUnavailable(f"{option} {address!r}: expected an address such as http://127.0.0.1:8000/v1")


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


def check_provider(model: str, option: str, otherwise: str) -> None:
    """Raises `LMUnavailable` where the provider of a model is not known, or its key is not in the environment. option:
    what names the model, such as `--lm`; otherwise: what to do without its key."""
    if model.startswith(("ollama/", "ollama_chat/")):
        return  # a server on this machine, at an address that LiteLLM knows
    litellm = quiet_litellm()
    environment = litellm.validate_environment(model=model)
    missing = [] if environment.get("keys_in_environment") else environment.get("missing_keys") or []
    if missing:
        raise LMUnavailable(
            f"{option} {model} needs {' or '.join(missing)}; set it in the environment (export {missing[0]}=…), or "
            f"{otherwise}"
        )
    try:
        litellm.get_llm_provider(model)
    except litellm.exceptions.BadRequestError as error:
        raise LMUnavailable(
            f"{option} {model}: no provider is called {model.partition('/')[0]!r}; for an OpenAI-compatible server use "
            f"openai/MODEL, or {otherwise}"
        ) from error


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
