"""The AVeriTeC score: a claim counts where its label is right and its evidence matches the gold evidence well enough.

Rules: the organisers' scorer. Evidence is right where it matches strictly better than a threshold, .25 by default.
There is no penalty for more or longer evidence, so length alone raises the score: accuracy and macro-F1 are part of
every report, and the mean length of a string is told beside them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from aisr.metrics.averitec.meteor import meteor
from aisr.metrics.f1 import FN, FP, TP, LabelScore, f1_scores, ratio
from aisr.metrics.scores import Floats, Report
from aisr.programs.averitec.record import MOST_PAIRS, Checked, FactCheck, Pair, Question
from aisr.programs.labels import VERDICTS

NO_ANSWER = "No answer could be found."


class Evidence(NamedTuple):
    """strings: a question with one of its answers each, in order; questions: alone, in order."""

    strings: tuple[str, ...]
    questions: tuple[str, ...]


def of_questions(questions: Sequence[Question] | None, alone: Iterable[str] = ()) -> Evidence:
    """Gold evidence, and predictions in the paper's format. alone: strings without a question, which come behind; where
    there are no questions (None), they stand in for them."""
    strings = []
    for each in questions or ():
        if not each.answers:
            strings.append(f"{each.question} {NO_ANSWER}")
        for answer in each.answers:
            more = f". {answer.boolean_explanation}" if answer.answer_type == "Boolean" else ""
            strings.append(f"{each.question} {answer.answer}{more}")
    strings += alone
    return Evidence(tuple(strings), tuple(strings if questions is None else (each.question for each in questions)))


def of_pairs(pairs: Sequence[Pair]) -> Evidence:
    """Predictions in the format of 2024."""
    strings = (f"{pair.question} {pair.answer}" for pair in pairs)
    return Evidence(tuple(strings), tuple(pair.question for pair in pairs))


@lru_cache(maxsize=200_000)
def matched(predicted: tuple[str, ...], gold: tuple[str, ...]) -> float:
    """How well predicted strings match gold ones, in 0-1: METEOR of the best assignment of one to one, over the number
    of gold strings. The first ten predicted ones count; more of them than gold costs nothing.

    Raises ValueError where there are no gold strings.
    """
    if not gold:
        raise ValueError("no gold evidence: expected at least one question")
    kept = predicted[:MOST_PAIRS]
    if not kept:
        return 0.0
    table = np.array([[meteor(one, right) for right in gold] for one in kept])
    from scipy.optimize import linear_sum_assignment  # half a second; most commands have no use for it

    return float(table[linear_sum_assignment(table, maximize=True)].sum() / len(gold))


THRESHOLDS = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5)
HEADLINE = 0.25
FAILED = -1  # in place of a label


@dataclass(frozen=True)
class Matches:
    """How the answers to claims did (a `aisr.metrics.scores.Scores`), a row a claim.

    gold and said: indices of labels, int (claims,), `FAILED` for a claim that failed; evidence and questions: how well
    they match, in 0-1, (claims,); words: of a predicted string on average, (claims,).
    """

    gold: NDArray[np.int64]
    said: NDArray[np.int64]
    evidence: Floats
    questions: Floats
    words: Floats

    @classmethod
    def of(cls, gold: Sequence[Checked], predicted: Sequence[FactCheck | None]) -> Self:
        """None is a claim that failed: it earns nothing. Raises ValueError where the numbers of claims differ or a
        label is unknown."""
        return cls.of_evidence(
            [right.label for right in gold],
            [of_questions(right.questions) for right in gold],
            [None if guess is None else guess.label for guess in predicted],
            [of_pairs(guess.evidence if guess else ()) for guess in predicted],
        )

    @classmethod
    def of_evidence(
        cls,
        gold_labels: Sequence[str],
        gold: Sequence[Evidence],
        labels: Sequence[str | None],
        predicted: Sequence[Evidence],
    ) -> Self:
        """The same from strings. Raises ValueError as `of` does."""
        if not len(gold_labels) == len(gold) == len(labels) == len(predicted):
            raise ValueError(f"{len(predicted)} predictions for {len(gold)} gold records; one prediction a record")
        pairs = list(zip(predicted, gold, strict=True))
        return cls(
            gold=np.array([_known(label) for label in gold_labels], dtype=np.int64),
            said=np.array([FAILED if label is None else _known(label) for label in labels], dtype=np.int64),
            evidence=np.array([matched(said.strings, right.strings) for said, right in pairs], dtype=np.float64),
            questions=np.array([matched(said.questions, right.questions) for said, right in pairs], dtype=np.float64),
            words=np.array([_words(said.strings[:MOST_PAIRS]) for said in predicted], dtype=np.float64),
        )

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Whether the label is right, (claims,)."""
        return np.asarray(self.gold == self.said)

    def passed(self, threshold: float = HEADLINE) -> NDArray[np.bool_]:
        """Whether the label is right and the evidence matches better than a threshold, (claims,)."""
        return self.labelled & (self.evidence > threshold)

    @property
    def rows(self) -> Floats:
        """Whether a claim counts, shape (claims, 1)."""
        return self.passed()[:, None].astype(np.float64)

    def ranking(self, weights: Floats) -> Floats:
        """The AVeriTeC score at .25, where claims count as often as `weights` (resamples, claims) says; shape
        (resamples,)."""
        return np.asarray(weights @ self.passed() / weights.sum(axis=1))

    def credit(self, baseline: Self) -> Floats:
        """What an optimizer sees of each claim, 0-1: half for the label, and half for evidence up to the threshold. The
        score itself is a mean, but a step: most programs that are a little better would look the same."""
        return 0.5 * self.labelled + 0.5 * np.minimum(self.evidence / HEADLINE, 1)

    def right(self) -> NDArray[np.bool_]:
        """Whether an answer may be a demo: whether it counts."""
        return self.passed()

    def report(self) -> Report:
        """The score at .25 with accuracy, macro-F1, and how well evidence and questions match (in 0-1), and each label.
        Raises ValueError for an empty corpus."""
        if not len(self):
            raise ValueError("no records: an empty corpus has no score")
        counts = self.counts()
        tp, fp, fn = (counts[part] for part in (TP, FP, FN))
        f1 = f1_scores(counts)
        precision, recall = ratio(tp, tp + fp), ratio(tp, tp + fn)
        per_label = {
            label: LabelScore(float(precision[k]), float(recall[k]), float(f1[k]), int(tp[k] + fn[k]))
            for k, label in enumerate(VERDICTS)
        }
        parts = {
            "accuracy": float(self.labelled.mean()),
            "macro_f1": float(f1.mean()),
            "evidence": float(self.evidence.mean()),
            "questions": float(self.questions.mean()),
        }
        length = f"{self.words.mean():.0f} words a string of evidence on average: length alone raises this score"
        return Report(float(self.passed().mean()), parts, per_label, (length,))

    def counts(self) -> NDArray[np.int64]:
        """True positives, false positives and false negatives of each label, shape (3, labels)."""
        size = len(VERDICTS)
        hit, missed = self.labelled, ~self.labelled
        wrong = self.said[missed & (self.said != FAILED)]
        rows = (self.said[hit], wrong, self.gold[missed])
        return np.stack([np.bincount(row, minlength=size) for row in rows])

    def by_type(self, types: Sequence[Sequence[str]], threshold: float = HEADLINE) -> dict[str, float]:
        """For each type of claim how well evidence matches on average, counting 0 up to a threshold. Labels play no
        part."""
        kept = np.where(self.evidence > threshold, self.evidence, 0.0)
        rows: dict[str, list[float]] = {}
        for value, names in zip(kept, types, strict=True):
            for name in names:
                rows.setdefault(name, []).append(float(value))
        return {name: float(np.mean(values)) for name, values in rows.items()}


def _known(label: str) -> int:
    if label not in VERDICTS:
        raise ValueError(f"unknown label {label!r}; one of: {', '.join(VERDICTS)}")
    return VERDICTS.index(label)


def _words(strings: Sequence[str]) -> float:
    return float(np.mean([len(text.split()) for text in strings])) if strings else 0.0
