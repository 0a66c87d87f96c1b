"""The words that METEOR compares: sentences by Punkt, words by NLTK's tokenizer, as the organisers' scorer has them.

That runs on NLTK 3.7 to 3.9.1. NLTK 3.9.4 and 3.10 also split at dashes, and treat apostrophes and curly quotes in
another way, which moves a fifth of all scores by up to .03; here the older rules stand in for the newer ones.
"""

import re
from functools import cache, lru_cache
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
def words(text: str) -> tuple[str, ...]:
    """The words and signs of a text, in lower case."""
    sentences, tokenizer = _tools()
    return tuple(word.lower() for sentence in sentences.tokenize(text) for word in tokenizer.tokenize(sentence))


@cache
def _tools() -> tuple[Any, Any]:
    """Punkt and the word tokenizer. Made at the first use: NLTK's import takes seconds."""
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
