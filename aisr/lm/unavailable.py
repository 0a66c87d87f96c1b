"""What keeps a language model from being used."""

from aisr.lm.budget import Ledger
from aisr.lm.prices import Price
from aisr.programs.errors import UserError


class LMUnavailable(UserError):
    """The language model that was asked for cannot be used as things stand."""


def check_price(spec: str, price: Price | None, ledger: Ledger, role: str) -> None:
    """Raises `LMUnavailable` where a limit in US dollars could not be kept. role: what the names of its options begin
    with."""
    if ledger.limits.usd is not None and price is None:
        raise LMUnavailable(
            f"--max-usd: the price of {spec} is unknown; give it by --{role}price PROMPT,COMPLETION in USD a million "
            "tokens"
        )
