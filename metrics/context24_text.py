"""The score of Context24's second task: how like the gold snippets the predicted ones are, by ROUGE, as a mean over
claims.

Rules: the organisers' `task2_eval.py`. Each distinct predicted snippet counts as it matches the gold snippet that it
matches best, and their sum is divided by the number of predicted ones: a precision. A claim that was left out, or that
has no gold snippet, counts as 0. The match is ROUGE-1, -2 or -L (Lin 2004) by rouge-score with stemming; words are
stemmed once a text, and a pair is scored once, since an optimizer asks for it thousands of times.

The ranking value is ROUGE-L: the organisers rank by no single number; ROUGE-1 rises with any text of the right length
about the right things, ROUGE-2 is 0 for too many claims to tell two programs apart, and ROUGE-L counts only words in
the order of a gold snippet, which is what quoting the right place gives.

`python -m aisr.metrics.context24_text GOLD PREDICTIONS` scores the organisers' own files, JSON lists of `id` and
`context`, matched by id; as in their scorer an id that gold does not have is passed over, here with a warning.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from pydantic import BaseModel

from aisr.base.errors import run_command
from aisr.base.jsonl import read_list
from aisr.metrics.scores import CorpusScore, Floats, MeanScores, check_pairs, records_of


class Rouge(NamedTuple):
    """F1 of single words, of pairs of words, and of the longest common subsequence of words; each in 0-1."""

    rouge_1: float
    rouge_2: float
    rouge_l: float


ROUGE_KINDS = ("rouge1", "rouge2", "rougeL")  # as rouge-score calls them; not rougeLsum, which minds line breaks


@lru_cache(maxsize=200_000)
def rouge(predicted: str, gold: str) -> Rouge:
    """Return how alike two texts are; 0 where one has no letter or digit of ASCII: rouge-score knows no other words."""
    scores = _scorer().score(gold, predicted)
    return Rouge(*(float(scores[kind].fmeasure) for kind in ROUGE_KINDS))


@cache
def _scorer() -> Any:
    """Return the scorer, which stems a text once. Made at the first use: importing NLTK takes seconds."""
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.tokenizers import DefaultTokenizer

    tokenize = lru_cache(maxsize=50_000)(DefaultTokenizer(use_stemmer=True).tokenize)
    return RougeScorer(ROUGE_KINDS, tokenizer=SimpleNamespace(tokenize=tokenize))


def snippet_match(predicted: Sequence[str], gold: Sequence[str]) -> Floats:
    """Return how well the snippets of one claim match: ROUGE-1, -2 and -L, in 0-1. Neither side may be empty.

    Each distinct snippet counts once, and the sum is divided by the number of all: a repeated one lowers the score, as
    in the organisers' scorer."""
    best = [np.max([rouge(snippet, right) for right in gold], axis=0) for snippet in dict.fromkeys(predicted)]
    return np.asarray(np.sum(best, axis=0) / len(predicted))


RANKING = Rouge._fields.index("rouge_l")
RIGHT = 0.5  # ROUGE-L from which an answer may be a demo


@dataclass(frozen=True)
class RougeScores(MeanScores):
    """The snippets of a corpus of claims, a row a claim; values: ROUGE-L."""

    demo_from: ClassVar[float] = RIGHT
    rouge: Floats  # ROUGE-1, -2 and -L in 0-1, (claims, 3)
    snippets: Floats  # how many were predicted, (claims,)
    words: Floats  # of a predicted snippet on average, (claims,)

    @classmethod
    def of(cls, gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str] | None]) -> Self:
        """Return the scores; claims that failed (None) or lack gold earn 0. Raises ValueError where numbers differ."""
        check_pairs(gold, predicted)
        rouge = np.zeros((len(gold), len(ROUGE_KINDS)))
        snippets = np.zeros(len(gold))
        words = np.zeros(len(gold))
        for row, (answer, right) in enumerate(zip(predicted, gold, strict=True)):
            if not answer:
                continue
            snippets[row] = len(answer)
            words[row] = np.mean([len(text.split()) for text in answer])
            if right:
                rouge[row] = snippet_match(answer, right)
        return cls(values=rouge[:, RANKING], rouge=rouge, snippets=snippets, words=words)

    def corpus_score(self) -> CorpusScore:
        """Return mean ROUGE-1, -2 and -L, and how many and how long snippets are. Raises ValueError for no records."""
        records_of(self)
        means = Rouge(*self.mean(self.rouge).tolist())._asdict()
        remark = "no claim has a snippet"
        if self.snippets.any():
            remark = (
                f"{self.snippets.mean():.1f} snippets a claim, of {self.words[self.snippets > 0].mean():.0f} words "
                "each: this score is divided by their number, so one good snippet beats several"
            )
        return CorpusScore(means["rouge_l"], means, remarks=(remark,))


# --- The organisers' own files


class _Row(BaseModel, frozen=True):
    id: str
    context: list[str]


def main() -> None:
    """Run the command; raises UserError where the files cannot be scored."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.metrics.context24_text", description="The score of Context24's second task."
    )
    parser.add_argument("gold", type=Path, help="JSON list of claims with gold snippets, such as task2-train-dev.json")
    parser.add_argument("predictions", type=Path, help="JSON list of claims with predicted snippets")
    options = parser.parse_args()
    gold = {row.id: row.context for row in read_list(options.gold, _Row)}
    answers = {row.id: row.context for row in read_list(options.predictions, _Row)}
    for key in answers.keys() - gold.keys():
        print(f"warning: {key} is no claim of {options.gold}; passed over", file=sys.stderr)
    predicted = [answers.get(key, []) for key in gold]
    means = RougeScores.of(list(gold.values()), predicted).corpus_score().parts
    for name, value in means.items():
        print(f"{name:10} {100 * value:5.1f}")
    missing = [key for key, right in gold.items() if not right or not answers.get(key)]
    print(f"of {len(gold)} claims, {len(missing)} of which count as 0: not predicted, or no gold")


if __name__ == "__main__":
    run_command(main)
