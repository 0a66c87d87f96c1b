"""What was recomputed of a paragraph, as a language model is told it beside the evidence."""

from collections.abc import Mapping, Sequence

from aisr.arithmetic.facts import Fact, Label
from aisr.arithmetic.recompute import Recomputed

OPENING = "Recomputed by a program from the numbers of this paper; it may have taken others than a sentence means."

Facts = Mapping[int, Mapping[int, Sequence[Fact]]]  # paragraph -> sentence -> what was recomputed of it


def by_sentence(found: Sequence[Recomputed]) -> dict[int, dict[int, list[Fact]]]:
    """The facts of running text by paragraph and sentence; those of captions and tables are left out, and where
    two places disagree: neither is proof of the other."""
    facts: dict[int, dict[int, list[Fact]]] = {}
    for one in found:
        if one.paragraph is not None and one.fact.label is not Label.PLACES:
            facts.setdefault(one.paragraph, {}).setdefault(one.sentence, []).append(one.fact)
    return facts


def hint(facts: Mapping[int, Sequence[Fact]], sentences: Sequence[int]) -> str:
    """What to say of a paragraph; empty where there is nothing. sentences: the positions of those that are shown, which
    are counted from 1. The words of a sentence are not repeated: its own numbers are no evidence for it."""
    told = [
        f"Sentence {number} {'agrees' if fact.holds else 'differs'}: {fact.computed}."
        for number, place in enumerate(sentences, start=1)
        for fact in facts.get(place, ())
    ]
    return " ".join([OPENING, *told]) if told else ""
