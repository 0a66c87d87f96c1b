"""The AVeriTeC score (Schlichtkrull et al. 2023; FEVER workshop 2024), exactly as its organisers' scorer computes it.

A claim counts where its label is right and its evidence matches the gold evidence strictly better than a threshold, .25
by default. There is no penalty for more or longer evidence, so length alone raises the score: accuracy and macro-F1 are
part of every report, and the mean length of a string stands beside them.

`python -m aisr.metrics.averitec REFERENCES PREDICTIONS` scores the organisers' own files, JSON lists that are matched
by position, and prints all that the organisers' scorer says of them.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aisr.base.errors import UserError, exit_code
from aisr.metrics.meteor import meteor
from aisr.metrics.scores import Floats, MeanScores, Report, f1_scores, label_scores
from aisr.programs.averitec.record import (
    MOST_PAIRS,
    VERDICTS,
    Checked,
    Evidence,
    FactCheck,
    GivenPair,
    Pair,
    Question,
    Verdict,
    of_pairs,
    of_questions,
)
from aisr.programs.records import explain


@lru_cache(maxsize=200_000)
def evidence_match(predicted: tuple[str, ...], gold: tuple[str, ...]) -> float:
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
class Matches(MeanScores):
    """The answers to claims, a row a claim; values: 1 where a claim counts at .25."""

    gold: NDArray[np.int64]  # indices of labels, (claims,)
    predicted: NDArray[np.int64]  # the same, `FAILED` for a claim that failed
    evidence: Floats  # how well evidence matches, in 0-1, (claims,)
    questions: Floats  # the same of questions alone
    words: Floats  # of a predicted string on average, (claims,)

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
        right = np.array([_index(label) for label in gold_labels], dtype=np.int64)
        guess = np.array([FAILED if label is None else _index(label) for label in labels], dtype=np.int64)
        evidence = np.array([evidence_match(one.strings, other.strings) for one, other in pairs], dtype=np.float64)
        return cls(
            values=((right == guess) & (evidence > HEADLINE)).astype(np.float64),
            gold=right,
            predicted=guess,
            evidence=evidence,
            questions=np.array(
                [evidence_match(one.questions, other.questions) for one, other in pairs], dtype=np.float64
            ),
            words=np.array([_words(one.strings[:MOST_PAIRS]) for one in predicted], dtype=np.float64),
        )

    @property
    def label_right(self) -> NDArray[np.bool_]:
        """Whether the label is right, (claims,)."""
        return np.asarray(self.gold == self.predicted)

    def passed(self, threshold: float = HEADLINE) -> NDArray[np.bool_]:
        """Whether the label is right and the evidence matches better than a threshold, (claims,)."""
        return self.label_right & (self.evidence > threshold)

    def surrogate(self, baseline: Self) -> Floats:
        """What an optimizer sees of each claim, 0-1: half for the label, and half for evidence up to the threshold. The
        score itself is a mean, but a step: most programs that are a little better would look the same."""
        return 0.5 * self.label_right + 0.5 * np.minimum(self.evidence / HEADLINE, 1)

    def report(self) -> Report:
        """The score at .25 with accuracy, macro-F1, and how well evidence and questions match (in 0-1), and each label.
        Raises ValueError for an empty corpus."""
        score = super().report().score
        counts = self.counts()
        parts = {
            "accuracy": float(self.label_right.mean()),
            "macro_f1": float(f1_scores(counts).mean()),
            "evidence": float(self.evidence.mean()),
            "questions": float(self.questions.mean()),
        }
        length = f"{self.words.mean():.0f} words a string of evidence on average: length alone raises this score"
        return Report(score, parts, label_scores(VERDICTS, counts), (length,))

    def counts(self) -> NDArray[np.int64]:
        """True positives, false positives and false negatives of each label, shape (3, labels)."""
        hit, missed = self.label_right, ~self.label_right
        wrong = self.predicted[missed & (self.predicted != FAILED)]
        columns = (self.predicted[hit], wrong, self.gold[missed])
        return np.stack([np.bincount(column, minlength=len(VERDICTS)) for column in columns])

    def by_type(self, types: Sequence[Sequence[str]], threshold: float = HEADLINE) -> dict[str, float]:
        """For each type of claim how well evidence matches on average, counting 0 up to a threshold. Labels play no
        part."""
        kept = np.where(self.evidence > threshold, self.evidence, 0.0)
        values: dict[str, list[float]] = {}
        for match_of_claim, names in zip(kept, types, strict=True):
            for name in names:
                values.setdefault(name, []).append(float(match_of_claim))
        return {name: float(np.mean(of_type)) for name, of_type in values.items()}


def _index(label: str) -> int:
    if label not in VERDICTS:
        raise ValueError(f"unknown label {label!r}; one of: {', '.join(VERDICTS)}")
    return VERDICTS.index(label)


def _words(strings: Sequence[str]) -> float:
    return float(np.mean([len(text.split()) for text in strings])) if strings else 0.0


RowT = TypeVar("RowT", bound=BaseModel)


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Reference(_Row):
    """A claim with its gold."""

    label: Verdict
    questions: list[Question] = Field(min_length=1)
    claim_types: list[str] = []
    justification: str = ""


class PaperPrediction(_Row):
    """A prediction in the paper's format."""

    label: Verdict
    questions: list[Question] | None = None
    string_evidence: list[str] = []
    justification: str | None = None


class Prediction2024(_Row):
    """A prediction in the format of 2024."""

    pred_label: Verdict
    evidence: list[GivenPair] | None = None
    string_evidence: list[str] = []


@dataclass(frozen=True)
class Official:
    """What the organisers' scorer prints, in 0-1."""

    averitec: dict[str, float]  # by threshold
    accuracy: float
    macro_f1: float
    f1: dict[str, float]  # by label
    question_answer: float  # how well evidence matches
    question_only: float
    by_type: dict[str, float]  # how well evidence matches by type of claim, at .25
    justification: float | None  # METEOR, in the paper's format alone
    words: float  # of a predicted string on average
    per_claim: list[float]


def score_official(references: Path, predictions: Path) -> Official:
    """Score a file of predictions, in either format, against one of references. Raises UserError for a file that is no
    such list, for a bad entry, and where the two are of different lengths (the organisers' scorer cuts the longer)."""
    gold = rows(_entries(references), Reference, references)
    entries = _entries(predictions)
    if len(gold) != len(entries):
        raise UserError(
            f"{predictions}: {len(entries)} predictions for {len(gold)} claims of {references}; they are matched by "
            "position, so expected one for each"
        )
    if all(isinstance(entry, dict) and "pred_label" in entry for entry in entries):
        return score_2024(gold, rows(entries, Prediction2024, predictions))
    return score_paper(gold, rows(entries, PaperPrediction, predictions))


def score_paper(gold: Sequence[Reference], predicted: Sequence[PaperPrediction]) -> Official:
    """The scorer of the paper."""
    evidence = [of_questions(row.questions, row.string_evidence) for row in predicted]
    reasons = [
        " ".join(one.strings[:MOST_PAIRS]) if row.justification is None else row.justification
        for row, one in zip(predicted, evidence, strict=True)
    ]
    justification = float(np.mean([meteor(why, row.justification) for why, row in zip(reasons, gold, strict=True)]))
    return _official(gold, [str(row.label) for row in predicted], evidence, justification)


def score_2024(gold: Sequence[Reference], predicted: Sequence[Prediction2024]) -> Official:
    """The scorer of the shared task of 2024."""
    evidence = []
    for row in predicted:
        strings, questions = of_pairs([Pair(pair.question, pair.answer) for pair in row.evidence or ()])
        alone = tuple(row.string_evidence)
        evidence.append(Evidence(strings + alone, alone if row.evidence is None else questions))
    return _official(gold, [str(row.pred_label) for row in predicted], evidence, None)


def rows(entries: Sequence[Any], model: type[RowT], source: object) -> list[RowT]:
    """The entries of a list, checked. Raises UserError, naming the entry by its position from 0 and the field."""
    checked = []
    for place, entry in enumerate(entries):
        try:
            checked.append(model.model_validate(entry))
        except ValidationError as error:
            raise UserError(f"{source}: entry {place}: {explain(error)}") from error
    return checked


def _official(
    gold: Sequence[Reference], labels: Sequence[str], evidence: Sequence[Evidence], justification: float | None
) -> Official:
    scores = Matches.of_evidence(
        [str(row.label) for row in gold], [of_questions(row.questions) for row in gold], labels, evidence
    )
    report = scores.report()
    return Official(
        averitec={f"{threshold:g}": float(scores.passed(threshold).mean()) for threshold in THRESHOLDS},
        accuracy=report.parts["accuracy"],
        macro_f1=report.parts["macro_f1"],
        f1={label: score.f1 for label, score in report.per_label.items()},
        question_answer=report.parts["evidence"],
        question_only=report.parts["questions"],
        by_type=scores.by_type([row.claim_types for row in gold]),
        justification=justification,
        words=float(scores.words.mean()),
        per_claim=scores.evidence.tolist(),
    )


def _entries(file: Path) -> list[Any]:
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{file}: {error}; expected a JSON list, an entry a claim") from error
    if not isinstance(entries, list) or not entries:
        raise UserError(f"{file}: expected a JSON list with an entry a claim")
    return entries


def main() -> None:
    """The command; raises UserError where the files cannot be scored."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.metrics.averitec", description="The AVeriTeC score of a file."
    )
    parser.add_argument("references", type=Path, help="JSON list of claims with gold, such as dev.json")
    parser.add_argument(
        "predictions", type=Path, help="JSON list in the same order, in the format of 2024 or the paper's"
    )
    parser.add_argument(
        "--json", action="store_true", help="everything as JSON, with the match of each claim's evidence"
    )
    options = parser.parse_args()
    official = score_official(options.references, options.predictions)
    print(json.dumps(asdict(official), indent=1) if options.json else as_text(official))


def as_text(official: Official) -> str:
    """A score as a person reads it, in points of 100."""
    lines = [f"AVeriTeC score at .25   {100 * official.averitec['0.25']:.1f}  of {len(official.per_claim)} claims"]
    lines.append("at other thresholds     " + "  ".join(f"{at}: {100 * x:.1f}" for at, x in official.averitec.items()))
    lines.append(f"label accuracy          {100 * official.accuracy:.1f}   macro-F1 {100 * official.macro_f1:.1f}")
    lines += [f"  F1 of {label:36} {100 * value:5.1f}" for label, value in official.f1.items()]
    evidence, questions = 100 * official.question_answer, 100 * official.question_only
    lines.append(f"evidence matches        {evidence:.1f}   questions alone {questions:.1f}")
    lines += [f"  of {name:39} {100 * value:5.1f}  (0 up to .25)" for name, value in sorted(official.by_type.items())]
    if official.justification is not None:
        lines.append(f"justification           {100 * official.justification:.1f}")
    lines.append(
        f"words a string          {official.words:.0f}   (length alone raises this score: compare like with like)"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(exit_code(main))
