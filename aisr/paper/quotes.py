"""Verbatim quotes of a draft, looked up in the works that their sentence cites, sign by sign and without a model."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from aisr.paper.draft import Draft
from aisr.programs.text.loose_match import SHORTEST, letters, stretch
from aisr.programs.text.sentences import sentences

QUOTED = re.compile(
    r"“([^“”]{12,1500})”|``([^`]{12,1500}?)''|(?<![^\s(\[—–])\"(?=\S)([^\"]{12,1500})(?<=\S)\"(?!\w)|„([^„“]{12,1500})“"
)
FEWEST_WORDS = 5  # of a quote; fewer are a term, a title, or words that are held at a distance
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


def misquotes(draft: Draft, cited: Mapping[str, Mapping[str, str]]) -> Iterator[Misquote]:
    """The wrong quotes of a draft, in order. cited: key of a work -> its paragraphs, id -> text. Where one of the works
    that a sentence cites has no file, its quotes are not judged: they may be from there."""
    for number, paragraph in enumerate(draft.paragraphs):
        for place, sentence in enumerate(paragraph.sentences):
            works = [key for key in sentence.cites if cited.get(key)]
            if sentence.hidden or not works or len(works) < len(set(sentence.cites)):
                continue
            for quote in quotes(sentence.text):
                if not any(_stands(quote, cited[key]) for key in works):
                    nearest = _nearest(quote, {key: cited[key] for key in works})
                    yield Misquote(number, place, quote, *(nearest or (works[0],)))


def quotes(text: str) -> list[str]:
    """What stands in quotation marks and is long enough to be verbatim."""
    found = [next(filter(None, one.groups())) for one in QUOTED.finditer(text)]
    return [one.strip() for one in found if len(WORD.findall(one)) >= FEWEST_WORDS]


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
