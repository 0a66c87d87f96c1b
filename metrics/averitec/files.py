"""Score the organisers' own files: `python -m aisr.metrics.averitec.files REFERENCES PREDICTIONS`.

They are JSON lists that are matched by position; what is printed is all that the organisers' scorer says of them.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aisr.metrics.averitec.meteor import meteor
from aisr.metrics.averitec.score import THRESHOLDS, Evidence, Matches, of_pairs, of_questions
from aisr.metrics.f1 import f1_scores
from aisr.programs.averitec.record import MOST_PAIRS, GivenPair, Pair, Question
from aisr.programs.errors import UserError
from aisr.programs.labels import VERDICTS, Verdict
from aisr.programs.lines import explain

Format = Literal["paper", "2024"]
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
    """What the scorer says. averitec: by threshold; by_type: how well evidence matches by type of claim, at .25;
    justification: METEOR, in the paper's format alone; words: of a predicted string on average."""

    averitec: dict[str, float]
    accuracy: float
    macro_f1: float
    f1: dict[str, float]
    question_answer: float
    question_only: float
    by_type: dict[str, float]
    justification: float | None
    words: float
    per_claim: list[float]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def score_official(references: Path, predictions: Path) -> Official:
    """Score a file of predictions, in either format, against one of references. Raises UserError for a file that is no
    such list, for a bad entry, and where the two are of different lengths (the organisers' scorer cuts the longer)."""
    gold = rows(_listed(references), Reference, references)
    given = _listed(predictions)
    if len(gold) != len(given):
        raise UserError(
            f"{predictions}: {len(given)} predictions for {len(gold)} claims of {references}; they are matched by "
            "position, so expected one for each"
        )
    if given and all(isinstance(row, dict) and "pred_label" in row for row in given):
        return score_2024(gold, rows(given, Prediction2024, predictions))
    return score_paper(gold, rows(given, PaperPrediction, predictions))


def score_paper(gold: Sequence[Reference], given: Sequence[PaperPrediction]) -> Official:
    """The scorer of the paper."""
    told = [of_questions(row.questions, row.string_evidence) for row in given]
    told_why = [
        " ".join(one.strings[:MOST_PAIRS]) if row.justification is None else row.justification
        for row, one in zip(given, told, strict=True)
    ]
    justification = float(np.mean([meteor(why, row.justification) for why, row in zip(told_why, gold, strict=True)]))
    return _official(gold, [str(row.label) for row in given], told, justification)


def score_2024(gold: Sequence[Reference], given: Sequence[Prediction2024]) -> Official:
    """The scorer of the shared task of 2024."""
    told = []
    for row in given:
        pairs = [Pair(pair.question, pair.answer) for pair in row.evidence or ()]
        strings, questions = of_pairs(pairs)
        alone = tuple(row.string_evidence)
        told.append(Evidence(strings + alone, alone if row.evidence is None else questions))
    return _official(gold, [str(row.pred_label) for row in given], told, None)


def rows(raw: Sequence[Any], model: type[RowT], source: object) -> list[RowT]:
    """The entries of a list, checked. Raises UserError, naming the entry by its position from 0 and the field."""
    found = []
    for place, row in enumerate(raw):
        try:
            found.append(model.model_validate(row))
        except ValidationError as error:
            raise UserError(f"{source}: entry {place}: {explain(error)}") from error
    return found


def _official(
    gold: Sequence[Reference], labels: Sequence[str], told: Sequence[Evidence], justification: float | None
) -> Official:
    scores = Matches.of_evidence(
        [str(row.label) for row in gold], [of_questions(row.questions) for row in gold], labels, told
    )
    report = scores.report()
    return Official(
        averitec={f"{threshold:g}": float(scores.passed(threshold).mean()) for threshold in THRESHOLDS},
        accuracy=report.parts["accuracy"],
        macro_f1=report.parts["macro_f1"],
        f1=dict(zip(VERDICTS, f1_scores(scores.counts()).tolist(), strict=True)),
        question_answer=report.parts["evidence"],
        question_only=report.parts["questions"],
        by_type=scores.by_type([row.claim_types for row in gold]),
        justification=justification,
        words=float(scores.words.mean()),
        per_claim=scores.evidence.tolist(),
    )


def _listed(file: Path) -> list[Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{file}: {error}; expected a JSON list, an entry a claim") from error
    if not isinstance(found, list) or not found:
        raise UserError(f"{file}: expected a JSON list with an entry a claim")
    return found


def main() -> int:
    """0 where the files could be scored, 2 where they could not."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.metrics.averitec.files", description="The AVeriTeC score of a file."
    )
    parser.add_argument("references", type=Path, help="JSON list of claims with gold, such as dev.json")
    parser.add_argument(
        "predictions", type=Path, help="JSON list in the same order, in the format of 2024 or the paper's"
    )
    parser.add_argument(
        "--json", action="store_true", help="all of it as JSON, with the match of each claim's evidence"
    )
    given = parser.parse_args()
    try:
        found = score_official(given.references, given.predictions)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(found.as_dict(), indent=1) if given.json else as_text(found))
    return 0


def as_text(found: Official) -> str:
    """A score as a person reads it, in points of 100."""
    lines = [f"AVeriTeC score at .25   {100 * found.averitec['0.25']:.1f}  of {len(found.per_claim)} claims"]
    lines.append("at other thresholds     " + "  ".join(f"{at}: {100 * x:.1f}" for at, x in found.averitec.items()))
    lines.append(f"label accuracy          {100 * found.accuracy:.1f}   macro-F1 {100 * found.macro_f1:.1f}")
    lines += [f"  F1 of {label:36} {100 * value:5.1f}" for label, value in found.f1.items()]
    lines.append(
        f"evidence matches        {100 * found.question_answer:.1f}   questions alone {100 * found.question_only:.1f}"
    )
    lines += [f"  of {name:39} {100 * value:5.1f}  (0 up to .25)" for name, value in sorted(found.by_type.items())]
    if found.justification is not None:
        lines.append(f"justification           {100 * found.justification:.1f}")
    lines.append(
        f"words a string          {found.words:.0f}   (length alone raises this score: compare like with like)"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
