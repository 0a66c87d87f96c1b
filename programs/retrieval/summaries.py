"""What of a paper sums it up: its title, abstract and conclusion, as far as it has them."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from aisr.programs.retrieval.content import PAPERS, heading, idle_places

TITLE = 160  # characters up to which what stands first is a title
# Characters of an abstract in one paragraph or several, and those that one of these has at least: 300 words. Journals
# ask for 250 as a rule; where it ends nothing says but the next heading.
ABSTRACT, PROSE = 1900, 200
FIRST = re.compile(r"(?:abstract|summary)[.:]?", re.IGNORECASE)
AFTER = re.compile(r"(?:(?:\d|I)\.?\s+)?(?:introduction|background|main(?: text)?)", re.IGNORECASE)
LAST = re.compile(
    r"(?:(?:\d+|[IVX]+)\.?\s+)?(?:(?:general )?conclusions?(?: and [\w ]{1,40})?|concluding remarks"
    r"|summary(?: and [\w ]{1,40})?|discussion and conclusions?)",
    re.IGNORECASE,
)
CLOSING = re.compile(
    r"(?:in (?:conclusion|summary)|to (?:conclude|summari[sz]e)|taken together|collectively|overall|altogether"
    r"|conclusions?)\b",
    re.IGNORECASE,
)
CLOSING_INSIDE = re.compile(r"[.!?]\s(?:In (?:conclusion|summary)|To (?:conclude|summari[sz]e)|Taken together)\b")


def summaries(paragraphs: Mapping[str, str]) -> list[str]:
    """The ids of the title, the paragraphs of the abstract and those of the conclusion, in this order; none where no
    prose stands at the beginning."""
    keys = list(paragraphs)
    return [keys[place] for place in _summaries(tuple(paragraphs.values()))]


@lru_cache(maxsize=PAPERS)
def _summaries(texts: tuple[str, ...]) -> tuple[int, ...]:
    idle = idle_places(texts)
    begin = next((k + 1 for k, text in enumerate(texts) if heading(text) and FIRST.fullmatch(text.strip())), 0)
    title = [0] if texts and len(texts[0]) <= TITLE and begin != 1 else []
    abstract = _run(texts, begin or len(title), idle)
    if not any(len(texts[place]) >= PROSE for place in abstract):
        return ()
    return (*title, *abstract, *(place for place in _conclusion(texts, idle) if place not in {*title, *abstract}))


def _run(texts: Sequence[str], begin: int, idle: frozenset[int]) -> list[int]:
    """The places of paragraphs that stand together from one on, as far as an abstract goes; the first of them in any
    case."""
    found: list[int] = []
    size = 0
    for place in range(begin, len(texts)):
        if found and heading(texts[place]) and (AFTER.fullmatch(texts[place].strip()) or begin > 1):
            break
        if place not in idle:
            size += len(texts[place])
            if found and size > ABSTRACT:
                break
            found.append(place)
    return found


def _conclusion(texts: Sequence[str], idle: frozenset[int]) -> list[int]:
    """The places of what stands below the last such heading, or of the last paragraph that begins as a conclusion does,
    or has one inside."""
    below = [k + 1 for k, text in enumerate(texts) if heading(text) and LAST.fullmatch(text.strip()) and k]
    if below and (found := _below(texts, below[-1], idle)):
        return found
    telling = [k for k in range(len(texts) // 2, len(texts)) if k not in idle]
    for sign in (CLOSING.match, CLOSING_INSIDE.search):
        if found := [k for k in telling if sign(texts[k].lstrip())]:
            return found[-1:]
    return []


def _below(texts: Sequence[str], begin: int, idle: frozenset[int]) -> list[int]:
    """The places of a section's paragraphs, as far as an abstract goes."""
    found: list[int] = []
    size = 0
    for place in range(begin, len(texts)):
        size += len(texts[place])
        if heading(texts[place]) or (found and size > ABSTRACT):
            break
        found += [] if place in idle else [place]
    return found
