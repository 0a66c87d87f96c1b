"""What a new program asks, by what an LM gives: for the chances of labels, and what only decision models are asked."""

from collections.abc import Container

from aisr.lm.client import OpenLM


def chances_for(lm: OpenLM, wanted: str, samples: int | None, needed: bool) -> str | None:
    """What --chances comes to for an LM; None for what programs do by themselves: log-probabilities, else samples.

    A server at an address of one's own shows only with its first answer whether it gives log-probabilities, so that it
    is asked to state them in any case. needed: whether there is a new program with labels to be asked for any.
    """
    if wanted != "auto":
        return wanted
    if not needed or (samples or 1) > 1:
        return None
    if not lm.lm.gives_logprobs:
        return "stated"
    return "auto" if lm.endpoint and not lm.decides else None


def questions_for(lm: OpenLM, options: Container[str]) -> dict[str, bool]:
    """Options of a new program that only one for a decision model has: to ask which pairs bear on a claim, which such a
    model answers beside the label, and another would have to write. options: those that there are."""
    return {"bearing": True} if lm.decides and "bearing" in options else {}
