"""Context24, task 1: a claim and a paper; the figures and tables that evidence the claim, best first."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import dspy

from aisr.base.files import write_whole
from aisr.metrics.context24_figures import HALF, Ranked, gain
from aisr.programs.context24_figures.judge import Context24FiguresJudge, without_lm
from aisr.programs.context24_figures.ranking import documents, paper_of
from aisr.programs.context24_figures.record import (
    MOST,
    Context24FiguresPrediction,
    Context24FiguresRecord,
    Ranking,
    Sought,
    place_of,
)
from aisr.programs.errors import UserError
from aisr.programs.shared_evidence import claim_key, evidence_keys, paper_keys, picture_keys
from aisr.programs.task import Exhibit, Task
from aisr.programs.text import alike

NAME = "context24-figures"


def _problem(record: Context24FiguresRecord, answer: Ranking) -> str | None:
    known = {element.label for element in record.elements}
    unknown = next((label for label in answer if label not in known), None)
    if unknown is not None:
        return f"{unknown[:80]!r} is no element of the paper"
    if len(set(answer)) < len(answer):
        return f"{Counter(answer).most_common(1)[0][0]!r} stands there more than once"
    # The organisers' parser makes of nothing a label without letters, which is worth half at the first place.
    return None if answer else "no element; expected one or more"


def _feedback(gold: Sought, answer: Ranking) -> str:
    """What is wrong, in a few sentences, for an optimizer that reflects."""
    places = {label: answer.index(label) + 1 if label in answer else None for label in gold.findings}
    said = [
        f"{label} evidences the claim and stands {f'in place {place}' if place else 'not among them'}."
        for label, place in places.items()
    ]
    before = [label for label in answer[: len(gold.findings)] if gain(label, gold.findings) < HALF]
    if not before:
        return " ".join([*said, "Nothing of no worth stands before it."])
    return " ".join([*said, f"Before it stand what evidences something else: {', '.join(before)}."])


def _exhibits(record: Context24FiguresRecord, example: dspy.Example, answer: Ranking | None) -> list[Exhibit]:
    """The elements: those that were named in their order, then the others."""
    said = documents(paper_of(record.paragraphs, record.elements))
    pictures = {element.label: element.img_path for element in record.elements}
    named = [label for label in answer or () if label in said]
    return [
        Exhibit(
            key=label,
            text=said[label],
            picture=pictures[label],
            shown=label in example.shown,
            gold=label in (record.findings or ()),
            chosen=named.index(label) + 1 if label in named else 0,
        )
        for label in dict.fromkeys([*named, *said])
    ]


def _shares(record: Context24FiguresRecord) -> set[str]:
    named = {f"paper:{alike(record.citekey)}"} if record.citekey else set()
    captions = evidence_keys((), [element.caption for element in record.elements])
    pictures = picture_keys(record.img_paths)
    return {claim_key(record.claim), *paper_keys(record.paragraphs), *named, *captions, *pictures}


def _stratum(gold: Sought) -> str:
    """Table, figure or panel: what the first gold element is."""
    place = place_of(gold.findings[0])
    if place is None:
        return "other"
    return "table" if place.figure.kind == "TAB" else "panel" if place.panel else "figure"


# What spreadsheets compute begins so, also behind what some of them take for the end of a cell; and in full width.
FORMULA = re.compile(r"^[\t\r]|(?:^|[;\t\r\n\"'])[^\S\t\r\n]*+[=+\-@＝＋－＠]")  # (OWASP, CSV Injection)


@dataclass(frozen=True)
class LabelTable:
    """A CSV file with a header, an id and its labels a line, as the organisers' scorer reads it: it splits the labels
    at commas and strips nothing, so none stands beside a blank."""

    file: str = "predictions.csv"

    def write(self, lines: Sequence[dict[str, Any]], out: Path) -> None:
        told = io.StringIO()
        table = csv.writer(told, lineterminator="\n")
        table.writerow(["claimid", "predictions"])
        for line in lines:
            row = [line["id"], ",".join(dict.fromkeys(label.strip() for label in line["ranking"]))]
            if formula := next(filter(FORMULA.search, row), None):
                raise UserError(f"{formula[:40]!r} holds what a spreadsheet would run as a formula; rename it")
            table.writerow(row)
        write_whole(out, told.getvalue())


CONTEXT24_FIGURES: Task[Context24FiguresRecord, Sought, Ranking] = Task(
    name=NAME,
    record=Context24FiguresRecord,
    prediction=Context24FiguresPrediction,
    judge=Context24FiguresJudge,
    parts=MappingProxyType({"ndcg_5": "nDCG@5", "ndcg_10": "nDCG@10"}),
    score=Ranked.of,
    answer=lambda prediction: tuple(prediction.ranking[:MOST]),
    line=lambda answer: {"ranking": list(answer)},
    problem=_problem,
    feedback=_feedback,
    fallback=without_lm,
    exhibits=_exhibits,
    shares=_shares,
    rests_on=lambda record: ["\n".join(record.paragraphs)],
    text=lambda record: record.claim,
    stratum=_stratum,
    submission=LabelTable(),
    converter="aisr.programs.context24_figures.convert {file} --papers fulltexts.json --captions extracted_captions "
    "--figures figures-tables --out records.jsonl",
    floor=lambda example: example.floor,
)
