"""Citations by author and year, linked to works by all that they say: names, how many there are, year and letter."""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple


def _listed(names: str) -> list[str]:
    return names.split()


# What may stand in front of a name, in small letters.
PARTICLES = frozenset(_listed("van von de der den la le du di da das dos del della ten ter te zu zur el al bin ibn"))
NAME = re.compile(r"[^\W\d_a-z][\w'’‐-]*+\.?")
NO_NAME = frozenset(
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
        if not (NAME.fullmatch(word) and word.rstrip(".") not in NO_NAME) and word.lower() not in PARTICLES:
            break
        begin -= 1
    name = words[begin:]
    return " ".join(name) if any(NAME.fullmatch(word) for word in name) else ""


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
