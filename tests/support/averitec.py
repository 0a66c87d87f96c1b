"""Answers to what AVeriTeC's program asks."""

import re

from support import scripted


def passages(prompt: str) -> dict[str, str]:
    """The passages in a prompt, by their ids."""
    text = scripted.field(prompt, "passages") or ""
    return dict(re.findall(r"^\[(D[\d.]+)\] \([^)]*\) (.*)$", text, re.MULTILINE))


def quoting(prompt: str, label: str = "Refuted") -> str:
    """Asks what the claim says, answers with all passages as they stand, and always judges the same."""
    claim = (scripted.field(prompt, "claim") or "").rstrip(".")
    question = f"Is it true that {claim}?"
    if texts := passages(prompt):
        pairs = [{"question": question, "answer": text, "source": key} for key, text in texts.items()]
        return scripted.written(prompt, {"pairs": pairs})
    if scripted.field(prompt, "evidence") is not None:
        return scripted.written(prompt, {"label": label})
    return scripted.written(prompt, {"questions": [f"How long was it closed, {claim}?"]})
