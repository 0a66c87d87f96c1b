"""What an LM call costs, whether that is known, and what else LiteLLM's list says of a model."""

import json
import os
import warnings
from functools import lru_cache
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from aisr.programs.errors import UserError

if TYPE_CHECKING:
    from aisr.lm.budget import Ledger

DECIDING = ("decisions", "evaluation")  # modes of LiteLLM's list: models that do nothing else


class LMUnavailable(UserError):
    """The language model that was asked for cannot be used as things stand."""


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
        if not (prompt >= 0 and completion >= 0):
            raise UserError(
                f"{option} {text!r}: expected USD a million prompt and completion tokens, such as 0.15,0.60"
            )
        return cls(prompt, completion)

    def usd(self, prompt: int, completion: int) -> float:
        """US dollars of so many tokens. Those that the provider had in its own cache count in full."""
        return (prompt * self.prompt + completion * self.completion) / 1e6


def listed_price(model: str) -> Price | None:
    """The price of a model in LiteLLM's list (the one inside the package); None where it is not listed."""
    about = _listed(model)
    prompt, completion = about.get("input_cost_per_token"), about.get("output_cost_per_token")
    return None if prompt is None or completion is None else Price(1e6 * prompt, 1e6 * completion)


def listed_decision_price(model: str) -> Price | None:
    """The price of a model's decisions, for some that chat as well another one; None where it is not listed."""
    about = _listed(model)
    prompt, completion = (about.get(f"{side}_cost_per_token_decisions") for side in ("input", "output"))
    if prompt is None:
        return listed_price(model) if about.get("mode") in DECIDING else None
    return Price(1e6 * prompt, 1e6 * (completion or 0.0))


def listed_input_price(model: str) -> Price | None:
    """The price of what an embedding model reads, which writes nothing; None where it is not listed."""
    prompt = _listed(model).get("input_cost_per_token")
    return None if prompt is None else Price(1e6 * prompt, 0.0)


def listed_vision(model: str) -> bool | None:
    """Whether a model takes pictures by LiteLLM's list; None where it is not listed."""
    about = _listed(model)
    return bool(about.get("supports_vision")) if about else None


def listed_window(model: str) -> int | None:
    """How many tokens a model reads at most by LiteLLM's list; None where it is not listed."""
    most = _listed(model).get("max_input_tokens")
    return int(most) if most else None


def listed_answer(model: str) -> int | None:
    """How many tokens a model writes at most by LiteLLM's list; None where it is not listed."""
    most = _listed(model).get("max_output_tokens")
    return int(most) if most else None


def check_price(spec: str, price: Price | None, ledger: "Ledger", role: str) -> None:
    """Raises `LMUnavailable` where a limit in US dollars could not be kept. role: what the names of its options begin
    with."""
    if ledger.limits.usd is not None and price is None:
        raise LMUnavailable(
            f"--max-usd: the price of {spec} is unknown; give it by --{role}price PROMPT,COMPLETION in USD a million "
            "tokens"
        )


def quiet_litellm() -> Any:
    """LiteLLM, which takes seconds to import, without its advice on standard error and its own retries."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # the list of the package, not of the web
    import litellm

    litellm.suppress_debug_info = True
    litellm.DEFAULT_MAX_RETRIES = 0  # `aisr.lm.rate_limit` retries; asked for none, LiteLLM sends a request thrice
    # LiteLLM 1.109 defines types at its first call of which pydantic 2.14 warns.
    warnings.filterwarnings("ignore", "Items? .* on TypedDict class", UserWarning)
    return litellm


def _listed(model: str) -> dict[str, Any]:
    prices = _price_list()
    return prices.get(model) or prices.get(model.partition("/")[2]) or {}


@lru_cache(maxsize=1)
def _price_list() -> dict[str, dict[str, Any]]:
    """Read from the file, since importing LiteLLM takes up to ten seconds."""
    file = distribution("litellm").locate_file("litellm/model_prices_and_context_window_backup.json")
    prices: dict[str, dict[str, Any]] = json.loads(Path(str(file)).read_text(encoding="utf-8"))
    return prices
