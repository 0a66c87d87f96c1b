"""A claim's pages as the AVeriTeC organisers ship them, some thousand long ones in a file: read page by page, and
reduced to what could bear on the claim."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from aisr.programs.errors import UserError
from aisr.programs.reading.characters import all_whole
from aisr.programs.reading.lines import explain
from aisr.programs.records.averitec import Document
from aisr.programs.retrieval.bm25 import bm25, indexed
from aisr.programs.retrieval.documents import pieces
from aisr.programs.retrieval.retrievers import order

Text = Annotated[str, BeforeValidator(lambda value: " ".join(value) if isinstance(value, list) else value)]


class _Page(BaseModel):
    """A line of such a file. Its `type`, which says of some pages that they are gold, is not looked at."""

    model_config = ConfigDict(extra="ignore")

    url: str = ""
    url2text: Text


def pages(file: Path) -> Iterator[Document]:
    """The pages of a claim's file, one at a time. Raises UserError, naming the line, for what is none."""
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    page = _parsed(line, f"{file}:{number}")
                    yield Document(url=page.url, text=page.url2text)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}; expected the pages of a claim, a JSON object a line") from error


def reduced(claim: str, found: Iterator[Document], count: int) -> list[Document]:
    """Excerpts of pages: the `count` passages that match a claim best by BM25, each with the one before it and the one
    after it; those that touch are one excerpt. In the order of the pages."""
    urls: list[str] = []
    texts: list[str] = []
    seen: set[str] = set()
    for page in found:
        new = [text for text in pieces(page.text) if text not in seen]
        seen.update(new)
        texts += new
        urls += [page.url] * len(new)
    best = {int(place) for place in order(bm25(claim, texts))[:count]} if texts else set()
    indexed.cache_clear()  # of the next claim there are as many pages again
    return joined(((place, urls[place], texts[place]) for place in range(len(texts))), best)


def joined(rows: Iterable[tuple[int, str, str]], best: Collection[int]) -> list[Document]:
    """Passages as excerpts of their pages: of rows of place, address and text, in order, the best ones and those beside
    them on their own page; those that follow each other are one excerpt."""
    held = {
        place: (url, text) for place, url, text in rows if any(near in best for near in (place - 1, place, place + 1))
    }
    kept = [place for place in held if place in best or _beside(place, best, held)]
    excerpts: list[tuple[str, list[str]]] = []
    for before, place in zip([-2, *kept], kept, strict=False):
        url, text = held[place]
        if place == before + 1 and url == held[before][0]:
            excerpts[-1][1].append(text)
        else:
            excerpts.append((url, [text]))
    return [Document(url=url, text=" ".join(parts)) for url, parts in excerpts]


def _beside(place: int, best: Collection[int], held: Mapping[int, tuple[str, str]]) -> bool:
    """Whether a passage stands beside one of the best on its own page."""
    return any(near in best and held[near][0] == held[place][0] for near in (place - 1, place + 1))


def _parsed(line: bytes, where: str) -> _Page:
    try:
        return _Page.model_validate(all_whole(json.loads(line)))
    except ValidationError as error:
        raise UserError(f"{where}: {explain(error)}; expected a page with url and url2text") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where}: not JSON ({error}); expected a page with url and url2text") from error
