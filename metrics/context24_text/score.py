"""The score of Context24's second task: how like the gold snippets the predicted ones are, by ROUGE, as a mean over
claims.

Rules: the organisers' `task2_eval.py`. Each distinct predicted snippet counts as it matches the gold snippet that it
matches best, and their sum is divided by the number of predicted ones. That is a precision: what is gold and was not
found costs nothing, a repeated snippet and one that is a little worse than the others cost much. A claim that was left
out, or that has no gold snippet, counts as 0. The match is ROUGE-1, -2 or -L (Lin 2004) by rouge-score with stemming;
words are stemmed once a text, and a pair is scored once, since an optimizer asks for it thousands of times.

The ranking value is ROUGE-L: the organisers rank by no single number; ROUGE-1 rises with any text of the right length
about the right things, ROUGE-2 is 0 for too many claims to tell two programs apart, and ROUGE-L counts only words in
the order of a gold snippet, which is what quoting the right place gives.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from aisr.metrics.scores import Floats, Report


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


Likeness = Callable[[str, str], Sequence[float]]  # of a predicted and a gold text: one number or several, in 0-1


def matched(predicted: Sequence[str], gold: Sequence[str], likeness: Likeness, numbers: int) -> Floats:
    """How well the snippets of one claim match, shape (numbers,), as many as `likeness` gives of a pair. Nothing is
    earned where nothing was predicted, and where nothing is gold."""
    if not predicted or not gold:
        return np.zeros(numbers)
    best = [np.max([likeness(one, right) for right in gold], axis=0) for one in dict.fromkeys(predicted)]
    return np.asarray(np.sum(best, axis=0) / len(predicted))


RANKING = Rouge._fields.index("rouge_l")
RIGHT = 0.5  # ROUGE-L from which an answer may be a demo: half of it is gold, in gold's order


@dataclass(frozen=True)
class Grounded:
    """How the answers to claims did (a `aisr.metrics.scores.Scores`), a row a claim.

    rouge: ROUGE-1, -2 and -L in 0-1, (claims, 3); snippets: how many were predicted, (claims,); words: of a predicted
    snippet on average, (claims,).
    """

    rouge: Floats
    snippets: Floats
    words: Floats

    @classmethod
    def of(cls, gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str] | None]) -> Self:
        """None is a claim that failed: it earns nothing. Raises ValueError where the numbers of claims differ."""
        if len(gold) != len(predicted):
            raise ValueError(f"{len(predicted)} predictions for {len(gold)} gold records; one prediction a record")
        said = [guess or () for guess in predicted]
        rows = [matched(one, right, rouge, len(KINDS)) for one, right in zip(said, gold, strict=True)]
        return cls(
            rouge=np.array(rows).reshape(len(said), len(KINDS)),
            snippets=np.array([len(one) for one in said], dtype=np.float64),
            words=np.array([_words(one) for one in said], dtype=np.float64),
        )

    def __len__(self) -> int:
        return len(self.rouge)

    @property
    def ranked(self) -> Floats:
        """What the ranking score is the mean of, (claims,)."""
        return self.rouge[:, RANKING]

    @property
    def rows(self) -> Floats:
        """ROUGE-L of each claim, shape (claims, 1)."""
        return self.ranked[:, None]

    def ranking(self, weights: Floats) -> Floats:
        """Mean ROUGE-L where claims count as often as `weights` (resamples, claims) says; shape (resamples,)."""
        return np.asarray(weights @ self.ranked / weights.sum(axis=1))

    def credit(self, baseline: Self) -> Floats:
        """What an optimizer sees of each claim: its ROUGE-L, since the score is a mean."""
        return self.ranked

    def right(self) -> NDArray[np.bool_]:
        """Whether an answer may be a demo."""
        return self.ranked >= RIGHT

    def report(self) -> Report:
        """Mean ROUGE-L, all three, and what they do not say. Raises ValueError for an empty corpus."""
        if not len(self):
            raise ValueError("no records: an empty corpus has no score")
        means = self.rouge.mean(axis=0)
        return Report(float(means[RANKING]), dict(zip(Rouge._fields, map(float, means), strict=True)), {}, self._told())

    def _told(self) -> tuple[str, ...]:
        if not self.snippets.sum():
            return ("no claim has a snippet",)
        length = (
            f"{self.snippets.mean():.1f} snippets a claim, of {self.words[self.snippets > 0].mean():.0f} words each"
        )
        return (f"{length}: this score is divided by their number, so one good snippet beats several",)


def _words(texts: Sequence[str]) -> float:
    return float(np.mean([len(text.split()) for text in texts])) if texts else 0.0
