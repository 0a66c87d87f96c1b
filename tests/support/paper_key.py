"""The share of the sample paper that a reader finds, by `structure.json`, which a person wrote from the paper.

Texts are compared by their letters and digits: blanks, hyphens and the form of quotes and minus signs do not count.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from aisr.paper.draft import Draft

SIGNS = re.compile(r"[^\W_]|(?<=\d)\.(?=\d)")


class Share(NamedTuple):
    """How many of the key's things were found."""

    found: int
    of: int


def measured(draft: Draft, key: Mapping[str, Any]) -> dict[str, Share]:
    """The share of each kind of thing that a draft has as the key has it."""
    names = {one["key"]: one["name"] for one in key["floats"]}
    titles = {one["key"]: plain(one["title"]) for one in key["works"]}
    said = {plain(one.text): one for paragraph in draft.paragraphs for one in paragraph.sentences}
    wanted = [(one, said.get(plain(one["text"]))) for one in _sentences(key)]
    refers = [
        (name, found is not None and name in {draft.floats[one].name for one in found.refers if one in draft.floats})
        for one, found in wanted
        for name in (names[of] for of in one.get("refers", []))
    ]
    cites = [
        (title, found is not None and title in {plain(draft.works[one].title) for one in found.cites})
        for one, found in wanted
        for title in (titles[of] for of in one.get("cites", []))
    ]
    whole = {"".join(plain(one.text) for one in paragraph.sentences) for paragraph in draft.paragraphs}
    paragraphs = ["".join(plain(one["text"]) for one in each["sentences"]) for each in key["paragraphs"]]
    headed = {(plain(one.text), each.headings) for each in draft.paragraphs for one in each.sentences}
    lines = [str(found.place) == one["at"] for one, found in wanted if found is not None and found.place.line]
    floats = {one.name: one for one in draft.floats.values()}
    captions = [
        one["name"] in floats and plain(floats[one["name"]].caption) == plain(one["caption"]) for one in key["floats"]
    ]
    cells = [
        share
        for one in key["floats"]
        if "rows" in one
        for share in _cells(one["rows"], floats[one["name"]].rows if one["name"] in floats else "")
    ]
    return {
        "paragraphs": Share(sum(one in whole for one in paragraphs), len(paragraphs)),
        "sentences": Share(sum(found is not None for _, found in wanted), len(wanted)),
        "sentences found that stand at their line": Share(sum(lines), len(lines)),
        "sentences below their headings": Share(
            sum(
                (plain(one["text"]), tuple(each["headings"])) in headed
                for each in key["paragraphs"]
                for one in each["sentences"]
            ),
            len(wanted),
        ),
        "floats with their caption": Share(sum(captions), len(captions)),
        "cells of tables": Share(sum(cells), len(cells)),
        "references to floats": Share(sum(right for _, right in refers), len(refers)),
        "citations": Share(sum(right for _, right in cites), len(cites)),
    }


def plain(text: str) -> str:
    """Letters, digits and decimal points of a text."""
    return "".join(SIGNS.findall(unicodedata.normalize("NFKC", text).casefold()))


def _sentences(key: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [one for paragraph in key["paragraphs"] for one in paragraph["sentences"]]


def _cells(wanted: list[list[str]], rows: str) -> list[bool]:
    """For each cell of the key with words in it, whether the row in its place has it."""
    lines = [Counter(plain(cell) for cell in row.split("\t")) for row in rows.split("\n")]
    found = []
    for number, row in enumerate(wanted):
        there = lines[number].copy() if number < len(lines) else Counter[str]()
        for cell in filter(None, map(plain, row)):
            found.append(there[cell] > 0)
            there[cell] -= 1
    return found
