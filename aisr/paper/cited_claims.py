"""A sentence that cites, split into one claim a citation."""

import re
from collections.abc import Sequence

from aisr.paper.citations import Mark, marks, without

# Where one statement may end and another begin.
JOINT = re.compile(r"(?:[,;]|(?<=[)\]]))\s(?:and|but|while|whereas|though|although|yet)\s|;\s")
FEWEST_WORDS = 4  # of a statement; "CallNet (Marlow, 2021) and TriSpec (Brandt, 2020) agree" is one


def claims(sentence: str, works: Sequence[str]) -> list[tuple[str, str]]:
    """For each work that a sentence cites, in order, the part of the sentence that it is cited for, without marks.

    A sentence is parted between statements that each have a mark. Where it cannot be told which mark stands for which
    work, the whole sentence is the claim for each.
    """
    found = _about(sentence, works)
    names = list(dict.fromkeys(name for mark in found for name in mark.works))
    if len(names) != len(works):
        whole = _said(sentence, works)
        return [(work, whole) for work in works]
    keys = dict(zip(names, works, strict=True))
    return [
        (keys[name], _said(part, works))
        for part in _parts(sentence, found, works)
        for name in dict.fromkeys(name for mark in _about(part, works) for name in mark.works)
    ]


def _about(text: str, works: Sequence[str]) -> list[Mark]:
    """The marks that cite one of the works. Numbers that are none of them are an interval, such as [71, 75]."""
    numbered = [mark.works[0].isdigit() for mark in marks(text)]
    return [
        mark for mark, number in zip(marks(text), numbered, strict=True) if not number or set(mark.works) & set(works)
    ]


def _parts(sentence: str, found: Sequence[Mark], works: Sequence[str]) -> list[str]:
    """The statements of a sentence that has marks; what has none belongs to the next that has one, or the last."""
    ends = [
        (joint.start(), joint.end())
        for joint in JOINT.finditer(sentence)
        if not any(mark.start < joint.start() < mark.end for mark in found)
    ]
    parts: list[tuple[int, int]] = []
    begin = 0
    for end, after in [*ends, (len(sentence), len(sentence))]:
        inside = any(begin <= mark.start < end for mark in found)
        if inside and len(_said(sentence[begin:end], works).split()) >= FEWEST_WORDS:
            parts.append((begin, end))
            begin = after
    if parts and begin < len(sentence):
        parts[-1] = (parts[-1][0], len(sentence))
    return [sentence[first:last] for first, last in parts or [(0, len(sentence))]]


def _said(part: str, works: Sequence[str]) -> str:
    """A part as a sentence of its own; all of it where nothing but marks stands in it."""
    said = without(part, _about(part, works)).strip(" ,;")
    if not any(map(str.isalnum, said)):
        return part.strip()
    return said if said.endswith((".", "!", "?")) else f"{said}."
