"""ROUGE-1, -2 and -L (Lin 2004) of two texts, as Context24's scorer has them: rouge-score with stemming.

An optimizer asks for the same pairs thousands of times: words are stemmed once a text, and a pair is scored once.
"""

from functools import cache, lru_cache
from typing import Any, NamedTuple


class Rouge(NamedTuple):
    """F1 of single words, of pairs of words, and of the longest common subsequence of words; each in 0-1."""

    rouge_1: float
    rouge_2: float
    rouge_l: float


NONE = Rouge(0.0, 0.0, 0.0)
KINDS = ("rouge1", "rouge2", "rougeL")  # as rouge-score calls them; not rougeLsum, which minds line breaks


@lru_cache(maxsize=200_000)
def rouge(predicted: str, gold: str) -> Rouge:
    """How alike two texts are; 0 where one has no letter or digit of ASCII, all that rouge-score takes for a word."""
    found = _scorer().score(gold, predicted)
    return Rouge(*(float(found[kind].fmeasure) for kind in KINDS))


@lru_cache(maxsize=50_000)
def stems(text: str) -> tuple[str, ...]:
    """The words of a text as ROUGE compares them."""
    return tuple(_tokenizer().tokenize(text))


class _Remembered:
    """What rouge-score asks for words."""

    tokenize = staticmethod(stems)


@cache
def _scorer() -> Any:
    """Got at the first use: its import brings NLTK's, which takes seconds."""
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(KINDS, tokenizer=_Remembered())


@cache
def _tokenizer() -> Any:
    from rouge_score.tokenizers import DefaultTokenizer

    return DefaultTokenizer(use_stemmer=True)
