"""The sentences of a paper as candidates: ranked for a claim, shown with their neighbours, and known again in passages
that were copied out of it."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from aisr.programs.retrieval.bm25 import bm25, split_sentences, words
from aisr.programs.retrieval.content import without_content
from aisr.programs.retrieval.retrievers import order
from aisr.programs.text.loose_match import SHORTEST, letters

PAPERS = 64  # whose sentences are kept
FEWEST = 5  # stems of a sentence, from which on it is known again by most of them
WITHIN = re.compile(r"(?:[=<>±~–−-]|\b(?:of|was|were|by|to))\s*\d*\s?\.$")  # the end of what is half a number
MOST_SHARED = 0.8  # of its stems
PAGE = re.compile(r"\s?[(\[](?:pp?\. ?|pages? |sect?(?:ion|\.) ?)[\d.]{1,8}(?:[-–]\d{1,4})?[)\]]$", re.IGNORECASE)


class Paper(NamedTuple):
    """A paper. sentences: all of it, in document order; owner: the place of the paragraph that each stands in; idle:
    places of sentences in headings, bare captions, references and the like."""

    paragraphs: tuple[str, ...]
    sentences: tuple[str, ...]
    owner: tuple[int, ...]
    idle: frozenset[int]

    def ranked(self, claim: str) -> list[int]:
        """Places of sentences, best first by BM25; idle ones only where all are."""
        best = [int(place) for place in order(bm25(claim, self.sentences))]
        return [place for place in best if place not in self.idle] or best

    def with_neighbours(self, places: Iterable[int]) -> list[int]:
        """Sentences and the one on either side of each, of the same paragraph, in document order."""
        found = {
            near
            for place in places
            for near in range(max(place - 1, 0), min(place + 2, len(self.sentences)))
            if self.owner[near] == self.owner[place]
        }
        return sorted(found)

    def text(self, places: Iterable[int]) -> str:
        """Sentences as one text, in the order given."""
        return " ".join(self.sentences[place] for place in places)


@lru_cache(maxsize=PAPERS)
def paper(paragraphs: tuple[str, ...]) -> Paper:
    """A paper in sentences. What was parted within a number ("β = – 0 .", "12") is one sentence."""
    split, owner = split_sentences(paragraphs)
    sentences, owners = _whole(split, [int(place) for place in owner])
    idle = {int(key) for key in without_content({str(place): text for place, text in enumerate(paragraphs)})}
    places = frozenset(place for place, own in enumerate(owners) if own in idle)
    return Paper(paragraphs, sentences, owners, places)


def _whole(sentences: Sequence[str], owners: Sequence[int]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Sentences of which none ends within a number, and the paragraph of each."""
    found: list[str] = []
    kept: list[int] = []
    for text, owner in zip(sentences, owners, strict=True):
        if found and kept[-1] == owner and WITHIN.search(found[-1]) and text[:1].isdigit():
            found[-1] += f" {text}"
        else:
            found.append(text)
            kept.append(owner)
    return tuple(found), tuple(kept)


def without_page(text: str) -> str:
    """A passage without the page number behind it, "(p. 5)"."""
    return PAGE.sub("", text.rstrip())


@lru_cache(maxsize=PAPERS)
def known_again(source: Paper, passages: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    """For each passage the places of the sentences that it holds: word for word but for what parsing changes, a part of
    a sentence that is longer, or most words of one that was misread."""
    found = []
    stems = words(source.sentences)
    texts = [letters(sentence) for sentence in source.sentences]
    for passage, own in zip(passages, words(passages), strict=True):
        sought, held = letters(passage), set(own)
        found.append(tuple(k for k in range(len(texts)) if _holds(sought, held, texts[k], stems[k])))
    return tuple(found)


def _holds(sought: str, held: set[str], text: str, stems: Sequence[str]) -> bool:
    """Whether a passage, by its letters and stems, holds a sentence."""
    if len(text) >= SHORTEST and (text in sought or (len(sought) >= SHORTEST and sought in text)):
        return True
    return len(set(stems)) >= FEWEST and len(set(stems) & held) >= MOST_SHARED * len(set(stems))
