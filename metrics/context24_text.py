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

BERTScore (Zhang et al. 2020) needs a model and a package that have to be installed. `bert_score.score(lang="en")` takes
the 17th layer of roberta-large, without idf weights and without rescaling; so it is high for any two English texts
(Bölücü et al. 2024 report .77 to .87): read differences in its third digit.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from pydantic import BaseModel, ConfigDict

from aisr.base.errors import UserError, exit_code
from aisr.base.jsonl import read_list
from aisr.metrics.scores import Floats, MeanScores, Report, check_pairs, records_of


class Rouge(NamedTuple):
    """F1 of single words, of pairs of words, and of the longest common subsequence of words; each in 0-1."""

    rouge_1: float
    rouge_2: float
    rouge_l: float


KINDS = ("rouge1", "rouge2", "rougeL")  # as rouge-score calls them; not rougeLsum, which minds line breaks


@lru_cache(maxsize=200_000)
def rouge(predicted: str, gold: str) -> Rouge:
    """How alike two texts are; 0 where one has no letter or digit of ASCII, all that rouge-score takes for a word."""
    scores = _scorer().score(gold, predicted)
    return Rouge(*(float(scores[kind].fmeasure) for kind in KINDS))


@cache
def _scorer() -> Any:
    """The scorer, which stems a text once. Made at the first use: the import brings NLTK's, which takes seconds."""
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.tokenizers import DefaultTokenizer

    tokenize = lru_cache(maxsize=50_000)(DefaultTokenizer(use_stemmer=True).tokenize)
    return RougeScorer(KINDS, tokenizer=SimpleNamespace(tokenize=tokenize))


Likeness = Callable[[str, str], Sequence[float]]  # of a predicted and a gold text: one number or several, in 0-1


def snippet_match(predicted: Sequence[str], gold: Sequence[str], likeness: Likeness, numbers: int) -> Floats:
    """How well the snippets of one claim match, shape (numbers,), as many as `likeness` gives of a pair. Nothing is
    earned where nothing was predicted, and where nothing is gold."""
    if not predicted or not gold:
        return np.zeros(numbers)
    best = [np.max([likeness(one, right) for right in gold], axis=0) for one in dict.fromkeys(predicted)]
    return np.asarray(np.sum(best, axis=0) / len(predicted))


RANKING = Rouge._fields.index("rouge_l")
RIGHT = 0.5  # ROUGE-L from which an answer may be a demo: half of it is gold, in gold's order


@dataclass(frozen=True)
class RougeScores(MeanScores):
    """The snippets of a corpus of claims, a row a claim; values: ROUGE-L."""

    demo_from: ClassVar[float] = RIGHT
    rouge: Floats  # ROUGE-1, -2 and -L in 0-1, (claims, 3)
    snippets: Floats  # how many were predicted, (claims,)
    words: Floats  # of a predicted snippet on average, (claims,)

    @classmethod
    def of(cls, gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str] | None]) -> Self:
        """None is a claim that failed: it earns nothing. Raises ValueError where the numbers of claims differ."""
        check_pairs(gold, predicted)
        answers = [guess or () for guess in predicted]
        matches = [snippet_match(one, right, rouge, len(KINDS)) for one, right in zip(answers, gold, strict=True)]
        table = np.array(matches).reshape(len(answers), len(KINDS))
        lengths = [[len(text.split()) for text in texts] for texts in answers]
        return cls(
            values=table[:, RANKING],
            rouge=table,
            snippets=np.array([len(one) for one in answers], dtype=np.float64),
            words=np.array([np.mean(one or [0]) for one in lengths], dtype=np.float64),
        )

    def report(self) -> Report:
        """Mean ROUGE-L, all three, and the number and length of snippets. Raises ValueError for an empty corpus."""
        records_of(self)
        means = dict(zip(Rouge._fields, map(float, self.rouge.mean(axis=0)), strict=True))
        remark = "no claim has a snippet"
        if self.snippets.any():
            remark = (
                f"{self.snippets.mean():.1f} snippets a claim, of {self.words[self.snippets > 0].mean():.0f} words "
                "each: this score is divided by their number, so one good snippet beats several"
            )
        return Report(means["rouge_l"], means, remarks=(remark,))


# --- The organisers' own files

MODEL = "roberta-large"  # what bert-score takes for English
GIGABYTES = 1.4
Snippets = Mapping[str, Sequence[str]]  # by the ids of claims


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    context: list[str]


@dataclass(frozen=True)
class Official:
    """What the organisers' scorer prints, in 0-1."""

    means: dict[str, float]  # by the names of `KINDS`, and `bertscore` with --bertscore
    claims: int
    per_claim: dict[str, dict[str, float]]  # ROUGE of the claims that were predicted and have gold
    unknown: list[str]  # ids that gold does not have


def score_official(gold: Snippets, predicted: Snippets, bertscore: bool = False) -> Official:
    """Score predictions against gold. Raises UserError for a claim with an empty list of predictions, at which the
    organisers' scorer stops, and where BERTScore is wanted and not installed."""
    scored = {key: (texts, gold[key]) for key, texts in predicted.items() if gold.get(key)}
    if empty := [key for key, (texts, _) in scored.items() if not texts]:
        raise UserError(f"{empty[0]}: no snippet; the organisers' scorer stops there. Leave the claim out, or give one")
    matches = {key: snippet_match(texts, right, rouge, len(KINDS)) for key, (texts, right) in scored.items()}
    means = {kind: sum(float(match[k]) for match in matches.values()) / len(gold) for k, kind in enumerate(KINDS)}
    if bertscore:
        likeness = bert_likenesses(
            [(one, right) for texts, rights in scored.values() for one in texts for right in rights]
        )
        alike = [snippet_match(*pair, lambda one, right: [likeness[one, right]], 1) for pair in scored.values()]
        means["bertscore"] = sum(float(match[0]) for match in alike) / len(gold)
    return Official(
        means,
        claims=len(gold),
        per_claim={key: dict(zip(KINDS, map(float, match), strict=True)) for key, match in matches.items()},
        unknown=[key for key in predicted if key not in gold],
    )


def bert_likenesses(pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Return BERTScore's F1 of pairs of a predicted and a gold text. Raises UserError where bert-score is not
    installed."""
    try:
        import bert_score
    except ImportError as error:
        raise UserError(
            f"BERTScore is not installed: it needs the package bert-score, PyTorch and the model {MODEL} "
            f"({GIGABYTES:g} GB, which bert-score downloads at its first use); pip install 'aisr[bertscore]', or leave "
            "out --bertscore"
        ) from error
    distinct = list(dict.fromkeys(pairs))
    if not distinct:
        return {}
    predicted, gold = zip(*distinct, strict=True)
    _, _, f1 = bert_score.score(list(predicted), list(gold), lang="en")
    return dict(zip(distinct, map(float, f1), strict=True))


def read_snippets(file: Path) -> dict[str, list[str]]:
    """Return the snippets of a JSON list of claims, by id. Raises UserError for a file that is no such list, and for an
    id that stands there twice (the organisers' scorer takes the last)."""
    by_id: dict[str, list[str]] = {}
    for row in read_list(file, _Row):
        if row.id in by_id:
            raise UserError(f"{file}: id: {row.id!r} stands there twice; expected each claim once")
        by_id[row.id] = row.context
    return by_id


def main() -> None:
    """Run the command; raises UserError where the files cannot be scored."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.metrics.context24_text", description="The score of Context24's second task."
    )
    parser.add_argument("gold", type=Path, help="JSON list of claims with gold snippets, such as task2-train-dev.json")
    parser.add_argument("predictions", type=Path, help="JSON list of claims with predicted snippets")
    parser.add_argument("--bertscore", action="store_true", help="BERTScore too; needs bert-score and its model")
    parser.add_argument("--json", action="store_true", help="everything as JSON, with the ROUGE of each claim")
    options = parser.parse_args()
    official = score_official(read_snippets(options.gold), read_snippets(options.predictions), options.bertscore)
    for key in official.unknown:
        print(f"warning: {key} is no claim of {options.gold}; passed over", file=sys.stderr)
    if options.json:
        print(json.dumps(asdict(official), indent=1))
        return
    for name, value in official.means.items():
        print(f"{name:10} {100 * value:5.1f}")
    missing = official.claims - len(official.per_claim)
    print(f"of {official.claims} claims, {missing} of which count as 0: not predicted, or no gold")


if __name__ == "__main__":
    sys.exit(exit_code(main))
