"""Works as running text cites them: [3, 5–7], (Okafor, 2019; Marlow and Finch, 2021), Obi (2022), [@key, p. 3]; and the
bibliography that they are linked to."""

import logging
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares.names import parse_single_name_into_parts, split_multiple_persons_names

from aisr_papers.draft import Paragraph, Place, Work
from aisr_papers.readers.files import Files, without_accents
from aisr_papers.readers.latex_commands import name_set
from aisr_papers.readers.latex_formulas import formula

# --- Citations by author and year, linked to works by all that they say: names, how many there are, year and letter.


# What may stand in front of a name, in small letters.
PARTICLES = name_set("van von de der den la le du di da das dos del della ten ter te zu zur el al bin ibn")
PART_OF_NAME = re.compile(r"[^\W\d_a-z][\w'’‐-]*+\.?")
NO_PART_OF_NAME = name_set(
    "See Section Sections Sec Chapter Table Tables Figure Figures Fig Figs In And Since Cf Also Following Both As "
    "By From For With Eq Equation Equations Appendix The While However Recently Like Using To At On Based Our We"
)
PARTED = re.compile(r",?\s(?:and|&)\s|\s?&\s?|,\s?|;\s?")
MANY = re.compile(r",?\s?\bet\s?al\b\.?|,?\s(?:and|&) others\b")
LONGEST_NAME = 5  # words
LONGEST_AUTHOR = 100  # characters; a paper may cite a work a thousand times
MOST_ALIKE = 50  # works of one name and year; of more, none is meant alone
FEWEST_LETTERS = 4  # of a part of a name that stands for all of it


class People(NamedTuple):
    """Authors and year of a citation or a work."""

    surnames: tuple[str, ...]  # as far as they are named
    many: bool  # more than these ("et al.")
    year: str  # with its letter, where it has one


def people_before(text: str, year: str) -> People | None:
    """Return the people that stand before a year, as in `see e.g. Holm, Reyes and Obi` or `van Dam et al.`; None where
    nobody does."""
    text = text.strip(" ,(")
    et_al = MANY.search(text)
    many = et_al is not None and not text[et_al.end() :].strip(" ,")
    if et_al is not None:
        text = text[: et_al.start()] if many else text[et_al.end() :]
    surnames: list[str] = []
    for part in reversed([one for one in PARTED.split(text.strip(" ,")) if one]):
        name = _name_at_end(part)
        if not name:
            break
        surnames.append(name)
        if name != part.strip():  # other words stand before it
            break
    return People(tuple(reversed(surnames)), many, year) if surnames else None


def _name_at_end(part: str) -> str:
    """Return the name that some words end in, with its particles."""
    words = part.split()
    begin = len(words)
    while begin and len(words) - begin < LONGEST_NAME:
        word = words[begin - 1]
        is_name = PART_OF_NAME.fullmatch(word) and word.rstrip(".") not in NO_PART_OF_NAME
        if not is_name and word.lower() not in PARTICLES:
            break
        begin -= 1
    name = words[begin:]
    return " ".join(name) if any(PART_OF_NAME.fullmatch(word) for word in name) else ""


class WorkIndex:
    """Works by the names and the years that they are cited by."""

    def __init__(self, works: Iterable[tuple[str, People]]) -> None:
        self._works: dict[tuple[str, str], list[tuple[str, People]]] = {}
        for key, people in works:
            for name in _names(people.surnames[0]) if people.surnames else ():
                alike = self._works.setdefault((people.year[:4], name), [])
                if len(alike) < MOST_ALIKE:
                    alike.append((key, people))

    def find(self, cited: People) -> str | None:
        """Return the key of the one work that is meant; None where it is none, or could be more than one."""
        lists = [self._works.get((cited.year[:4], name), []) for name in _names(cited.surnames[0])]
        works = list({key: people for works in lists for key, people in works}.items())
        best = max((_fit(cited, people) for _, people in works), default=None)
        works = [(key, people) for key, people in works if _fit(cited, people) == best]
        if len(works) == 1 and not (cited.year[4:] and works[0][1].year[4:] not in ("", cited.year[4:])):
            return works[0][0]
        return None


def _names(surname: str) -> set[str]:
    """Return what a first author is known by: `plas` and `vanderplas` of `Vander Plas`, `astropy` of a
    collaboration."""
    words = _words(surname)[:LONGEST_NAME]
    whole = {"".join(words[place:]) for place in range(len(words))}
    return whole | {word for word in words if len(word) >= FEWEST_LETTERS}


def _fit(cited: People, work: People) -> tuple[bool, bool, bool, bool]:
    """Return whether the year with its letter fits, the whole name of the first author, that of the second one, and how
    many they are; the first of these that differ decide between two works."""
    if cited.many:
        others = work.many or len(work.surnames) > 2
    elif len(cited.surnames) == 1:
        others = len(work.surnames) == 1 and not work.many
    else:
        others = len(work.surnames) > 1 and _words(cited.surnames[1])[-1:] == _words(work.surnames[1])[-1:]
    return (
        cited.year == work.year,
        "".join(_words(cited.surnames[0])) == "".join(_words(work.surnames[0])),
        others,
        cited.many or (len(work.surnames) == len(cited.surnames) and not work.many),
    )


def _words(name: str) -> list[str]:
    """Return the words of a name in small letters without accents and signs."""
    return re.sub(r"[^\w\s]|\d|_", "", without_accents(name.casefold())).split()


NUMBERS = re.compile(r"\[(\d{1,4}(?:\s?[,;–—-]\s?\d{1,4})*+)\]")
RANGE = re.compile(r"(\d{1,4})(?:\s?[–—-]\s?(\d{1,4}))?")
KEYS = re.compile(r"\[[^\[\]@]{0,200}@[^\[\]]{1,1000}\]")
KEY = re.compile(r"(?<![\w@])-?@\{?([\w:.#$%&+?<>~/-]*\w)\}?")
BRACKETS = re.compile(r"\([^()]{4,1000}\)|\[[^\[\]@]{4,1000}\]")
YEAR = re.compile(r"(?<![\d-])((?:1[89]|20)\d\d)([a-z]?)(?![\w-])")
NAME = re.compile(r"[^\W\d_a-z][\w'’‐-]+")
# The names before a year in brackets: "Obi", "Marlow and Finch", "van Dam, Okafor and Reyes", "Holm et al."
NAMED = re.compile(r"([^\W\d_a-z][\w'’‐-]{1,40})(?:,? (?:and|&) [^\W\d_a-z][\w'’‐-]{1,40}|,? et al\.?)? $")
LETTERED = re.compile(r"\[([^\[\]]{1,100})\]")  # [Obi22, HR20], [3, Section 2]
KEYS_PARTED = re.compile(r"[,;]")
LETTERS = re.compile(r"(?:,\s?[a-z](?![\w.]))+")
LONGEST_NAMES = 100  # characters before the bracket that are searched for them
LONGEST_RANGE = 50  # works


class Mark(NamedTuple):
    """A place where works are cited."""

    start: int  # its characters, names before a bracket not counted
    end: int
    works: tuple[str, ...]  # in order: a work's number, its key, or first author and year as in `marlow 2021`
    textual: bool = False  # the sentence needs the name ("Obi (2022) found"), so that the mark does not end a claim
    people: tuple[People, ...] = ()  # of each work cited by author and year, in the same order


def find_marks(text: str) -> tuple[Mark, ...]:
    """Return all places where a text cites, in order."""
    return tuple(sorted([*_numbered(text), *_keyed(text), *_by_year(text)]))


def remove_marks(text: str, marks: Sequence[Mark]) -> str:
    """Return the text without marks, but for those that it needs to be read."""
    pieces, begin = [], 0
    for mark in marks:
        if not mark.textual:
            pieces.append(text[begin : mark.start].rstrip())
            begin = mark.end
    return "".join([*pieces, text[begin:]]).strip()


def _numbered(text: str) -> Iterator[Mark]:
    for brackets in NUMBERS.finditer(text):
        works: list[str] = []
        for first, last in RANGE.findall(brackets[1]):
            end = int(last or first)
            works += map(str, range(int(first), end + 1)) if end - int(first) <= LONGEST_RANGE else [first, last]
        yield Mark(brackets.start(), brackets.end(), tuple(works))


def _keyed(text: str) -> Iterator[Mark]:
    for brackets in KEYS.finditer(text):
        if works := KEY.findall(brackets[0]):
            yield Mark(brackets.start(), brackets.end(), tuple(works))


def _by_year(text: str) -> Iterator[Mark]:
    for brackets in BRACKETS.finditer(text):
        inside = brackets[0][1:-1]
        textual = YEAR.match(inside.strip()) is not None
        if textual:  # (2022), (2021a,b), (2021, Section 3): the name stands before
            before = text[max(0, brackets.start() - LONGEST_NAMES) : brackets.start()]
            people = people_before(before, "") if NAMED.search(before) else None
            cited = tuple(people._replace(year=year) for year in _years(inside)) if people else ()
        else:
            cited = tuple(people for entry in inside.split(";") for people in _entry(entry))
        if cited:
            names = (f"{one.surnames[0].split()[-1].lower()} {one.year}" for one in cited)
            yield Mark(brackets.start(), brackets.end(), tuple(names), textual, cited)


def _entry(entry: str) -> Iterator[People]:
    """`see Holm et al., 2020, 2021, p. 3` as works; nothing for brackets that hold a year but no author."""
    begin, people = 0, None
    for year in YEAR.finditer(entry):
        before = entry[begin : year.start()]
        names = [one for one in NAME.findall(before) if one not in NO_PART_OF_NAME]
        # Author and year stand side by side in a citation: "(Kettle Bay in the autumn of 2019)" is none.
        if names and before.rstrip(" ,(").endswith((".", *NAME.findall(before))):
            people = people_before(before, "")
        if people is None:
            return
        yield from (people._replace(year=one) for one in _years(entry[year.start() :], most=1))
        begin = year.end()


def _years(text: str, most: int = 100) -> Iterator[str]:
    """2021 and 2022b of "2021, 2022b"; 2021a, 2021b and 2021c of "2021a,b, c". most: numbers that are looked at."""
    for year in islice(YEAR.finditer(text), most):
        yield year[1] + year[2]
        more = LETTERS.match(text, year.end()) if year[2] else None
        yield from (year[1] + letter for letter in re.findall(r"[a-z]", more[0])) if more else ()


# --- The works of a paper's bibliography, by BibTeX, and how running text names them.

DOI = re.compile(r"10\.\d{4,9}/[^\s{}\"'<>,]{1,200}")
UNESCAPED = re.compile(r"(?<!\\)([%&#])")  # BibTeX takes these as they are
YEAR_OF_WORK = re.compile(r"(?:1[5-9]|20)\d\d[a-z]?")
LONGEST_FIELD = 10_000  # characters; strings of a .bib file may hold each other
MAX_WORKS = 20_000


class Entry(NamedTuple):
    """A work of a bibliography, with its authors and year where both are known."""

    work: Work
    people: People | None = None
    authors: str = ""  # in running text, where the bibliography says that, as `Marlow & Finch`


def read_bibtex(text: str, name: str, files: Files) -> dict[str, Entry]:
    """Return the works of a .bib file by their keys. What bibtexparser could not read is noted."""
    log = logging.getLogger("bibtexparser")
    if not log.handlers:  # it warns of each entry that it cannot read; they are noted below
        log.addHandler(logging.NullHandler())
    library = parse_string(text, parse_stack=[])  # of values joined by #, bibtexparser's own steps leave the source
    for failed in library.failed_blocks[:20]:
        files.note_unread(Place(name, (failed.start_line or 0) + 1), "an entry of the bibliography that cannot be read")
    strings: dict[str, str] = {}
    for string in library.strings:
        strings[string.key.lower()] = join_value(str(string.value), strings)
    entries = {}
    for block in library.entries[:MAX_WORKS]:
        fields = {key.lower(): join_value(str(field.value), strings) for key, field in block.fields_dict.items()}
        year = YEAR_OF_WORK.search(fields.get("year") or fields.get("date", ""))
        names = map(surname, split_multiple_persons_names(fields.get("author") or fields.get("editor", "")))
        surnames = [name[:LONGEST_AUTHOR] for name in names if name]
        many = "others" in surnames[1:]
        named = surnames[: surnames.index("others", 1)] if many else surnames
        people = People(tuple(named), many, year[0] if year else "")
        work = Work(
            block.key, plain_text(fields.get("title", "")), find_doi(fields.get("doi") or fields.get("url", ""))
        )
        entries[block.key] = Entry(work, people if surnames and year else None)
    return entries


def join_value(source: str, strings: Mapping[str, str]) -> str:
    """Return the text of a field: what `#` joins, in quotes, in braces, or a string by its name in small letters."""
    parts, begin, depth, in_quotes = [], 0, 0, False
    for place, sign in enumerate(source):
        depth += (sign == "{") - (sign == "}")
        if sign == '"' and not depth:
            in_quotes = not in_quotes
        elif sign == "#" and not depth and not in_quotes:
            parts.append(source[begin:place])
            begin = place + 1
    text = ""
    for part in map(str.strip, [*parts, source[begin:]]):
        text += part[1:-1] if part[:1] in ('"', "{") else strings.get(part.lower(), part)
    return text[:LONGEST_FIELD]


def find_doi(text: str) -> str:
    """Return the first DOI in a text; empty where it has none."""
    doi = DOI.search(text)
    return doi[0].rstrip(".") if doi else ""


def read_bibitem(key: str, label: str, text: str) -> Entry:
    r"""Return a work of a \bibitem: its title is the second block, or what stands in quotes. label: "Marlow and
    Finch(2021)Marlow, Finch" of natbib, or empty."""
    blocks = [plain_text(block).strip(" .,") for block in text.split("\\newblock")]
    quoted = QUOTED.search(plain_text(text))
    title = blocks[1] if len(blocks) > 1 else quoted[1].strip(" .,") if quoted else ""
    authors, _, rest = label.partition("(")
    year = YEAR_OF_WORK.match(rest)
    work = Work(key, title, find_doi(text))
    names = plain_text(authors)[: 2 * LONGEST_AUTHOR]
    people = (people_before(names, year[0]) or People((names,), False, year[0])) if year and names else None
    return Entry(work, people, names)


QUOTED = re.compile(r"[“\"]([^“”\"]{5,400}?)[,.]?[”\"]")


def plain_text(text: str) -> str:
    """Return the text of a BibTeX field: without braces, with accents and symbols as in print."""
    return formula(UNESCAPED.sub(r"\\\1", text)) if text.strip() else ""


def surname(name: str) -> str:
    """Return the last name of `Last, First` or `First von Last`; of `von Last`, where bibtexparser takes the particle
    for a first name, also that."""
    parts = parse_single_name_into_parts(name, strict=False)
    is_von = not parts.von and "," not in name and all(part[:1].islower() for part in parts.first)
    return plain_text(" ".join([*(parts.first if is_von else parts.von), *parts.last]))


def authors_in_text(people: People) -> str:
    """Return authors as running text names them: `Marlow`, `Marlow and Finch`, `Marlow et al.`"""
    if people.many or len(people.surnames) > 2:
        return f"{people.surnames[0]} et al."
    return " and ".join(people.surnames)


def cited_in_words(text: str, index: WorkIndex, works: Collection[str]) -> tuple[str, ...]:
    """Return the keys that a sentence cites by its words. A name that is no work of the paper is no citation, nor is a
    number that is none of `works`."""
    keys: list[str] = []
    for mark in find_marks(text):
        if mark.people:
            keys += [key for one in mark.people if (key := index.find(one))]
        else:
            keys += [one for one in mark.works if "@" in text[mark.start : mark.end] or one in works]
    for brackets in LETTERED.findall(text):  # of an interval, "[0.1, 2]", the first is no work
        parts = [one.strip() for one in KEYS_PARTED.split(brackets)]
        keys += [one for one in parts if one in works] if parts[0] in works else ()
    return tuple(keys)


def natbib_text(keys: Sequence[str], works: Mapping[str, Entry], before: str, after: str, textual: bool) -> str:
    """Return a citation as natbib prints it, by authors and year; by keys, `[@a; @b]`, where these are unknown of
    one."""
    entries = [works[key] for key in keys if key in works]
    names = [(one.authors or authors_in_text(one.people), one.people.year) for one in entries if one.people]
    if len(names) < len(keys):
        return f"[{'; '.join(f'@{key}' for key in keys)}]"
    if textual:
        text = " and ".join(f"{authors} ({year})" for authors, year in names)
        return f"{text[:-1]}, {after})" if after else text
    text = "; ".join(f"{authors}, {year}" for authors, year in names)
    return f"({before + ' ' if before else ''}{text}{', ' + after if after else ''})"


def cited_works(paragraphs: Iterable[Paragraph], entries: Mapping[str, Entry], files: Files) -> dict[str, Work]:
    """Return the works that a paper cites; one that no bibliography holds is noted."""
    works: dict[str, Work] = {}
    for sentence in (sentence for paragraph in paragraphs for sentence in paragraph.sentences):
        for key in sentence.work_keys:
            if key not in works and key not in entries:
                files.note_unread(sentence.place, f"{ascii(key[:60])[1:-1]}: cited, but in no bibliography")
            works.setdefault(key, entries[key].work if key in entries else Work(key))
    return works
