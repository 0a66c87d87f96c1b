"""The synonyms of WordNet 3.0, as METEOR asks for them: nothing is downloaded.

`wn30-synonyms.txt.gz` is WordNet 3.0 (Princeton University; its notice is `WORDNET-3.0-LICENSE`) reduced to what METEOR
looks at: for each part of speech the synsets of two or more single words, the lemmas with the numbers of those synsets,
and the irregular forms.
"""

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

TABLE = "wn30-synonyms.txt.gz"
CAPITAL = "^"  # before a lemma that WordNet writes with a capital: METEOR, which has lower case, never meets that
# The endings that WordNet's "morphy" takes off, by part of speech (Fellbaum 1998; morphy(7WN)).
ENDINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
        ("men", "man"), ("ies", "y"),
    ),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}  # fmt: skip


@dataclass(frozen=True)
class _Part:
    """One part of speech. synsets: their words; lemmas: for each its word and its synsets; irregular: form -> bases."""

    synsets: list[list[str]]
    lemmas: dict[str, tuple[str | None, list[int]]]
    irregular: dict[str, list[str]]

    def words(self, word: str, endings: tuple[tuple[str, str], ...]) -> Iterator[str]:
        """All single words of the synsets of a word and of what it may be a form of."""
        regular = [word[: -len(old)] + new for old, new in endings if word.endswith(old)]
        for form in {word, *self.irregular.get(word, regular)}:
            if form in self.lemmas:
                own, numbers = self.lemmas[form]
                if own is not None:
                    yield own
                for number in numbers:
                    yield from self.synsets[number]


@lru_cache(maxsize=100_000)
def synonyms(word: str) -> frozenset[str]:
    """The single words of all synsets of a word, of every part of speech; empty where WordNet does not know it."""
    lower = word.lower()
    return frozenset(other for name, part in _table().items() for other in part.words(lower, ENDINGS[name]))


class Within:
    """What NLTK's METEOR takes as `wordnet`: a word's synonyms, of which it is shown those that the reference has; the
    others make no difference, and there are hundreds of them."""

    def __init__(self, reference: frozenset[str]) -> None:
        self._reference = reference

    def synsets(self, word: str) -> list["Synset"]:
        """All synonyms as one synset (METEOR makes one set of them anyway), or none."""
        known = synonyms(word)
        return [] if known.isdisjoint(self._reference) else [Synset(known & self._reference)]


class Synset:
    """A synset as NLTK asks for it."""

    def __init__(self, words: frozenset[str]) -> None:
        self._words = words

    def lemmas(self) -> list["Lemma"]:
        return [Lemma(word) for word in self._words]


class Lemma(str):
    """A lemma as NLTK asks for it."""

    __slots__ = ()

    def name(self) -> str:
        return str(self)


@lru_cache(maxsize=1)
def _table() -> dict[str, _Part]:
    text = gzip.decompress((files(__package__) / TABLE).read_bytes()).decode("utf-8")
    table = {name: _Part([], {}, {}) for name in ENDINGS}
    part, kind = table["n"], ""
    for line in text.splitlines():
        if line.startswith("#"):
            name, kind = line[1:].split()
            part = table[name]
        elif kind == "synsets":
            part.synsets.append(line.split())
        elif kind == "lemmas":
            word, *numbers = line.split()
            key = word.removeprefix(CAPITAL)
            part.lemmas[key] = (None if word.startswith(CAPITAL) else key, [int(number) for number in numbers])
        else:
            form, *bases = line.split()
            part.irregular[form] = bases
    return table
