"""What a sentence says of the works that it cites: one claim a citation, and verbatim quotes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from aisr.paper.citations import Mark, find_marks, remove_marks
from aisr.paper.draft import Draft
from aisr.programs.text.compare import SHORTEST, letters, stretch
from aisr.programs.text.units import sentences

# Where one statement may end and another begin.
JOINT = re.compile(r"(?:[,;]|(?<=[)\]]))\s(?:and|but|while|whereas|though|although|yet)\s|;\s")
FEWEST_WORDS = 4  # of a statement; "CallNet (Marlow, 2021) and TriSpec (Brandt, 2020) agree" is one


def split_claims(sentence: str, works: Sequence[str]) -> list[tuple[str, str]]:
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
    numbered = [mark.works[0].isdigit() for mark in find_marks(text)]
    return [
        mark
        for mark, number in zip(find_marks(text), numbered, strict=True)
        if not number or set(mark.works) & set(works)
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
    said = remove_marks(part, _about(part, works)).strip(" ,;")
    if not any(map(str.isalnum, said)):
        return part.strip()
    return said if said.endswith((".", "!", "?")) else f"{said}."


# --- Verbatim quotes of a draft, looked up in the works that their sentence cites, sign by sign and without a model.

QUOTED = re.compile(
    r"“([^“”]{12,1500})”|``([^`]{12,1500}?)''|(?<![^\s(\[—–])\"(?=\S)([^\"]{12,1500})(?<=\S)\"(?!\w)|„([^„“]{12,1500})“"
)
FEWEST_QUOTED = 5  # of a quote; fewer are a term, a title, or words that are held at a distance
CUT = re.compile(
    r"\[[^\[\]]{0,200}\]|\(\s?(?:…|\.\s?\.\s?\.)\s?\)|…|\.\s?\.\s?\.(?:\s?\.)?"
)  # what is left out, or put in
WORD = re.compile(r"[\w’'-]+")
NEAR = 0.6  # share of words in common from which a passage is what was meant to be quoted
LOOKED_AT = 8  # sentences of a work that share most words with the quote
MOST_SENTENCES = 20_000
LONGEST = 800  # characters of a sentence that is compared word by word, which takes the square of its length


class Misquote(NamedTuple):
    """A quote that stands in none of the works that its sentence cites. paragraph, sentence: positions in the draft;
    quote: its words; work: the key of the work with the nearest wording, or of the first one; true: that wording, None
    where nothing comes near; source: the id of its paragraph, empty likewise."""

    paragraph: int
    sentence: int
    quote: str
    work: str
    true: str | None = None
    source: str = ""


def find_misquotes(draft: Draft, cited: Mapping[str, Mapping[str, str]]) -> Iterator[Misquote]:
    """The wrong quotes of a draft, in order. cited: key of a work -> its paragraphs, id -> text. Where one of the works
    that a sentence cites has no file, its quotes are not judged: they may be from there."""
    for number, paragraph in enumerate(draft.paragraphs):
        for place, sentence in enumerate(paragraph.sentences):
            works = [key for key in sentence.work_keys if cited.get(key)]
            if sentence.hidden or not works or len(works) < len(set(sentence.work_keys)):
                continue
            for quote in find_quotes(sentence.text):
                if not any(_stands(quote, cited[key]) for key in works):
                    nearest = _nearest(quote, {key: cited[key] for key in works})
                    yield Misquote(number, place, quote, *(nearest or (works[0],)))


def find_quotes(text: str) -> list[str]:
    """What stands in quotation marks and is long enough to be verbatim."""
    found = [next(filter(None, one.groups())) for one in QUOTED.finditer(text)]
    return [one.strip() for one in found if len(WORD.findall(one)) >= FEWEST_QUOTED]


def _stands(quote: str, paper: Mapping[str, str]) -> bool:
    """Whether all parts of a quote stand in a paper: what was left out or put in parts it. Paragraphs may go on over a
    page, so that they are one text."""
    texts = (" ".join(paper.values()),)
    parts = [one for one in CUT.split(quote) if len(letters(one)) >= SHORTEST]
    return bool(parts) and all(stretch(part, texts) is not None for part in parts)


def _nearest(quote: str, papers: Mapping[str, Mapping[str, str]]) -> tuple[str, str, str] | None:
    """The work, wording and paragraph that come nearest to a quote; None where none is near."""
    sought = _words(quote)
    known = set(sought)
    best, most = None, NEAR
    for key, paper in papers.items():
        ranked = sorted(_sentences(tuple(paper.items())), key=lambda one: -len(known & set(_words(one[1]))))
        for source, said in ranked[:LOOKED_AT]:
            wording = _aligned(sought, said)
            share = SequenceMatcher(None, sought, _words(wording), autojunk=False).ratio()
            if share > most:
                best, most = (key, wording, source), share
    return best


@lru_cache(maxsize=8)
def _sentences(paper: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """The sentences of a paper and each two in a row, with the ids of their paragraphs."""
    found: list[tuple[str, str]] = []
    for source, text in paper:
        said = [one[begin : begin + LONGEST] for one in sentences(text) for begin in range(0, len(one), LONGEST)]
        found += [(source, one) for one in said]
        found += [(source, f"{one} {other}") for one, other in pairwise(said)]
    return found[:MOST_SENTENCES]


def _aligned(sought: Sequence[str], said: str) -> str:
    """The stretch of a sentence from the first word that it shares with a quote to the last, as wide as the quote."""
    places = list(WORD.finditer(said))
    words = [one[0].lower() for one in places]
    blocks = [one for one in SequenceMatcher(None, sought, words, autojunk=False).get_matching_blocks() if one.size]
    if not blocks:
        return ""
    begin = max(blocks[0].b - blocks[0].a, 0)
    end = min(blocks[-1].b + blocks[-1].size + len(sought) - blocks[-1].a - blocks[-1].size, len(words))
    return said[places[begin].start() : places[end - 1].end()]


def _words(text: str) -> list[str]:
    return [one.lower() for one in WORD.findall(text)]
