"""Works as running text cites them: [3, 5–7], (Okafor, 2019; Marlow and Finch, 2021), Obi (2022), [@key, p. 3]; and the
bibliography that they are linked to."""

import logging
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from bibtexparser.entrypoint import parse_string

from aisr.paper.draft import Place, Work
from aisr.paper.readers.files import Files
from aisr.paper.readers.latex_tokens import ACCENTS, SUBSCRIPT, accented, formula, symbol

# --- Citations by author and year, linked to works by all that they say: names, how many there are, year and letter.


def _listed(names: str) -> list[str]:
    return names.split()


# What may stand in front of a name, in small letters.
PARTICLES = frozenset(_listed("van von de der den la le du di da das dos del della ten ter te zu zur el al bin ibn"))
PART_OF_NAME = re.compile(r"[^\W\d_a-z][\w'’‐-]*+\.?")
NO_PART_OF_NAME = frozenset(
    _listed(
        "See Section Sections Sec Chapter Table Tables Figure Figures Fig Figs In And Since Cf Also Following Both As "
        "By From For With Eq Equation Equations Appendix The While However Recently Like Using To At On Based Our We"
    )
)
PARTED = re.compile(r",?\s(?:and|&)\s|\s?&\s?|,\s?|;\s?")
MANY = re.compile(r",?\s?\bet\s?al\b\.?|,?\s(?:and|&) others\b")
LONGEST_NAME = 5  # words
MOST_ALIKE = 50  # works of one name and year; of more, none is meant alone
FEWEST_LETTERS = 4  # of a part of a name that stands for all of it


class People(NamedTuple):
    """Who is cited, and when. surnames: as far as they are named; many: more than these ("et al."); year: with its
    letter, where it has one."""

    surnames: tuple[str, ...]
    many: bool
    year: str


def people(said: str, year: str) -> People | None:
    """The people that stand before a year, as in `see e.g. Holm, Reyes and Obi` or `van Dam et al.`; None where nobody
    does."""
    text = said.strip(" ,(")
    found = MANY.search(text)
    many = found is not None and not text[found.end() :].strip(" ,")
    if found is not None:
        text = text[: found.start()] if many else text[found.end() :]
    surnames: list[str] = []
    for part in reversed([one for one in PARTED.split(text.strip(" ,")) if one]):
        name = _at_end(part)
        if not name:
            break
        surnames.append(name)
        if name != part.strip():  # other words stand before it
            break
    return People(tuple(reversed(surnames)), many, year) if surnames else None


def _at_end(part: str) -> str:
    """The name that some words end in, with its particles."""
    words = part.split()
    begin = len(words)
    while begin and len(words) - begin < LONGEST_NAME:
        word = words[begin - 1]
        if (
            not (PART_OF_NAME.fullmatch(word) and word.rstrip(".") not in NO_PART_OF_NAME)
            and word.lower() not in PARTICLES
        ):
            break
        begin -= 1
    name = words[begin:]
    return " ".join(name) if any(PART_OF_NAME.fullmatch(word) for word in name) else ""


class Works:
    """Works by the names and the years that they are cited by."""

    def __init__(self, works: Iterable[tuple[str, People]]) -> None:
        self._named: dict[tuple[str, str], list[tuple[str, People]]] = {}
        for key, one in works:
            for name in _names(one.surnames[0]) if one.surnames else ():
                kept = self._named.setdefault((one.year[:4], name), [])
                if len(kept) < MOST_ALIKE:
                    kept.append((key, one))

    def find(self, cited: People) -> str | None:
        """The key of the one work that is meant; None where it is none, or could be more than one."""
        places = [self._named.get((cited.year[:4], name), []) for name in _names(cited.surnames[0])]
        found = list({key: one for place in places for key, one in place}.items())
        for fits in (_year, _first, _others, _as_many):
            if len(found) > 1:
                found = [(key, one) for key, one in found if fits(cited, one)] or found
        if len(found) == 1 and not (cited.year[4:] and found[0][1].year[4:] not in ("", cited.year[4:])):
            return found[0][0]
        return None


def _names(surname: str) -> set[str]:
    """What a first author is known by: `plas` and `vanderplas` of `Vander Plas`, `astropy` of a collaboration."""
    words = _words(surname)[:LONGEST_NAME]
    whole = {"".join(words[place:]) for place in range(len(words))}
    return whole | {word for word in words if len(word) >= FEWEST_LETTERS}


def _year(cited: People, work: People) -> bool:
    return cited.year == work.year


def _first(cited: People, work: People) -> bool:
    return "".join(_words(cited.surnames[0])) == "".join(_words(work.surnames[0]))


def _others(cited: People, work: People) -> bool:
    """Whether the number of authors and the second one fit."""
    if cited.many:
        return work.many or len(work.surnames) > 2
    if len(cited.surnames) == 1:
        return len(work.surnames) == 1 and not work.many
    return len(work.surnames) > 1 and _words(cited.surnames[1])[-1:] == _words(work.surnames[1])[-1:]


def _as_many(cited: People, work: People) -> bool:
    return cited.many or (len(work.surnames) == len(cited.surnames) and not work.many)


def _words(name: str) -> list[str]:
    """The words of a name in small letters without accents and signs."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    return re.sub(r"[^\w\s]|\d|_", "", "".join(one for one in plain if not unicodedata.combining(one))).split()


NUMBERS = re.compile(r"\[(\d{1,4}(?:\s?[,;–—-]\s?\d{1,4})*+)\]")
RANGE = re.compile(r"(\d{1,4})(?:\s?[–—-]\s?(\d{1,4}))?")
KEYS = re.compile(r"\[[^\[\]@]{0,200}@[^\[\]]{1,1000}\]")
KEY = re.compile(r"(?<![\w@])-?@\{?([\w:.#$%&+?<>~/-]*\w)\}?")
BRACKETS = re.compile(r"\([^()]{4,1000}\)|\[[^\[\]@]{4,1000}\]")
YEAR = re.compile(r"(?<![\d-])((?:1[89]|20)\d\d)([a-z]?)(?![\w-])")
NAME = re.compile(r"[^\W\d_a-z][\w'’‐-]+")
NO_NAME = frozenset(
    ("See", "Section", "Sections", "Sec", "Chapter", "Table", "Figure", "Fig", "In", "And", "Since", "Cf")
)
# The names before a year in brackets: "Obi", "Marlow and Finch", "van Dam, Okafor and Reyes", "Holm et al."
NAMED = re.compile(r"([^\W\d_a-z][\w'’‐-]{1,40})(?:,? (?:and|&) [^\W\d_a-z][\w'’‐-]{1,40}|,? et al\.?)? $")
LETTERS = re.compile(r"(?:,\s?[a-z](?![\w.]))+")
LONGEST_NAMES = 100  # characters before the bracket that are searched for them
LONGEST_RANGE = 50  # works


class Mark(NamedTuple):
    """A place where works are cited. start, end: its characters, names before a bracket not counted; works: the number
    of the work, its key, or its first author and year as in `marlow 2021`, in order; textual: the sentence needs the
    name ("Obi (2022) found"), so that the mark does not end a claim; people: of each work cited by author and year, in
    the same order."""

    start: int
    end: int
    works: tuple[str, ...]
    textual: bool = False
    people: tuple[People, ...] = ()


def find_marks(text: str) -> tuple[Mark, ...]:
    """All places where a text cites, in order."""
    found = [*_numbered(text), *_keyed(text), *_by_year(text)]
    return tuple(sorted(found))


def remove_marks(text: str, found: Sequence[Mark] | None = None) -> str:
    """The text without marks, its own if none are given, but for those that it needs to be read."""
    pieces, begin = [], 0
    for mark in find_marks(text) if found is None else found:
        if not mark.textual:
            pieces.append(text[begin : mark.start].rstrip())
            begin = mark.end
    return "".join([*pieces, text[begin:]]).strip()


def _numbered(text: str) -> Iterator[Mark]:
    for found in NUMBERS.finditer(text):
        works: list[str] = []
        for first, last in RANGE.findall(found[1]):
            end = int(last or first)
            works += map(str, range(int(first), end + 1)) if end - int(first) <= LONGEST_RANGE else [first, last]
        yield Mark(found.start(), found.end(), tuple(works))


def _keyed(text: str) -> Iterator[Mark]:
    for found in KEYS.finditer(text):
        if works := KEY.findall(found[0]):
            yield Mark(found.start(), found.end(), tuple(works))


def _by_year(text: str) -> Iterator[Mark]:
    for found in BRACKETS.finditer(text):
        inside = found[0][1:-1]
        if YEAR.match(inside.strip()):  # (2022), (2021a,b), (2021, Section 3): the name stands before
            before = text[max(0, found.start() - LONGEST_NAMES) : found.start()]
            one = people(before, "") if NAMED.search(before) else None
            if one:
                cited = tuple(one._replace(year=year) for year in _years(inside))
                yield Mark(found.start(), found.end(), tuple(map(_named, cited)), True, cited)
            continue
        cited = tuple(one for entry in inside.split(";") for one in _entry(entry))
        if cited:
            yield Mark(found.start(), found.end(), tuple(map(_named, cited)), False, cited)


def _entry(entry: str) -> Iterator[People]:
    """`see Holm et al., 2020, 2021, p. 3` as works; nothing for brackets that hold a year but no author."""
    begin, cited = 0, None
    for year in YEAR.finditer(entry):
        before = entry[begin : year.start()]
        names = [one for one in NAME.findall(before) if one not in NO_NAME]
        # Author and year stand side by side in a citation: "(Kettle Bay in the autumn of 2019)" is none.
        if names and before.rstrip(" ,(").endswith((".", *NAME.findall(before))):
            cited = people(before, "")
        if cited is None:
            return
        yield from (cited._replace(year=said) for said in _years(entry[year.start() :], most=1))
        begin = year.end()


def _named(one: People) -> str:
    """First author and year, as in `marlow 2021`."""
    return f"{one.surnames[0].split()[-1].lower()} {one.year}"


def _years(text: str, most: int = 100) -> Iterator[str]:
    """2021 and 2022b of "2021, 2022b"; 2021a, 2021b and 2021c of "2021a,b, c". most: numbers that are looked at."""
    for found in islice(YEAR.finditer(text), most):
        yield found[1] + found[2]
        more = LETTERS.match(text, found.end()) if found[2] else None
        yield from (found[1] + letter for letter in re.findall(r"[a-z]", more[0])) if more else ()


# --- The works of a paper's bibliography, by BibTeX, and how running text names them.

DOI = re.compile(r"10\.\d{4,9}/[^\s{}\"'<>,]{1,200}")
COMMAND = re.compile(r"\\(?:([A-Za-z]{1,40})\s?(?:\{(\w?)\})?|([^A-Za-z])(?:\{(\w?)\}|(\w?)))")
FORMULA = re.compile(r"\$([^$]{1,200})\$")
YEAR_OF_WORK = re.compile(r"(?:1[5-9]|20)\d\d[a-z]?")
ARTICLE = re.compile(r"^(?:the|an?)\s", re.IGNORECASE)  # of a title, which is not sorted by
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
AND = re.compile(r"\sand\s")
MAX_WORKS = 20_000


class Entry(NamedTuple):
    """A work, and its names in running text: `Marlow and Finch`, `2021`; empty where unknown. order: what it is sorted
    by among others of the same names and year; empty for one that a paper sorts itself."""

    work: Work
    authors: str = ""
    year: str = ""
    order: str = ""


def bibtex(text: str, name: str, files: Files) -> dict[str, Entry]:
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
        year = YEAR_OF_WORK.search(fields.get("year") or fields.get("date", ""))
        people = fields.get("author") or fields.get("editor", "")
        work = Work(entry.key, plain(fields.get("title", "")), doi[0].rstrip(".") if doi else "")
        surnames = [surname(one) for one in AND.split(people)]
        order = f"{' '.join(surnames)} {ARTICLE.sub('', work.title)}".casefold()
        found[entry.key] = Entry(work, in_text(surnames), year[0] if year else "", order)
    return found


def lettered(works: Mapping[str, Entry], cited: Collection[str]) -> dict[str, Entry]:
    """The works, those that are cited by the same names and year with a letter behind the year, as natbib and BibLaTeX
    print them: `2021a`, `2021b`, in the order of authors and titles."""
    alike: dict[tuple[str, str], list[str]] = {}
    for key in dict.fromkeys(cited):
        one = works.get(key)
        if one is not None and one.authors and one.order and one.year.isdigit():
            alike.setdefault((one.authors, one.year), []).append(key)
    found = dict(works)
    for keys in alike.values():
        if 1 < len(keys) <= len(ALPHABET):
            in_order = sorted(keys, key=lambda key: works[key].order)
            found |= {
                key: works[key]._replace(year=f"{works[key].year}{letter}")
                for key, letter in zip(in_order, ALPHABET, strict=False)
            }
    return found


def item(key: str, label: str, text: str) -> Entry:
    r"""A work of a \bibitem: its title is the second block, or what stands in quotes. label: "Marlow and
    Finch(2021)Marlow, Finch" of natbib, or empty."""
    blocks = [plain(block).strip(" .,") for block in text.split("\\newblock")]
    quoted = re.search(r"[“\"]([^“”\"]{5,300})[”\"]", plain(text))
    title = blocks[1] if len(blocks) > 1 else quoted[1].strip(" .,") if quoted else ""
    doi = DOI.search(text)
    authors, _, rest = label.partition("(")
    year = YEAR_OF_WORK.match(rest)
    work = Work(key, title, doi[0].rstrip(".") if doi else "")
    return Entry(work, plain(authors) if year else "", year[0] if year else "")


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


def by_author_year(works: Mapping[str, Entry]) -> Works:
    """Works by the names and years that running text cites them by."""
    known = ((key, people(one.authors, one.year)) for key, one in works.items() if one.authors and one.year)
    return Works((key, one) for key, one in known if one is not None)


def citation(keys: Iterable[str], works: Mapping[str, Entry], before: str, after: str, textual: bool) -> str:
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
