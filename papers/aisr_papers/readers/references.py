"""Works as lists of references print them: the number, authors, year, title and DOI of an entry."""

import re

from aisr.text import sentences
from aisr_papers.citations import PARTICLES, QUOTED, YEAR, Entry, People, find_doi
from aisr_papers.draft import Work, split_sentences

LABEL = re.compile(r"\[([^\[\]]{1,24})\]|(\d{1,3})\.(?!\d)")
BEHIND_YEAR = re.compile(r"(?:\((?:1[89]|20)\d\d[a-z]?\)|(?<!\d)(?:1[89]|20)\d\d[a-z]?)[.,:]\s{0,3}")
AUTHORS_END = 200  # characters; a year further behind is none that stands behind the authors
WEB = re.compile(r"\b(?:doi|url|https?|arxiv)\b", re.IGNORECASE)
INITIALS = re.compile(r"(?:[^\W\d_a-z]\.?[-‐]?\s?){1,4}|Jr\.?|I{2,3}")
GROUPS = ("Collaboration", "Consortium", "Team", "Group")
LONGEST_AUTHOR = 6  # words
NAMES_END = re.compile(r"(?<=[^\W\d_]{2})(?<!\bal)(?<!\bJr)\.\s")  # a full stop that is not behind initials
TITLE_WORD = re.compile(r"[^\W\d_]{3}")
PARTED = re.compile(r",|;|\band\b|&|\bet al\b|\(")


def read_reference(text: str, key: str = "") -> Entry | None:
    """Return the work of an entry by the label in front of it, else by a key, else as `marlow 2021` of its first
    author; None where it has none of these."""
    label = LABEL.match(text)
    entry = text[label.end() :].strip() if label else text
    people = _people(entry)
    name = f"{people.surnames[0].split()[-1].lower()} {people.year}" if people else ""
    key = (label[1] or label[2]) if label else key or name
    doi = find_doi(entry.replace("/ ", "/")).rstrip(";)").lower()
    return Entry(Work(key, _title(entry), doi), people) if key else None


def _title(entry: str) -> str:
    """Return the title in an entry without its label, for the usual styles."""
    if quoted := QUOTED.search(entry):
        return quoted[1].strip()
    if year := _early_year(entry):
        parts = split_sentences(entry[year.end() :])
        return parts[0].rstrip(".") if parts else ""
    parts = split_sentences(entry)
    # Behind the authors, or, where these end in initials, the longest part.
    title = parts[1] if len(parts) > 1 and TITLE_WORD.search(parts[1]) else max(entry.split(". "), key=len)
    return title.strip(" .")


def _early_year(entry: str) -> re.Match[str] | None:
    """Return the year where it stands behind the authors and before all else."""
    year = BEHIND_YEAR.search(entry, 0, AUTHORS_END)
    if year is None or year.start() <= 3 or not entry[year.end() :].strip():
        return None
    return year if len(sentences(entry[: year.start()])) == 1 else None


def _people(text: str) -> People | None:
    """Return the authors of an entry and its year; None where it has no year, or nobody stands in front."""
    end = WEB.search(text)
    years = [match[1] + match[2] for match in YEAR.finditer(text[: end.start() if end else len(text)])]
    years = years or [match[1] + match[2] for match in YEAR.finditer(text)]
    early = YEAR.search(text, 0, AUTHORS_END)
    is_early = early is not None and (_early_year(text) is not None or _is_names(text[: early.start()]))
    year = f"{early[1]}{early[2]}" if early and is_early else years[-1] if years else ""
    end = NAMES_END.search(text)
    authors = text[: early.start()] if early and is_early else text[: end.start() if end else None]
    surnames = [name for part in PARTED.split(authors) if (name := _surname(part))]
    many = bool(re.search(r"\bet al\b|\bothers\b", authors))
    return People(tuple(surnames[:30]), many, year) if surnames and year else None


def _is_names(text: str) -> bool:
    """Return whether nothing but names stands before a year: `Agol, E., & Clarkson, W. 2005`."""
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
