"""How a language model is named, reached and paid: `LMConfig`, the one value behind `--lm` and the options beside it.

Its fields are what `-L NAME=VALUE` takes, with their bounds, which `LMConfig.parse` checks by pydantic. Messages name
the options of its `role`: `--lm` and `-L price`, or `--teacher-lm` and `-L teacher.price`. The teacher LM of a compile
is

    teacher = lm.for_role("teacher", model, {"price": "1,2"})

`aisr.lm.open.open_config(config, ledger)` opens it. This module imports neither DSPy nor LiteLLM nor, for the help of
the command, pydantic.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from annotated_types import Interval

from aisr.base.errors import UserError

EMBEDDED = "embedded"
RECORDED = "recorded:"  # before the file of recorded answers
PROVIDER = "provider"  # in the place of an address: whoever the model string names
TIMEOUT = 600.0


class LMUnavailable(UserError):
    """The language model cannot be used as things stand."""


USD = Annotated[float, Interval(ge=0, le=1_000_000)]


class Price(NamedTuple):
    """US dollars a million tokens."""

    prompt: USD
    completion: USD

    def usd(self, prompt: int, completion: int) -> float:
        """Return the US dollars of so many tokens. Those that the provider had in its own cache count in full."""
        return (prompt * self.prompt + completion * self.completion) / 1e6


@dataclass(frozen=True)
class LMConfig:
    """How to reach a language model. Raises `LMUnavailable` for what cannot be, saying which option helps."""

    model: str  # `embedded`, PROVIDER/MODEL, or `recorded:` and the file that `aisr compile --record FILE` wrote
    api_base: str | None = None  # address of the server of openai/MODEL, with OpenAI's API
    schema: bool = True  # whether a server of the user's own takes a JSON schema
    logprobs: bool | None = None  # whether to ask for them; None: where a provider gives them, not at a server
    max_tokens: Annotated[int | None, Interval(ge=1, le=1_000_000)] = None  # of an answer, thoughts included
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"  # as a server calls it
    temperature: Annotated[float | None, Interval(ge=0, le=2)] = None  # None: 0; models that reason have their own
    threads: Annotated[int, Interval(ge=1, le=1_000)] = 8  # LM calls at a time; the embedded model takes 1
    timeout: Annotated[float, Interval(gt=0, le=86_400)] = TIMEOUT  # seconds until an answer is given up
    price: Price | None = None  # where LiteLLM's list lacks the model
    role: str = ""  # whose options these are: `teacher` for --teacher-lm; no option itself

    @classmethod
    def parse(cls, settings: Mapping[str, Any], role: str = "") -> "LMConfig":
        """Return the config of settings by name, whose values may be texts, such as a price "0.15,0.60". Raises as the
        class, with the option of a value that its field cannot have."""
        from pydantic import TypeAdapter, ValidationError  # `--help` does without it

        from aisr.base.jsonl import explain

        if settings.get("model") is None:
            raise LMUnavailable(
                "--lm is missing; name the LM: PROVIDER/MODEL such as openai/gpt-4o-mini, openai/MODEL with --api-base "
                "ADDRESS for a server of your own, recorded:FILE, or `embedded`, a small built-in one to try commands "
                "out"
            )
        price = settings.get("price")
        price = price.split(",") if isinstance(price, str) else price
        try:
            return TypeAdapter(cls).validate_python({**settings, "price": price, "role": role})
        except ValidationError as error:
            place = error.errors()[0]["loc"][:1]
            flag = f"-L {role}." if role and place else "-L " if place else ""
            problem = explain(error)
            if place == ("price",):
                expected = "USD a million prompt and completion tokens, at most 1,000,000 each, such as 0.15,0.60"
                problem = f"price {','.join(map(str, price or ()))[:80]!r}: expected {expected}"
            raise LMUnavailable(f"{flag}{problem}") from None

    def __post_init__(self) -> None:
        provider, _, name = self.model.partition("/")
        if not needs_no_server(self.model) and not name:
            raise LMUnavailable(
                f"{self.option('lm')} {self.model!r}: expected `embedded` or PROVIDER/MODEL, such as "
                "openai/gpt-4o-mini or ollama_chat/llama3.2, or recorded:FILE for recorded answers"
            )
        if self.api_base is not None:
            if not _is_plain_address(self.api_base):
                raise LMUnavailable(
                    f"{self.option('api_base')}: expected an address such as http://127.0.0.1:8000/v1, to which "
                    "/chat/completions is joined, without a user name, a password, `?` and `#`; a key comes from "
                    "OPENAI_API_KEY"
                )
            if provider != "openai":
                raise LMUnavailable(
                    f"{self.option('api_base')} speaks OpenAI's protocol: {self.option('lm')} "
                    f"openai/{name or 'MODEL'}, not {self.model}"
                )
        for name, default in (("max_tokens", None), ("temperature", None), ("timeout", TIMEOUT)):
            if self.is_recorded and getattr(self, name) != default:
                raise LMUnavailable(f"{self.option(name)}: the answers of {self.model} are there; leave it out")

    def option(self, name: str) -> str:
        """Return the name of an option of this LM, as it is typed. name: of its field, or `lm`."""
        if self.role:
            return f"--{self.role}-lm" if name == "lm" else f"-L {self.role}.{name}"
        if name in ("lm", "api_base"):
            return f"--{name.replace('_', '-')}"
        return f"-L {name}"

    @property
    def is_recorded(self) -> bool:
        return self.model.startswith(RECORDED)

    def for_role(self, role: str, model: str, settings: Mapping[str, Any]) -> "LMConfig":
        """Return the LM of --ROLE-lm, reached as this one is unless `settings`, by name as in `parse`, say otherwise.

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
        reached = {} if model.startswith(RECORDED) else vars(self)
        return LMConfig.parse({**reached, **own, **settings, "api_base": address}, role)


def needs_no_server(model: str) -> bool:
    """Return whether a model runs in this process, or is a recording."""
    return model == EMBEDDED or model.startswith(RECORDED)


def _is_plain_address(address: str) -> bool:
    """Return whether a text is the address of a server, and holds nothing that must not be shown."""
    try:
        parts = urlsplit(address)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a bracket that is not closed, a port that is no number
        return False
    return is_address and parts.username is None and not parts.query and not parts.fragment
