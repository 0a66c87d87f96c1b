"""The list of references at the end of a PDF: entries, and what of them is number, author, year, title and DOI."""

import re
from collections import Counter
from collections.abc import Sequence

from aisr.paper.citations import YEAR
from aisr.paper.draft import Work
from aisr.paper.pdf_blocks import Block, Kind
from aisr.paper.pdf_lines import Line
from aisr.paper.pdf_text import text_of
from aisr.programs.text.sentences import sentences

LABEL = re.compile(r"\[([^\[\]]{1,24})\]|(\d{1,3})\.")
DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+")
QUOTED = re.compile(r"[“\"]([^“”\"]{8,400}?)[,.]?[”\"]")
BEHIND_YEAR = re.compile(r"(?:\((?:1[89]|20)\d\d[a-z]?\)|(?<!\d)(?:1[89]|20)\d\d[a-z]?)[.,:]\s{0,3}")
LONGEST = 1_500  # characters of an entry; a longer one has swallowed what stands behind it
AUTHORS_END = 200  # characters; a year further behind is none that stands behind the authors
WEB = re.compile(r"\b(?:doi|url|https?|arxiv)\b", re.IGNORECASE)
INITIALS = re.compile(r"(?:[A-Z]\.?-?){1,3}")
PARTED = re.compile(r",|;|\band\b|&|\bet al\b|\(")


def entries(lines: Sequence[Line], words: Counter[str]) -> list[str]:
    """The entries of a list, each in one line: by their labels, or by lines that do not hang in."""
    labelled = [_label(line) is not None for line in lines]
    found: list[list[Line]] = []
    for line, is_labelled in zip(lines, labelled, strict=True):
        new = is_labelled if labelled[:1] == [True] else line.box.left - line.column[0] < 0.5 * line.size
        if new or not found:
            found.append([line])
        else:
            found[-1].append(line)
    return [text_of(Block(Kind.PARAGRAPH, tuple(entry)), words).text for entry in found]


def works(found: Sequence[str]) -> tuple[dict[str, Work], list[str]]:
    """Works by what running text calls them, their number, or first author and year as in `marlow 2021`; and entries
    that are none, or hold more than one."""
    known: dict[str, Work] = {}
    odd: list[str] = []
    for entry in found:
        work = _work(entry)
        if work is not None:
            known.setdefault(work.key, work)
        if work is None or len(entry) > LONGEST:
            odd.append(entry)
    return known, odd


def _label(line: Line) -> str | None:
    found = LABEL.match(line.text)
    return (found[1] or found[2]) if found else None


def _work(entry: str) -> Work | None:
    label = LABEL.match(entry)
    text = entry[label.end() :].strip() if label else entry
    doi = DOI.search(text.replace("/ ", "/"))
    key = (label[1] or label[2]) if label else _by_author(text)
    return Work(key, title_of(text), doi[0].rstrip(".,;)").lower() if doi else "") if key else None


def title_of(entry: str) -> str:
    """The title in an entry without its label, as far as the usual styles let it be told; empty where they do not."""
    if quoted := QUOTED.search(entry):
        return quoted[1].strip()
    if year := _early_year(entry):
        parts = sentences(entry[year.end() :])
        return parts[0].rstrip(".") if parts else ""
    parts = sentences(entry)
    return parts[1].rstrip(".") if len(parts) > 1 else ""


def _early_year(entry: str) -> re.Match[str] | None:
    """The year where it stands behind the authors and before all else."""
    year = BEHIND_YEAR.search(entry, 0, AUTHORS_END)
    return year if year and year.start() > 3 and len(sentences(entry[: year.start()])) == 1 else None


def _by_author(entry: str) -> str:
    """`marlow 2021` of an entry of that author's; empty where it has no year."""
    end = WEB.search(entry)
    years = [found[1] + found[2] for found in YEAR.finditer(entry[: end.start() if end else len(entry)])]
    years = years or [found[1] + found[2] for found in YEAR.finditer(entry)]
    early = _early_year(entry)
    names = (sentences(PARTED.split(entry, maxsplit=1)[0]) or [""])[0].split()
    if not years or not names:
        return ""
    year = early[0].strip("().,: ") if early else years[-1]
    surnames = [name for name in names if not INITIALS.fullmatch(name)] or names
    return f"{surnames[-1].strip('.,').lower()} {year}"
