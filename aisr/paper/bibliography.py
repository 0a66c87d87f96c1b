"""The works of a paper's bibliography, by BibTeX, and how running text names them."""

import logging
import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from bibtexparser.entrypoint import parse_string

from aisr.paper.author_year import Works, people
from aisr.paper.draft import Place, Work
from aisr.paper.files import Files
from aisr.paper.latex_text import ACCENTS, SUBSCRIPT, accented, formula, symbol

DOI = re.compile(r"10\.\d{4,9}/[^\s{}\"'<>,]{1,200}")
COMMAND = re.compile(r"\\(?:([A-Za-z]{1,40})\s?(?:\{(\w?)\})?|([^A-Za-z])(?:\{(\w?)\}|(\w?)))")
FORMULA = re.compile(r"\$([^$]{1,200})\$")
YEAR = re.compile(r"(?:1[5-9]|20)\d\d[a-z]?")
ARTICLE = re.compile(r"^(?:the|an?)\s", re.IGNORECASE)  # of a title, which is not sorted by
LETTERS = "abcdefghijklmnopqrstuvwxyz"
AND = re.compile(r"\sand\s")
MAX_WORKS = 20_000


class Cited(NamedTuple):
    """A work, and its names in running text: `Marlow and Finch`, `2021`; empty where unknown. order: what it is sorted
    by among others of the same names and year; empty for one that a paper sorts itself."""

    work: Work
    authors: str = ""
    year: str = ""
    order: str = ""


def bibtex(text: str, name: str, files: Files) -> dict[str, Cited]:
    """The works of a .bib file by their keys. What BibTeX could not read is noted."""
    log = logging.getLogger("bibtexparser")
    if not log.handlers:  # it warns of each entry that it cannot read; they are noted below
        log.addHandler(logging.NullHandler())
    library = parse_string(text)
    for block in library.failed_blocks[:20]:
        files.refuse(Place(name, (block.start_line or 0) + 1), "an entry of the bibliography that cannot be read")
    found = {}
    for entry in library.entries[:MAX_WORKS]:
        fields = {key.lower(): str(field.value) for key, field in entry.fields_dict.items()}
        doi = DOI.search(fields.get("doi") or fields.get("url", ""))
        year = YEAR.search(fields.get("year") or fields.get("date", ""))
        people = fields.get("author") or fields.get("editor", "")
        work = Work(entry.key, plain(fields.get("title", "")), doi[0].rstrip(".") if doi else "")
        surnames = [surname(one) for one in AND.split(people)]
        order = f"{' '.join(surnames)} {ARTICLE.sub('', work.title)}".casefold()
        found[entry.key] = Cited(work, in_text(surnames), year[0] if year else "", order)
    return found


def lettered(works: Mapping[str, Cited], cited: Collection[str]) -> dict[str, Cited]:
    """The works, those that are cited by the same names and year with a letter behind the year, as natbib and BibLaTeX
    print them: `2021a`, `2021b`, in the order of authors and titles."""
    alike: dict[tuple[str, str], list[str]] = {}
    for key in dict.fromkeys(cited):
        one = works.get(key)
        if one is not None and one.authors and one.order and one.year.isdigit():
            alike.setdefault((one.authors, one.year), []).append(key)
    found = dict(works)
    for keys in alike.values():
        if 1 < len(keys) <= len(LETTERS):
            in_order = sorted(keys, key=lambda key: works[key].order)
            found |= {
                key: works[key]._replace(year=f"{works[key].year}{letter}")
                for key, letter in zip(in_order, LETTERS, strict=False)
            }
    return found


def item(key: str, label: str, text: str) -> Cited:
    r"""A work of a \bibitem: its title is the second block, or what stands in quotes. label: "Marlow and
    Finch(2021)Marlow, Finch" of natbib, or empty."""
    blocks = [plain(block).strip(" .,") for block in text.split("\\newblock")]
    quoted = re.search(r"[“\"]([^“”\"]{5,300})[”\"]", plain(text))
    title = blocks[1] if len(blocks) > 1 else quoted[1].strip(" .,") if quoted else ""
    doi = DOI.search(text)
    authors, _, rest = label.partition("(")
    year = YEAR.match(rest)
    work = Work(key, title, doi[0].rstrip(".") if doi else "")
    return Cited(work, plain(authors) if year else "", year[0] if year else "")


def plain(text: str) -> str:
    """The text of a BibTeX field: without braces, with accents and symbols as in print."""
    said = COMMAND.sub(_printed, FORMULA.sub(lambda found: formula(found[1]), text))
    for typed, printed in (("{", ""), ("}", ""), ("~", " "), ("``", "“"), ("''", "”")):
        said = said.replace(typed, printed)
    return SUBSCRIPT.sub("", " ".join(said.split()))


def surname(name: str) -> str:
    """The last name of `Last, First` or `First von Last`."""
    name = name.strip()
    if name.startswith("{") and name.endswith("}"):
        return plain(name)
    last, comma, _ = name.partition(",")
    if comma:
        return plain(last)
    words = plain(name).split()
    small = next((number for number, word in enumerate(words[:-1]) if number and word.islower()), len(words) - 1)
    return " ".join(words[small:])


def in_text(surnames: list[str]) -> str:
    """Authors as running text names them: `Marlow`, `Marlow and Finch`, `Marlow et al.`"""
    people = [one for one in surnames if one]
    if len(people) > 2 or "others" in people[1:]:
        return f"{people[0]} et al."
    return " and ".join(people)


def by_author_year(works: Mapping[str, Cited]) -> Works:
    """Works by the names and years that running text cites them by."""
    known = ((key, people(one.authors, one.year)) for key, one in works.items() if one.authors and one.year)
    return Works((key, one) for key, one in known if one is not None)


def citation(keys: Iterable[str], works: Mapping[str, Cited], before: str, after: str, textual: bool) -> str:
    """A citation as natbib prints it, by authors and year; a work of which these are unknown stands as `[@key]`."""
    said = []
    bare = False
    for key in keys:
        one = works.get(key)
        if one is None or not one.authors or not one.year:
            bare = True
            said.append(f"@{key}")
        else:
            said.append(f"{one.authors} ({one.year})" if textual else f"{one.authors}, {one.year}")
    if bare:
        known = [word if word.startswith("@") else word.replace("(", "").replace(")", "") for word in said]
        return f"[{'; '.join(known)}]"
    if textual:
        return " and ".join(said) if not after else f"{' and '.join(said)[:-1]}, {after})"
    text = "; ".join(said)
    return f"({before + ' ' if before else ''}{text}{', ' + after if after else ''})"


def _printed(found: re.Match[str]) -> str:
    name, braced, sign, within, behind = found.groups()
    command, letter = name or sign, braced or within or behind or ""
    if letter and command in ACCENTS:
        return accented(command, letter)
    said = symbol(command)
    return letter if said is None else said + letter
