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
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from aisr.base.errors import UserError, exit_code
from aisr.base.jsonl import read_list
from aisr.metrics.meteor import meteor
from aisr.metrics.scores import Floats, MeanScores, Report, check_pairs, f1_scores, label_scores

# --- Gold and answers

Verdict = Literal["Supported", "Refuted", "Not Enough Evidence", "Conflicting Evidence/Cherrypicking"]
VERDICTS: tuple[str, ...] = get_args(Verdict)
COMMONEST = "Refuted"  # of the labels of the public data
MOST_PAIRS = 10  # question-answer pairs that the scorer looks at
NO_ANSWER = "No answer could be found."
UNANSWERABLE = "Unanswerable"  # the type of an answer whose text is the same for many questions


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Answer(_Part):
    """An answer to a question. A Boolean one ("Yes", "No") has its explanation beside it."""

    answer: str
    answer_type: str = "Extractive"
    boolean_explanation: str | None = None
    source_url: str | None = None

    @model_validator(mode="after")
    def _explained(self) -> Self:
        if self.answer_type == "Boolean" and self.boolean_explanation is None:
            raise UserError('boolean_explanation: missing beside a Boolean answer; expected a text, or "" for none')
        return self

    @property
    def text(self) -> str:
        """The answer as the scorer compares it: a Boolean one with its explanation."""
        return f"{self.answer}. {self.boolean_explanation}" if self.answer_type == "Boolean" else self.answer


class Question(_Part):
    """A question and its answers, of which there may be none. The official scorer takes an answer that stands alone."""

    question: str
    answers: Annotated[
        list[Answer], BeforeValidator(lambda value: value if isinstance(value, list) or value is None else [value])
    ] = []


class Pair(_Part):
    """A question, its answer, and the page that the answer rests on. filled: nobody asked it or answered it, the
    passage was put there to fill the list up."""

    question: str
    answer: str
    url: str = ""
    filled: bool = False


class ClaimGold(NamedTuple):
    """The gold of a claim."""

    label: str
    questions: tuple[Question, ...]
    claim_types: Sequence[str] = ()
    justification: str = ""


class FactCheck(NamedTuple):
    """The answer to a claim: the label, and the evidence for it, at most `MOST_PAIRS` pairs."""

    label: str
    evidence: tuple[Pair, ...]


class Evidence(NamedTuple):
    """Evidence as the scorer compares it."""

    strings: tuple[str, ...]  # a question with one of its answers each, in order
    questions: tuple[str, ...]  # alone, in order


def of_questions(questions: Sequence[Question] | None, alone: Iterable[str] = ()) -> Evidence:
    """Return the strings of gold evidence, and of predictions in the paper's format. alone: strings without a question,
    which come behind; where there are no questions (None), they stand in for them."""
    strings = []
    for each in questions or ():
        strings += [f"{each.question} {answer.text}" for answer in each.answers] or [f"{each.question} {NO_ANSWER}"]
    strings += alone
    return Evidence(tuple(strings), tuple(strings if questions is None else (each.question for each in questions)))


def of_pairs(pairs: Sequence[Pair]) -> Evidence:
    """Return the strings of predictions in the format of 2024."""
    strings = (f"{pair.question} {pair.answer}" for pair in pairs)
    return Evidence(tuple(strings), tuple(pair.question for pair in pairs))


# --- Scores


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
    def of(cls, gold: Sequence[ClaimGold], predicted: Sequence[FactCheck | None]) -> Self:
        """None is a claim that failed: it earns nothing. Raises ValueError where the numbers of claims differ or a
        label is unknown."""
        return cls.of_strings(
            [(right.label, of_questions(right.questions)) for right in gold],
            [(guess.label, of_pairs(guess.evidence)) if guess else (None, of_pairs(())) for guess in predicted],
        )

    @classmethod
    def of_strings(cls, gold: Sequence[tuple[str, Evidence]], predicted: Sequence[tuple[str | None, Evidence]]) -> Self:
        """The same of labels with evidence as strings. Raises ValueError as `of` does."""
        check_pairs(gold, predicted)
        right = np.array([_index(label) for label, _ in gold], dtype=np.int64)
        guess = np.array([_index(label) for label, _ in predicted], dtype=np.int64)
        pairs = [(one, other) for (_, one), (_, other) in zip(predicted, gold, strict=True)]
        evidence = np.array([evidence_match(one.strings, other.strings) for one, other in pairs], dtype=np.float64)
        questions = [evidence_match(one.questions, other.questions) for one, other in pairs]
        words = [[len(text.split()) for text in one.strings[:MOST_PAIRS]] for one, _ in pairs]
        return cls(
            values=((right == guess) & (evidence > HEADLINE)).astype(np.float64),
            gold=right,
            predicted=guess,
            evidence=evidence,
            questions=np.array(questions, dtype=np.float64),
            words=np.array([np.mean(lengths or [0]) for lengths in words], dtype=np.float64),
        )

    @property
    def label_right(self) -> NDArray[np.bool_]:
        """Whether the label is right, (claims,)."""
        return np.asarray(self.gold == self.predicted)

    def surrogate(self, baseline: Self) -> Floats:
        """What an optimizer sees of each claim, 0-1: half for the label, and half for evidence up to the threshold. The
        score itself is a mean, but a step: most programs that are a little better would look the same."""
        return 0.5 * self.label_right + 0.5 * np.minimum(self.evidence / HEADLINE, 1)

    def report(self) -> Report:
        """The score at .25 with accuracy, macro-F1, and how well evidence and questions match (in 0-1), and each label.
        Raises ValueError for an empty corpus."""
        score = super().report().score
        hit, missed = self.label_right, ~self.label_right
        wrong = self.predicted[missed & (self.predicted != FAILED)]
        columns = (self.predicted[hit], wrong, self.gold[missed])  # true positives, false positives, false negatives
        counts = np.stack([np.bincount(column, minlength=len(VERDICTS)) for column in columns])
        parts = {
            "accuracy": float(self.label_right.mean()),
            "macro_f1": float(f1_scores(counts).mean()),
            "evidence": float(self.evidence.mean()),
            "questions": float(self.questions.mean()),
        }
        length = f"{self.words.mean():.0f} words a string of evidence on average: length alone raises this score"
        return Report(score, parts, label_scores(VERDICTS, counts), (length,))


def _index(label: str | None) -> int:
    if label is None:
        return FAILED
    if label not in VERDICTS:
        raise ValueError(f"unknown label {label!r}; one of: {', '.join(VERDICTS)}")
    return VERDICTS.index(label)


# --- The organisers' own files


class Reference(_Part):
    """A claim with its gold."""

    label: Verdict
    questions: list[Question] = Field(min_length=1)
    claim_types: list[str] = []
    justification: str = ""


class Predicted(_Part):
    """A prediction: `label` and `questions` in the paper's format, `pred_label` and `evidence` in that of 2024."""

    label: Verdict | None = None
    questions: list[Question] | None = None
    justification: str | None = None
    pred_label: Verdict | None = None
    evidence: list[Pair] | None = None
    string_evidence: list[str] = []

    @model_validator(mode="after")
    def _labelled(self) -> Self:
        if not (self.label or self.pred_label):
            raise UserError("label: missing; expected label, or pred_label as in 2024")
        return self


@dataclass(frozen=True)
class Official:
    """What the organisers' scorer prints, in 0-1."""

    averitec: dict[str, float]  # by threshold
    accuracy: float
    macro_f1: float
    f1: dict[str, float]  # by label
    question_answer: float  # how well evidence matches
    question_only: float
    by_type: dict[str, float]  # how well evidence matches by type of claim, counting 0 up to .25, whatever the label
    justification: float | None  # METEOR, in the paper's format alone
    words: float  # of a predicted string on average
    per_claim: list[float]


def score_official(references: Path, predictions: Path) -> Official:
    """Score a file of predictions, in either format, against one of references. Raises UserError for a file that is no
    such list, for a bad entry, and where the two are of different lengths (the organisers' scorer cuts the longer)."""
    gold, predicted = read_list(references, Reference), read_list(predictions, Predicted)
    if len(gold) != len(predicted):
        raise UserError(
            f"{predictions}: {len(predicted)} predictions for {len(gold)} claims of {references}; they are matched by "
            "position, so expected one for each"
        )
    return score_rows(gold, predicted)


def score_rows(gold: Sequence[Reference], predicted: Sequence[Predicted]) -> Official:
    """Score predictions, all in the format of 2024 or all in the paper's, against as many references."""
    justification = None
    if all(row.pred_label for row in predicted):
        evidence = [_of_2024(row) for row in predicted]
    else:
        evidence = [of_questions(row.questions, row.string_evidence) for row in predicted]
        reasons = [
            " ".join(one.strings[:MOST_PAIRS]) if row.justification is None else row.justification
            for row, one in zip(predicted, evidence, strict=True)
        ]
        matches = [meteor(reason, row.justification) for reason, row in zip(reasons, gold, strict=True)]
        justification = float(np.mean(matches))
    labels = [row.pred_label or row.label for row in predicted]
    scores = Matches.of_strings(
        [(row.label, of_questions(row.questions)) for row in gold], list(zip(labels, evidence, strict=True))
    )
    report = scores.report()
    by_type: dict[str, list[float]] = {}
    for row, match in zip(gold, scores.evidence, strict=True):
        for name in row.claim_types:
            by_type.setdefault(name, []).append(float(match) if match > HEADLINE else 0.0)
    return Official(
        averitec={f"{at:g}": float((scores.label_right & (scores.evidence > at)).mean()) for at in THRESHOLDS},
        accuracy=report.parts["accuracy"],
        macro_f1=report.parts["macro_f1"],
        f1={label: score.f1 for label, score in report.per_label.items()},
        question_answer=report.parts["evidence"],
        question_only=report.parts["questions"],
        by_type={name: float(np.mean(values)) for name, values in by_type.items()},
        justification=justification,
        words=float(scores.words.mean()),
        per_claim=scores.evidence.tolist(),
    )


def _of_2024(row: Predicted) -> Evidence:
    strings, questions = of_pairs(row.evidence or ())
    alone = tuple(row.string_evidence)
    return Evidence(strings + alone, alone if row.evidence is None else questions)


def main() -> None:
    """Run the command; raises UserError where the files cannot be scored."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.metrics.averitec", description="The AVeriTeC score of a file."
    )
    parser.add_argument("references", type=Path, help="JSON list of claims with gold, such as dev.json")
    parser.add_argument("predictions", type=Path, help="JSON list in the same order, in the format of 2024 or before")
    parser.add_argument("--json", action="store_true", help="everything as JSON, with the match of each claim")
    options = parser.parse_args()
    official = score_official(options.references, options.predictions)
    print(json.dumps(asdict(official), indent=1) if options.json else as_text(official))


def as_text(official: Official) -> str:
    """Return a score as a person reads it, in points of 100."""
    levels = "  ".join(f"{at}: {100 * share:.1f}" for at, share in official.averitec.items())
    lines = [
        f"AVeriTeC score at .25   {100 * official.averitec['0.25']:.1f}  of {len(official.per_claim)} claims",
        f"at other thresholds     {levels}",
        f"label accuracy          {100 * official.accuracy:.1f}   macro-F1 {100 * official.macro_f1:.1f}",
        *(f"  F1 of {label:36} {100 * value:5.1f}" for label, value in official.f1.items()),
        f"evidence matches        {100 * official.question_answer:.1f}   questions alone "
        f"{100 * official.question_only:.1f}",
        *(f"  of {name:39} {100 * value:5.1f}  (0 up to .25)" for name, value in sorted(official.by_type.items())),
    ]
    if official.justification is not None:
        lines.append(f"justification           {100 * official.justification:.1f}")
    lines.append(f"words a string          {official.words:.0f}   (length alone raises this score)")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(exit_code(main))
