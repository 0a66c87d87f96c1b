"""Verdicts on a draft as an author reads them in the terminal."""

from collections.abc import Sequence
from textwrap import shorten

import dspy
from rich.padding import Padding
from rich.text import Text

from aisr.commands.display import console
from aisr.inference.judge import Outcome
from aisr.optimize.decision.explain import Reason
from aisr.tasks.task import Exhibit, Judgements

LONGEST = 400  # characters of a piece of evidence


def say_verdicts(
    labelled: Judgements,
    example: dspy.Example,
    outcome: Outcome,
    reasons: Sequence[Reason],
    evidence: Sequence[Exhibit],
) -> None:
    """Each statement of an example with its verdict, and what can be read off of why.

    evidence: the paragraphs that were named; without any, each statement has the line that is nearest.
    """
    statements = labelled.statements(example)
    for k, (text, judged, reason) in enumerate(zip(statements, outcome.judgements, reasons, strict=True), start=1):
        mark = ("✓", "bold green") if judged.label == labelled.neutral else ("✗", "bold red")
        sure = f" {judged.chances[labelled.labels.index(judged.label)]:.0%}" if judged.known else ""
        verdict = (f" {k}. {judged.label}{sure}", "bold")
        _say(Text.assemble(mark, verdict, f"  {labelled.definitions[judged.label]}"))
        _say(text, 5)
        for opinion in reason.opinions:
            weight = "" if opinion.weight is None else f", weight {opinion.weight:.2g}"
            sure = "" if opinion.chance is None else f" {opinion.chance:.0%}"
            _say(f"{opinion.expert}: {opinion.label}{sure}{weight}", 5, "dim")
        for cue, found in reason.signs.items():
            _say(f"{cue}: {', '.join(found)}", 5, "dim")
        if not evidence:
            nearest = shorten(reason.nearest, LONGEST, placeholder=" …") or "none has a word of it"
            _say(f"nearest evidence: {nearest}", 5, "dim")
    for exhibit in evidence:
        words = shorten(exhibit.text, LONGEST, placeholder=" …")
        _say(f"evidence {exhibit.chosen}: [{exhibit.key}] {words}", 5)
    neutral = labelled.neutral
    wrong = sum(judged.label != neutral for judged in outcome.judgements)
    console.print(f"{wrong} of {len(statements)} not called {neutral}" if wrong else f"all called {neutral}")


def _say(said: str | Text, indent: int = 0, style: str = "") -> None:
    """Print a text as it stands. It is not written as markup: rich takes a minute to escape 80 kB of backslashes."""
    text = Text(said) if isinstance(said, str) else said
    console.print(Padding(text, (0, 0, 0, indent), expand=False), style=style or None, soft_wrap=False)
