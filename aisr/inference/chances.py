"""Where a new program takes the chances of labels from, by what an LM gives."""

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
