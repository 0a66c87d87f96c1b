"""Claims of a draft about the works that it cites, one a citation, and its verbatim quotes of them."""

import re
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from heapq import nlargest
from itertools import accumulate
from typing import NamedTuple

from aisr.text import sentences, stretch
from aisr_papers.citations import Mark, find_marks, remove_marks
from aisr_papers.draft import Draft

# Where one statement may end and another begin.
JOINT = re.compile(r"(?:[,;]|(?<=[)\]]))\s(?:and|but|while|whereas|though|although|yet)\s|;\s")
FEWEST_WORDS = 4  # of a statement; "CallNet (Marlow, 2021) and TriSpec (Brandt, 2020) agree" is one


def split_claims(sentence: str, works: Sequence[str]) -> list[tuple[str, str]]:
    """Return for each work that a sentence cites, in order, the part of the sentence that it is cited for, without
    marks.

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
    """Return the marks that cite one of the works. Numbers that are none of them are an interval, such as [71, 75]."""
    return [mark for mark in find_marks(text) if not mark.works[0].isdigit() or set(mark.works) & set(works)]


def _parts(sentence: str, marks: Sequence[Mark], works: Sequence[str]) -> list[str]:
    """Return the statements of a sentence that has marks; what has none belongs to the next that has one, or the
    last."""
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
    """Return a part as a sentence of its own; all of it where nothing but marks stands in it."""
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
NEAR = 0.6  # share of its words, in order and near each other, from which a sentence is what was meant to be quoted
LOOKED_AT = 8  # sentences of a work that share most words with the quote
LONGEST = 800  # characters of a sentence that is compared word by word, which takes the square of its length


class Misquote(NamedTuple):
    """A quote that stands in none of the works that its sentence cites."""

    position: tuple[int, int]  # of the paragraph in the draft, and of the sentence in that
    quote: str
    work: str  # the key of the work with the nearest sentence, or of the first one
    true: str = ""  # that sentence; empty where nothing comes near
    source: str = ""  # the id of its paragraph, empty likewise


def find_misquotes(draft: Draft, papers: Mapping[str, Mapping[str, str]]) -> Iterator[Misquote]:
    """Return the wrong quotes of a draft, in order, at the sentences that they end in: long ones go over several.
    papers: key of a work -> its paragraphs, id -> text. Where one of the works that these sentences cite has no file, a
    quote is not judged: it may be from there."""
    for number, paragraph in enumerate(draft.paragraphs):
        places = [place for place, one in enumerate(paragraph.sentences) if not one.hidden]
        sentences = [paragraph.sentences[place] for place in places]
        ends = list(accumulate(len(one.text) + 1 for one in sentences))
        text = " ".join(one.text for one in sentences)
        for start, end, quote in find_quotes(text):
            first, last = bisect(ends, start), bisect(ends, end)
            if first < last and text[start] == '"':
                continue  # two of these may be of two quotes, of which one is not closed, or inches
            works = list(dict.fromkeys(key for one in sentences[first : last + 1] for key in one.work_keys))
            if works and all(map(papers.get, works)) and not any(_is_in(quote, papers[key]) for key in works):
                nearest = _nearest(quote, {key: papers[key] for key in works})
                yield Misquote((number, places[last]), quote, *(nearest or (works[0],)))


def find_quotes(text: str) -> Iterator[tuple[int, int, str]]:
    """Return what stands in quotation marks and is long enough to be verbatim, and where its first and last characters
    are."""
    for match in QUOTED.finditer(text):
        quote = next(filter(None, match.groups())).strip()
        if len(WORD.findall(quote)) >= FEWEST_QUOTED:
            yield match.start(), match.end() - 1, quote


def _is_in(quote: str, paper: Mapping[str, str]) -> bool:
    """Return whether all parts of a quote stand in a paper, or are too short to tell: what was left out or put in parts
    it. Paragraphs may go on over a page, so that they are one text."""
    texts = (" ".join(paper.values()),)
    parts = [part for part in CUT.split(quote) if sum(map(str.isalnum, part)) >= SHORTEST]
    return all(stretch(part, texts) is not None for part in parts)


def _nearest(quote: str, papers: Mapping[str, Mapping[str, str]]) -> tuple[str, str, str] | None:
    """Return the work, sentence and paragraph that come nearest to a quote; None where none is near."""
    words = _words(quote)
    best, most = None, NEAR
    for key, paper in papers.items():
        texts = [(source, text[:LONGEST]) for source, paragraph in paper.items() for text in sentences(paragraph)]
        for source, text in nlargest(LOOKED_AT, texts, key=lambda one: len({*words} & {*_words(one[1])})):
            *blocks, _ = SequenceMatcher(
                None, words, _words(text), autojunk=False
            ).get_matching_blocks()  # the last is empty
            width = blocks[-1].b + blocks[-1].size - blocks[0].b if blocks else 0
            share = sum(block.size for block in blocks) / max(len(words), width)
            if share > most:
                best, most = (key, text, source), share
    return best


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]
