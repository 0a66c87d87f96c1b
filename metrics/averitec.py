"""The AVeriTeC score (Schlichtkrull et al. 2023; FEVER workshop 2024), exactly as its organisers' scorer computes it.

A claim counts where its label is right and its evidence matches the gold evidence strictly better than a threshold, .25
by default. There is no penalty for more or longer evidence, so length alone raises the score: accuracy and macro-F1 are
part of every report, and the mean length of a string stands beside them.

`python -m aisr.metrics.averitec REFERENCES PREDICTIONS` scores the organisers' own files, JSON lists that are matched
by position, and prints all that the organisers' scorer says of them.
"""

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, get_args

import numpy as np
from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from aisr.base.errors import UserError, run_command
from aisr.base.jsonl import read_list
from aisr.metrics.meteor import meteor
from aisr.metrics.scores import CorpusScore, Floats, MeanScores, Tally, check_pairs, tally_statements

# --- Gold and answers

AveritecLabel = Literal["Supported", "Refuted", "Not Enough Evidence", "Conflicting Evidence/Cherrypicking"]
AVERITEC_LABELS: tuple[str, ...] = get_args(AveritecLabel)
COMMONEST = "Refuted"  # of the labels of the public data
MOST_PAIRS = 10  # question-answer pairs that the scorer looks at
NO_ANSWER = "No answer could be found."
UNANSWERABLE = "Unanswerable"  # the type of an answer whose text is the same for many questions
WORDS_OF = "METEOR counts the words of NLTK 3.7 to 3.9.1, as the organisers did; 3.10 splits more of them"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class GoldAnswer(_Part):
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
        if self.answer_type == "Boolean":
            return f"{self.answer}. {self.boolean_explanation}"
        return self.answer


def _as_list(value: Any) -> Any:
    """Return answers as a list: the paper's scorer takes one that stands alone, the files of 2024 hold its text."""
    if isinstance(value, str):
        value = {"answer": value}
    return [value] if isinstance(value, dict) else value


class Question(_Part):
    """A question and its answers, of which there may be none; also a pair of a prediction of 2024, `answer` a text."""

    question: str
    answers: Annotated[list[GoldAnswer], BeforeValidator(_as_list)] = Field(
        [], validation_alias=AliasChoices("answers", "answer")
    )


class ScoredEvidence(NamedTuple):
    """Evidence as the scorer compares it."""

    strings: tuple[str, ...]  # a question with one of its answers each, in order
    questions: tuple[str, ...]  # alone, in order


def strings_of(questions: Sequence[Question]) -> ScoredEvidence:
    """Return questions with their answers as the scorer compares them."""
    strings: list[str] = []
    for each in questions:
        answers = [answer.text for answer in each.answers]
        strings += [f"{each.question} {answer}" for answer in answers or [NO_ANSWER]]
    return ScoredEvidence(tuple(strings), tuple(each.question for each in questions))


class ClaimGold(_Part):
    """The gold of a claim, as the organisers' files have it."""

    label: AveritecLabel
    questions: list[Question] = Field(min_length=1)
    claim_types: Sequence[str] = ()
    justification: str = ""

    @property
    def compared(self) -> ScoredEvidence:
        """The evidence as the scorer compares it."""
        return strings_of(self.questions)


class Predicted(_Part):
    """A prediction of the organisers' files: `label` and `questions` in the paper's format, `pred_label` and `evidence`
    in that of 2024, where `label` and `questions` beside them are gold."""

    label: AveritecLabel = Field(validation_alias=AliasChoices("pred_label", "label"))
    questions: list[Question] | None = Field(None, validation_alias=AliasChoices("evidence", "questions"))
    string_evidence: list[str] = []
    justification: str | None = None

    @property
    def compared(self) -> ScoredEvidence:
        """The evidence as the scorer compares it: strings without a question come behind the others, and stand in for
        the questions where there are none."""
        alone = tuple(self.string_evidence)
        if self.questions is None:
            return ScoredEvidence(alone, alone)
        strings, questions = strings_of(self.questions)
        return ScoredEvidence(strings + alone, questions)

    @property
    def reason(self) -> str:
        """The justification, which the evidence stands in for."""
        if self.justification is not None:
            return self.justification
        return " ".join(self.compared.strings[:MOST_PAIRS])


class Pair(_Part):
    """A question, its answer, and the page that the answer rests on."""

    question: str
    answer: str
    url: str = ""
    filled: bool = False  # nobody asked or answered it: the passage fills the list up


class FactCheck(NamedTuple):
    """The answer of a program to a claim: the label, and the evidence for it, at most `MOST_PAIRS` pairs."""

    label: str
    evidence: tuple[Pair, ...]

    @property
    def compared(self) -> ScoredEvidence:
        """The evidence as the scorer compares it."""
        strings = [f"{pair.question} {pair.answer}" for pair in self.evidence]
        questions = [pair.question for pair in self.evidence]
        return ScoredEvidence(tuple(strings), tuple(questions))


# --- Scores


@lru_cache(maxsize=200_000)
def evidence_match(predicted: tuple[str, ...], gold: tuple[str, ...]) -> float:
    """Return how well predicted strings match gold ones, in 0-1: METEOR of the best assignment of one to one, over the
    number of gold strings. The first ten predicted ones count; more of them than gold costs nothing. Raises ValueError
    where there are no gold strings."""
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


@dataclass(frozen=True)
class Matches(MeanScores):
    """The answers to claims, a row a claim; values: 1 where a claim counts at .25."""

    labels: Tally
    evidence: Floats  # how well evidence matches, in 0-1, (claims,)
    questions: Floats  # the same of questions alone
    words: Floats  # of a predicted string on average, (claims,)

    @classmethod
    def of(cls, gold: Sequence[ClaimGold], predicted: Sequence[FactCheck | Predicted | None]) -> Self:
        """Return the scores; a failed claim (None) earns 0. Raises ValueError for unequal numbers, unknown labels."""
        check_pairs(gold, predicted)
        answers = [[guess.label] if guess else None for guess in predicted]
        labels = tally_statements([[[right.label]] for right in gold], answers, AVERITEC_LABELS)
        evidence, questions, words = np.zeros((3, len(gold)))
        for row, guess in enumerate(predicted):
            if guess is None or not guess.compared.strings:
                continue
            ours = guess.compared
            theirs = gold[row].compared
            evidence[row] = evidence_match(ours.strings, theirs.strings)
            questions[row] = evidence_match(ours.questions, theirs.questions)
            words[row] = np.mean([len(text.split()) for text in ours.strings[:MOST_PAIRS]])
        counts = labels.exact & (evidence > HEADLINE)
        return cls(counts.astype(np.float64), labels=labels, evidence=evidence, questions=questions, words=words)

    def surrogate(self, baseline: Self) -> Floats:
        """Return what an optimizer sees of each claim, 0-1: half for the label, and half for evidence up to the
        threshold. The score itself is a step: most programs that are a little better would look the same."""
        return self.times_weight(0.5 * self.labels.exact + 0.5 * np.minimum(self.evidence / HEADLINE, 1))

    def weighted(self, weights: Sequence[float]) -> Self:
        return replace(super().weighted(weights), labels=self.labels.weighted(weights))

    def corpus_score(self) -> CorpusScore:
        """Return the score at .25 with accuracy, macro-F1, matches and each label. Raises ValueError for no records."""
        labels = self.labels.corpus_score()
        parts = {
            "accuracy": float(self.mean(self.labels.exact)),
            "macro_f1": labels.parts["macro_f1"],
            "evidence": float(self.mean(self.evidence)),
            "questions": float(self.mean(self.questions)),
        }
        length = f"{self.words.mean():.0f} words a string of evidence on average: length alone raises this score"
        return CorpusScore(float(self.mean(self.values)), parts, labels.per_label, (length, WORDS_OF))


# --- The organisers' own files


def official_numbers(gold: Sequence[ClaimGold], predicted: Sequence[Predicted], matches: Matches) -> dict[str, float]:
    """Return what the organisers' scorer prints, in 0-1, by name. Evidence of a type of claim counts 0 where its match
    is .25 or less, whatever the label."""
    report = matches.corpus_score()
    counted = np.where(matches.evidence > HEADLINE, matches.evidence, 0.0)
    by_type: dict[str, list[float]] = {}
    for row, match in zip(gold, counted, strict=True):
        for name in row.claim_types:
            by_type.setdefault(name, []).append(match)
    numbers = {}
    for at in THRESHOLDS:
        numbers[f"AVeriTeC score at {at:g}"] = float((matches.labels.exact & (matches.evidence > at)).mean())
    numbers["label accuracy"] = report.parts["accuracy"]
    numbers["macro-F1"] = report.parts["macro_f1"]
    numbers |= {f"F1 of {label}": score.f1 for label, score in report.per_label.items()}
    numbers["evidence match"] = report.parts["evidence"]
    numbers["question match"] = report.parts["questions"]
    numbers |= {f"evidence match of {name}": float(np.mean(values)) for name, values in sorted(by_type.items())}
    reasons = [meteor(guess.reason, right.justification) for guess, right in zip(predicted, gold, strict=True)]
    numbers["justification"] = float(np.mean(reasons))
    return numbers


def main() -> None:
    """Run the command; raises UserError where the files cannot be scored."""
    parser = ArgumentParser(prog="python -m aisr.metrics.averitec", description="The AVeriTeC score of a file.")
    parser.add_argument("references", type=Path, help="JSON list of claims with gold, such as dev.json")
    parser.add_argument("predictions", type=Path, help="JSON list in the same order, in the format of 2024 or before")
    options = parser.parse_args()
    gold, predicted = read_list(options.references, ClaimGold), read_list(options.predictions, Predicted)
    if len(gold) != len(predicted):  # the organisers' scorer cuts the longer
        raise UserError(
            f"{options.predictions}: {len(predicted)} predictions for {len(gold)} claims of {options.references}; they "
            "are matched by position, so expected one for each"
        )
    matches = Matches.of(gold, predicted)
    for name, number in official_numbers(gold, predicted, matches).items():
        print(f"{name:52} {100 * number:5.1f}")
    print(f"{len(gold)} claims, {'; '.join(matches.corpus_score().remarks)}")


if __name__ == "__main__":
    run_command(main)
