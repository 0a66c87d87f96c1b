"""Which paragraphs of a paper cannot decide a claim: headings, bare captions, references and thanks."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

HEADING = re.compile(r"(?:[A-Z]|\d+(?:\.\d+)*\.?\s)[^.!?:;]{0,78}[^.!?:;,]")
CAPTION = re.compile(
    r"\s*+(?:(?:supplementary|supplemental|extended data)\s++)?(?:fig(?:ure)?s?|tables?|scheme|box|movie|video)"
    r"\s*+(?:\.\s*+)?[A-Z]?\d",
    re.IGNORECASE,
)
BARE = 160  # characters up to which a caption says what is shown, and nothing of what is seen
# What stands below such a heading, and paragraphs that begin so without one.
END_HEADING = re.compile(
    r"(?:\d+(?:\.\d+)*\.?\s+)?(?:references|bibliography|literature cited|funding(?: (?:statement|sources?))?"
    r"|acknowledge?ments?|(?:declarations? of )?(?:conflicts? of interests?|competing (?:financial )?interests?)"
    r"(?: statement)?|disclosures?|author(?:s['’]?|['’]s)? (?:contributions?|information)|contributors"
    r"|credit authorship contribution statement)",
    re.IGNORECASE,
)
END = re.compile(
    r"(?:(?:acknowledge?ments?|funding|author(?:s['’]?|['’]s)? contributions?|(?:conflicts? of|competing"
    r"|declaration of)(?: financial)? interests?)\s*[:.—–-]"
    r"|(?:this|the) (?:work|study|research|project) (?:was|is|has been|were) (?:\w+ )?(?:supported|funded)\b"
    r"|(?:we|the authors) (?:would like to )?(?:gratefully )?(?:thank|acknowledge)\b"
    r"|(?:the authors?|all authors|none of the authors|authors) (?:have )?(?:\w+ )?(?:declared?|reports?|have) "
    r"(?:that )?(?:they have |there (?:is|are) )?(?:no|nothing)\b)",
    re.IGNORECASE,
)
ENTRY = re.compile(
    r"\b(?:19|20)\d\d[a-z]?\)?\s*[;:.,]\s*\(?\d+|\b\d+\s*\(\d+\)\s*[:,]\s*e?\d+|\bdoi\b\s*+(?:[:.]\s*+)?(?:org/)?10\.",
    re.IGNORECASE,
)
PAPERS = 256  # whose idle paragraphs are remembered: many claims cite the same paper
ENTRIES = 3  # from which on a paragraph lists references


def without_content(paragraphs: Mapping[str, str]) -> set[str]:
    """The ids of paragraphs that cannot decide a claim."""
    idle = idle_places(tuple(paragraphs.values()))
    return {key for place, key in enumerate(paragraphs) if place in idle}


def able_to_decide(shown: Sequence[str], paragraphs: Mapping[str, str]) -> list[str]:
    """Those of the shown ids whose paragraphs can decide a claim; all of them where none can. A heading is shown for
    what stands below it: to ask about it, too, would cost as much as a question about a paragraph."""
    idle = without_content(paragraphs)
    return [key for key in shown if key not in idle] or list(shown)


def heading(text: str) -> bool:
    """Whether a paragraph is a heading: in the official format a short line of its own without a full stop."""
    return bool(HEADING.fullmatch(text.strip()))


@lru_cache(maxsize=PAPERS)
def idle_places(texts: tuple[str, ...]) -> frozenset[int]:
    """The places of paragraphs without content, of all those of a paper."""
    idle, ends = set(), False
    for place, raw in enumerate(texts):
        text = raw.strip()
        if heading(text):
            ends = bool(END_HEADING.fullmatch(text))
            idle.add(place)
        elif ends or END.match(text.lstrip()) or (CAPTION.match(text) and len(text) <= BARE) or _lists_references(text):
            idle.add(place)
    return frozenset(idle)


def _lists_references(text: str) -> bool:
    """Whether entries of a list take up a paragraph: many, and one at least for every forty words."""
    entries = len(ENTRY.findall(text))
    return entries >= ENTRIES and 40 * entries >= len(text.split())
