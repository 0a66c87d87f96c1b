"""METEOR (Banerjee and Lavie 2005), which AVeriTeC matches evidence by: NLTK's own, fed from caches.

Words are those of the organisers' scorer: sentences by Punkt, words by NLTK's tokenizer. That runs on NLTK 3.7 to
3.9.1. NLTK 3.9.4 and 3.10 also split at dashes, and treat apostrophes and curly quotes in another way, which moves a
fifth of all scores by up to .03; here the older rules stand in for the newer ones.

Synonyms are those of WordNet 3.0, and nothing is downloaded: `wn30-synonyms.json.gz` is WordNet 3.0 (Princeton
University; its notice is `WORDNET-3.0-LICENSE`) reduced to what METEOR looks at: for each part of speech the single
words of the synsets of each lemma, itself among them unless it has a capital, and the irregular forms.
"""

import gzip
import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache, partial
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

# Punkt's English model has no stated licence. What the scorer uses of it is above all that it knows abbreviations from
# newspapers; these are our own list of such. "e.g." and "no." are none of them: behind both it ends a sentence.
ABBREVIATIONS = """
    adm capt col dr gen gov jr lt maj messrs mr mrs ms prof rep reps sen sens sgt sr st
    bros co corp cos inc ltd  jan feb aug sep sept oct nov dec
    ala ariz ark calif colo conn del fla ga ill kan ky mass minn nev okla ore pa tenn va vt wash wis
    d.c l.a n.c n.d n.h n.j n.m n.y r.i s.c u.k u.n u.s u.s.a w.va  a.m p.m  ave ct vs ph.d
"""
QUOTES = r"\u2018\u2019\u201c\u201d\xab\xbb"  # which Punkt of NLTK 3.10 takes for signs at the edge of a word
DASHES = r"[\u2012-\u2015]"
APOSTROPHE = re.compile(r"(?i)(\')(?!re|ve|ll|m|t|s|d|n)(\w)\b"), r"\1 \2"


@lru_cache(maxsize=200_000)
def meteor_words(text: str) -> tuple[str, ...]:
    """Return the words and signs of a text, in lower case."""
    sentences, tokenizer = _tokenizers()
    return tuple(word.lower() for sentence in sentences.tokenize(text) for word in tokenizer.tokenize(sentence))


@cache
def _tokenizers() -> tuple[Any, Any]:
    """Return Punkt and the word tokenizer. Made at the first use: NLTK's import takes seconds."""
    from nltk.tokenize.destructive import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktLanguageVars, PunktParameters, PunktSentenceTokenizer

    class Signs(PunktLanguageVars):
        re_boundary_realignment = re.compile(r'(?<!["\')\]}])["\')\]}]++(?:\s++|(?=--)|$)', re.MULTILINE)

        @property
        def _re_non_word_chars(self) -> str:
            return str(super()._re_non_word_chars).replace(QUOTES, "")

    class Words(NLTKWordTokenizer):
        STARTING_QUOTES = (*NLTKWordTokenizer.STARTING_QUOTES[:-1], APOSTROPHE)
        PUNCTUATION = tuple(rule for rule in NLTKWordTokenizer.PUNCTUATION if rule[0].pattern != DASHES)

    learnt = PunktParameters()
    learnt.abbrev_types = set(ABBREVIATIONS.split())
    return PunktSentenceTokenizer(learnt, lang_vars=Signs()), Words()


TABLE = "wn30-synonyms.json.gz"
# The endings that WordNet's "morphy" takes off, by part of speech (Fellbaum 1998; morphy(7WN)).
INFLECTIONS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
        ("men", "man"), ("ies", "y"),
    ),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}  # fmt: skip


@lru_cache(maxsize=100_000)
def synonyms(word: str) -> frozenset[str]:
    """Return the single words of all synsets of a word, of every part of speech; none for an unknown one."""
    lower = word.lower()
    found = set[str]()
    for name, part in _table().items():
        regular = [lower.removesuffix(old) + new for old, new in INFLECTIONS[name] if lower.endswith(old)]
        for form in {lower, *part["irregular"].get(lower, regular)}:
            found.update(part["synonyms"].get(form, "").split())
    return frozenset(found)


@cache
def _table() -> dict[str, dict[str, Any]]:
    """Return by part of speech the `synonyms` of lemmas, with blanks between, and the bases of `irregular` forms."""
    table: dict[str, dict[str, Any]] = json.loads(gzip.decompress((files(__package__) / TABLE).read_bytes()))
    return table


class Within:
    """What NLTK's METEOR takes as `wordnet`: of a word's hundreds of synonyms those that the reference has."""

    def __init__(self, reference: frozenset[str]) -> None:
        self._reference = reference

    def synsets(self, word: str) -> list[SimpleNamespace]:
        """Return all synonyms as one synset (METEOR makes one set of them anyway), or none."""
        lemmas = [SimpleNamespace(name=partial(str, other)) for other in synonyms(word) & self._reference]
        return [SimpleNamespace(lemmas=lambda: lemmas)] if lemmas else []


@lru_cache(maxsize=500_000)
def meteor(candidate: str, reference: str) -> float:
    """Return how much of a reference a candidate says, in its order: 0 to less than 1; n equal words: 1 - .5 / n^3."""
    score, stemmer = _scorer()
    words, said = meteor_words(reference), meteor_words(candidate)
    return float(score(words, said, preprocess=str, stemmer=stemmer, wordnet=Within(_stems(reference))))


@lru_cache(maxsize=100_000)
def _stems(text: str) -> frozenset[str]:
    """Return the words of a text as METEOR's last stage meets them: it looks synonyms up for stems, among stems."""
    _, stemmer = _scorer()
    return frozenset(stemmer.stem(word) for word in meteor_words(text))


@cache
def _scorer() -> tuple[Any, Any]:
    """Return NLTK's score and its stemmer. Got at the first use: NLTK's import takes seconds."""
    from nltk.stem.porter import PorterStemmer
    from nltk.translate.meteor_score import single_meteor_score

    return single_meteor_score, SimpleNamespace(stem=lru_cache(maxsize=100_000)(PorterStemmer().stem))
