"""Claims of a draft about the works that it cites, one a citation, and its verbatim quotes of them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from aisr.text import sentences, stretch
from aisr_papers.citations import Mark, find_marks, remove_marks
from aisr_papers.draft import Draft

# Where one statement may end and another begin.
JOINT = re.compile(r"(?:[,;]|(?<=[)\]]))\s(?:and|but|while|whereas|though|although|yet)\s|;\s")
FEWEST_WORDS = 4  # of a statement; "CallNet (Marlow, 2021) and TriSpec (Brandt, 2020) agree" is one


def split_claims(sentence: str, works: Sequence[str]) -> list[tuple[str, str]]:
    """For each work that a sentence cites, in order, the part of the sentence that it is cited for, without marks.

    A sentence is parted between statements that each have a mark. Where it is unclear which mark stands for which work,
    the whole sentence is the claim for each.
    """
    marks = _marks_of(sentence, works)
    names = list(dict.fromkeys(name for mark in marks for name in mark.works))
    if len(names) != len(works):
        whole = _as_sentence(sentence, works)
        return [(work, whole) for work in works]
    keys = dict(zip(names, works, strict=True))
    return [
        (keys[name], _as_sentence(part, works))
        for part in _parts(sentence, marks, works)
        for name in dict.fromkeys(name for mark in _marks_of(part, works) for name in mark.works)
    ]


def _marks_of(text: str, works: Sequence[str]) -> list[Mark]:
    """The marks that cite one of the works. Numbers that are none of them are an interval, such as [71, 75]."""
    return [mark for mark in find_marks(text) if not mark.works[0].isdigit() or set(mark.works) & set(works)]


def _parts(sentence: str, marks: Sequence[Mark], works: Sequence[str]) -> list[str]:
    """The statements of a sentence that has marks; what has none belongs to the next that has one, or the last."""
    ends = [
        (joint.start(), joint.end())
        for joint in JOINT.finditer(sentence)
        if not any(mark.start < joint.start() < mark.end for mark in marks)
    ]
    parts: list[tuple[int, int]] = []
    begin = 0
    for end, after in [*ends, (len(sentence), len(sentence))]:
        inside = any(begin <= mark.start < end for mark in marks)
        if inside and len(_as_sentence(sentence[begin:end], works).split()) >= FEWEST_WORDS:
            parts.append((begin, end))
            begin = after
    if parts and begin < len(sentence):
        parts[-1] = (parts[-1][0], len(sentence))
    return [sentence[first:last] for first, last in parts or [(0, len(sentence))]]


def _as_sentence(part: str, works: Sequence[str]) -> str:
    """A part as a sentence of its own; all of it where nothing but marks stands in it."""
    text = remove_marks(part, _marks_of(part, works)).strip(" ,;")
    if not any(map(str.isalnum, text)):
        return part.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


# --- Verbatim quotes of a draft, compared with the works that their sentence cites, sign by sign and without a model.

QUOTED = re.compile(
    r"“([^“”]{12,1500})”|``([^`]{12,1500}?)''|(?<![^\s(\[—–])\"(?=\S)([^\"]{12,1500})(?<=\S)\"(?!\w)|„([^„“]{12,1500})“"
)
SHORTEST = 12  # letters and digits of a part of a quote; `stretch` looks for no shorter one
FEWEST_QUOTED = 5  # of a quote; fewer are a term, a title, or words that are held at a distance
# What is left out, or put in.
CUT = re.compile(r"\[[^\[\]]{0,200}\]|\(\s?(?:…|\.\s?\.\s?\.)\s?\)|…|\.\s?\.\s?\.(?:\s?\.)?")
WORD = re.compile(r"[\w’'-]+")
NEAR = 0.6  # share of words in common from which a passage is what was meant to be quoted
LOOKED_AT = 8  # sentences of a work that share most words with the quote
MOST_SENTENCES = 20_000
LONGEST = 800  # characters of a sentence that is compared word by word, which takes the square of its length


class Misquote(NamedTuple):
    """A quote that stands in none of the works that its sentence cites."""

    paragraph: int  # position in the draft, as of the sentence
    sentence: int
    quote: str
    work: str  # the key of the work with the nearest wording, or of the first one
    true: str | None = None  # that wording; None where nothing comes near
    source: str = ""  # the id of its paragraph, empty likewise


def find_misquotes(draft: Draft, papers: Mapping[str, Mapping[str, str]]) -> Iterator[Misquote]:
    """The wrong quotes of a draft, in order. papers: key of a work -> its paragraphs, id -> text. Where one of the
    works that a sentence cites has no file, its quotes are not judged: they may be from there."""
    for number, paragraph in enumerate(draft.paragraphs):
        for place, sentence in enumerate(paragraph.sentences):
            works = [key for key in sentence.work_keys if papers.get(key)]
            if sentence.hidden or not works or len(works) < len(set(sentence.work_keys)):
                continue
            for quote in find_quotes(sentence.text):
                if not any(_is_in(quote, papers[key]) for key in works):
                    nearest = _nearest(quote, {key: papers[key] for key in works})
                    yield Misquote(number, place, quote, *(nearest or (works[0],)))


def find_quotes(text: str) -> list[str]:
    """What stands in quotation marks and is long enough to be verbatim."""
    quotes = [next(filter(None, match.groups())) for match in QUOTED.finditer(text)]
    return [quote.strip() for quote in quotes if len(WORD.findall(quote)) >= FEWEST_QUOTED]


def _is_in(quote: str, paper: Mapping[str, str]) -> bool:
    """Whether all parts of a quote stand in a paper: what was left out or put in parts it. Paragraphs may go on over a
    page, so that they are one text."""
    texts = (" ".join(paper.values()),)
    parts = [part for part in CUT.split(quote) if sum(map(str.isalnum, part)) >= SHORTEST]
    return bool(parts) and all(stretch(part, texts) is not None for part in parts)


def _nearest(quote: str, papers: Mapping[str, Mapping[str, str]]) -> tuple[str, str, str] | None:
    """The work, wording and paragraph that come nearest to a quote; None where none is near."""
    words = _words(quote)
    best, most = None, NEAR
    for key, paper in papers.items():
        ranked = sorted(_sentences(tuple(paper.items())), key=lambda one: -len(set(words) & set(_words(one[1]))))
        for source, text in ranked[:LOOKED_AT]:
            wording = _aligned(words, text)
            share = SequenceMatcher(None, words, _words(wording), autojunk=False).ratio()
            if share > most:
                best, most = (key, wording, source), share
    return best


@lru_cache(maxsize=8)
def _sentences(paper: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """The sentences of a paper and each two in a row, with the ids of their paragraphs."""
    result: list[tuple[str, str]] = []
    for source, text in paper:
        parts = [one[begin : begin + LONGEST] for one in sentences(text) for begin in range(0, len(one), LONGEST)]
        result += [(source, part) for part in parts]
        result += [(source, f"{part} {other}") for part, other in pairwise(parts)]
    return result[:MOST_SENTENCES]


def _aligned(quote: Sequence[str], text: str) -> str:
    """The stretch of a sentence from the first word that it shares with a quote to the last, as wide as the quote."""
    places = list(WORD.finditer(text))
    words = [match[0].lower() for match in places]
    blocks = [one for one in SequenceMatcher(None, quote, words, autojunk=False).get_matching_blocks() if one.size]
    if not blocks:
        return ""
    begin = max(blocks[0].b - blocks[0].a, 0)
    end = min(blocks[-1].b + blocks[-1].size + len(quote) - blocks[-1].a - blocks[-1].size, len(words))
    return text[places[begin].start() : places[end - 1].end()]


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]
