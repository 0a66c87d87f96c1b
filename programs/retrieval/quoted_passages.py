"""What a model quoted, as it stands in the paper."""

import re
from collections.abc import Callable

from aisr.programs.records.context24_text import Snippet
from aisr.programs.retrieval.bm25 import bm25
from aisr.programs.retrieval.paper_sentences import Paper
from aisr.programs.retrieval.retrievers import order
from aisr.programs.text.loose_match import closest, stretch
from aisr.programs.text.sentences import sentences

LEFT_OUT = re.compile(r"\[?(?:…|\.\.\.)\]?")
MOST_PARTS = 20  # pieces of a quote that are looked for one by one, and sentences of each
LOOKED_AT = 3  # sentences of the paper that one may be a misread copy of, the best by BM25


def as_in_paper(quote: str, source: Paper) -> Snippet:
    """A quote in the paper's own wording, verbatim; as the model wrote it and marked so where any part of it is not
    found. What it left out ("…") stays out."""
    pieces = [piece for piece in LEFT_OUT.split(quote) if piece.strip()]
    found = [part for piece in pieces for part in _found(piece, source)] if len(pieces) <= MOST_PARTS else []
    if found and all(part is not None for part in found):
        return Snippet(" ".join(part for part in found if part))
    return Snippet(" ".join(quote.split()), verbatim=False)


def stands_in(source: Paper) -> Callable[[str], bool]:
    """Whether a text stands in the paper."""
    return lambda text: stretch(text, source.paragraphs) is not None


def _found(piece: str, source: Paper) -> list[str | None]:
    """A piece of a quote where it stands in the paper; where it does not as a whole, its sentences one by one."""
    whole = stretch(piece, source.paragraphs)
    if whole is not None:
        return [whole]
    split = sentences(piece)
    if len(split) > MOST_PARTS:
        return [None]
    return [stretch(one, source.paragraphs) or _misread(one, source) for one in split]


def _misread(sentence: str, source: Paper) -> str | None:
    near = order(bm25(sentence, source.sentences))[:LOOKED_AT]
    return closest(sentence, [source.sentences[int(place)] for place in near])
