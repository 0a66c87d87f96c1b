"""What an element that was named is worth beside the gold ones: 1 where it is one of them, half where it is the figure
that a gold panel belongs to, or a panel of a gold figure.

`gain` reads labels; `official_gain` compares them as the organisers' scorer does, letter by letter.
"""

from collections.abc import Sequence

from aisr.programs.records.context24_figures import place_of, tidy

WHOLE, HALF = 1.0, 0.5


def gain(label: str, gold: Sequence[str]) -> float:
    """By what the labels say: half is for the same figure or table (kind, number, supplementary or not), named once
    with a panel and once without. FIG 1 has nothing to do with FIG 10, nor panel A with panel B; a label that cannot be
    read counts where it is the same."""
    if tidy(label) in map(tidy, gold):
        return WHOLE
    here = place_of(label)
    if here is None:
        return 0.0
    others = [place for place in map(place_of, gold) if place is not None]
    near = any(here.figure == other.figure and bool(here.panel) != bool(other.panel) for other in others)
    return HALF if near else 0.0


def official_gain(label: str, gold: Sequence[str]) -> float:
    """By the letters: half is for a label that stands in a gold one, or in which a gold one stands. So FIG 1 is worth
    half where FIG 10 or SUPP FIG 1 is gold, and an empty label wherever anything is."""
    if label in gold:
        return WHOLE
    return HALF if any(label in other or other in label for other in gold) else 0.0
