"""The list of references at the end of a PDF: entries, and what of them is number, author, year, title and DOI."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from aisr.paper.author_year import PARTICLES, People
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
FEWEST_HANGING = 0.15  # of the lines of a list whose entries are told by their indent
AUTHORS_END = 200  # characters; a year further behind is none that stands behind the authors
WEB = re.compile(r"\b(?:doi|url|https?|arxiv)\b", re.IGNORECASE)
INITIALS = re.compile(r"(?:[^\W\d_a-z]\.?[-‐]?\s?){1,4}|Jr\.?|I{2,3}")
GROUPS = ("Collaboration", "Consortium", "Team", "Group")
LONGEST_AUTHOR = 6  # words
NAMES_END = re.compile(r"(?<=[^\W\d_]{2})(?<!\bal)(?<!\bJr)\.\s")  # a full stop that is not behind initials
PARTED = re.compile(r",|;|\band\b|&|\bet al\b|\(")


def entries(lines: Sequence[Line], words: Counter[str]) -> list[str]:
    """The entries of a list, each in one line: by their labels, or by where their lines begin."""
    begins = [_label(line) is not None for line in lines]
    if begins[:1] != [True]:
        begins = _by_indent(lines)
    found: list[list[Line]] = []
    for line, new in zip(lines, begins, strict=True):
        if new or not found:
            found.append([line])
        else:
            found[-1].append(line)
    return [text_of(Block(Kind.PARAGRAPH, tuple(entry)), words).text for entry in found]


def _by_indent(lines: Sequence[Line]) -> list[bool]:
    """Of each line whether an entry begins there: the others hang in, or it does itself, or it stands apart.

    Where lines begin is asked of the list alone: in a column full of long entries nearly all of them hang in.
    """
    left: dict[tuple[int, int], float] = {}  # of a column on odd or even pages
    for line in lines:
        column = line.side, line.page % 2
        left[column] = min(left.get(column, line.box.left), line.box.left)
    out = [line.box.left - left[line.side, line.page % 2] < 0.5 * line.size for line in lines]
    if out.count(False) > FEWEST_HANGING * len(out):
        return out if out[0] else [not one for one in out]
    steps = [line.baseline - before.baseline for before, line in pairwise(lines) if line.side == before.side]
    usual = median([step for step in steps if step > 0] or [0.0])
    apart = [step > 1.2 * usual or step < 0 for step in (line.baseline - b.baseline for b, line in pairwise(lines))]
    return [True, *apart] if lines else []


class Listed(NamedTuple):
    """A list of references. works: by what running text calls them, their number, or first author and year as in
    `marlow 2021`; people: those of each work where they could be told; odd: entries that are none, or hold more than
    one."""

    works: dict[str, Work]
    people: dict[str, People]
    odd: list[str]


def works(found: Sequence[str]) -> Listed:
    """The works of a list of references."""
    listed = Listed({}, {}, [])
    for entry in found:
        work, who = _work(entry), _people(entry)
        if work is not None:
            if work.key in listed.works and who not in (None, listed.people.get(work.key)):
                work = work._replace(key=f"{work.key} ({len(listed.works) + 1})")
            listed.works.setdefault(work.key, work)
            if who is not None:
                listed.people.setdefault(work.key, who)
        if work is None or len(entry) > LONGEST:
            listed.odd.append(entry)
    return listed


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
    who = _people(entry)
    return f"{who.surnames[0].split()[-1].lower()} {who.year}" if who else ""


def _people(entry: str) -> People | None:
    """The authors of an entry and its year; None where it has no year, or nobody stands in front."""
    label = LABEL.match(entry)
    text = entry[label.end() :].strip() if label else entry
    end = WEB.search(text)
    years = [found[1] + found[2] for found in YEAR.finditer(text[: end.start() if end else len(text)])]
    years = years or [found[1] + found[2] for found in YEAR.finditer(text)]
    early = YEAR.search(text, 0, AUTHORS_END)
    is_early = early is not None and (_early_year(text) is not None or _is_names(text[: early.start()]))
    year = f"{early[1]}{early[2]}" if early and is_early else years[-1] if years else ""
    end = NAMES_END.search(text)
    authors = text[: early.start()] if early and is_early else text[: end.start() if end else None]
    surnames = [name for part in PARTED.split(authors) if (name := _surname(part))]
    many = bool(re.search(r"\bet al\b|\bothers\b", authors))
    return People(tuple(surnames[:30]), many, year) if surnames and year else None


def _is_names(text: str) -> bool:
    """Whether nothing but names stands before a year: `Agol, E., & Clarkson, W. 2005`."""
    if NAMES_END.search(text.rstrip(" .,(")):
        return False
    parts = [part.strip(" .") for part in PARTED.split(text) if part.strip(" .()")]
    return bool(parts) and all(_surname(part) or INITIALS.fullmatch(part.replace(" ", "")) for part in parts)


def _surname(part: str) -> str:
    """`Geva` of `Mor Geva`, of `M. Geva` and of `Geva M.`; empty for initials, and for what is no name."""
    words = part.strip(" ,.()").split()
    if words and not INITIALS.fullmatch(words[0]):  # MNRAS: "Geva M."
        while len(words) > 1 and INITIALS.fullmatch(words[-1]):
            words.pop()
    names = [word for word in words if not INITIALS.fullmatch(word)]
    if not names or len(words) > LONGEST_AUTHOR or not names[-1][:1].isupper():
        return ""
    begin = len(names) - 1
    while begin and (names[begin - 1].lower() in PARTICLES or names[-1] in GROUPS):
        begin -= 1
    return " ".join(names[begin:])
