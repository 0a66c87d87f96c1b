"""Context24, task 1: a claim and a paper; the figures and tables that evidence the claim, best first."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import dspy

from aisr.base.errors import UserError
from aisr.base.files import write_whole
from aisr.metrics.context24_figures import HALF, Ranked, gain
from aisr.metrics.scores import Scores
from aisr.programs.context24_figures.program import Context24Figures, baseline_ranking
from aisr.programs.context24_figures.ranking import documents, paper_of
from aisr.programs.context24_figures.record import (
    MOST,
    Context24FiguresPrediction,
    Context24FiguresRecord,
    Ranking,
    Sought,
    place_of,
)
from aisr.programs.shared_evidence import claim_key, evidence_keys, paper_keys, picture_keys
from aisr.programs.submission import Submission
from aisr.programs.task import Exhibit, Task
from aisr.programs.text import alike

# What spreadsheets compute begins so, also behind what some of them take for the end of a cell; and in full width.
FORMULA = re.compile(r"^[\t\r]|(?:^|[;\t\r\n\"'])[^\S\t\r\n]*+[=+\-@＝＋－＠]")  # (OWASP, CSV Injection)


class LabelTable(Submission):
    """A CSV file with a header, an id and its labels a line, as the organisers' scorer reads it: it splits the labels
    at commas and strips nothing, so none stands beside a blank."""

    def problem(self, record: Context24FiguresRecord, answer: Ranking) -> str | None:
        """A label that is no element of the paper, one that repeats, or no label."""
        known = {element.label for element in record.elements}
        unknown = next((label for label in answer if label not in known), None)
        if unknown is not None:
            return f"{unknown[:80]!r} is no element of the paper"
        if len(set(answer)) < len(answer):
            return f"{Counter(answer).most_common(1)[0][0]!r} stands there more than once"
        # The organisers' parser makes of nothing a label without letters, which is worth half at the first place.
        return None if answer else "no element; expected one or more"

    def fallback(self, record: Context24FiguresRecord) -> Ranking:
        return baseline_ranking(record)

    def write(self, lines: Sequence[dict[str, Any]], out: Path) -> None:
        """Raises UserError for a cell that a spreadsheet would run."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(["claimid", "predictions"])
        for line in lines:
            row = [line["id"], ",".join(dict.fromkeys(label.strip() for label in line["ranking"]))]
            if formula := next(filter(FORMULA.search, row), None):
                raise UserError(f"{formula[:40]!r} holds what a spreadsheet would run as a formula; rename it")
            table.writerow(row)
        write_whole(out, text.getvalue())


class Context24FiguresTask(Task):
    """The first task of Context24."""

    name = "context24-figures"
    record = Context24FiguresRecord
    prediction = Context24FiguresPrediction
    program = Context24Figures
    parts: ClassVar = {"ndcg_5": "nDCG@5", "ndcg_10": "nDCG@10"}
    submission = LabelTable("predictions.csv")

    def score(self, gold: Sequence[Sought], answers: Sequence[Ranking | None]) -> Scores:
        return Ranked.of(gold, answers)

    def answer(self, prediction: dspy.Prediction) -> Ranking:
        return tuple(prediction.ranking[:MOST])

    def text(self, record: Context24FiguresRecord) -> str:
        return record.claim

    def feedback(self, gold: Sought, answer: Ranking) -> str:
        """Where the gold elements stand, and what stands before them."""
        places = {label: answer.index(label) + 1 if label in answer else None for label in gold.findings}
        sentences = [
            f"{label} evidences the claim and stands {f'in place {place}' if place else 'not among them'}."
            for label, place in places.items()
        ]
        before = [label for label in answer[: len(gold.findings)] if gain(label, gold.findings) < HALF]
        if not before:
            return " ".join([*sentences, "Nothing of no worth stands before it."])
        return " ".join([*sentences, f"Before it stand what evidences something else: {', '.join(before)}."])

    def shared_keys(self, record: Context24FiguresRecord) -> set[str]:
        """The claim, the paper, its captions and its pictures."""
        citekey = {f"paper:{alike(record.citekey)}"} if record.citekey else set()
        captions = evidence_keys((), [element.caption for element in record.elements])
        pictures = picture_keys(record.img_paths)
        return {claim_key(record.claim), *paper_keys(record.paragraphs), *citekey, *captions, *pictures}

    def long_texts(self, record: Context24FiguresRecord) -> list[str]:
        return ["\n".join(record.paragraphs)]

    def stratify_by(self, gold: Sought) -> str:
        """Table, figure or panel: what the first gold element is."""
        place = place_of(gold.findings[0])
        if place is None:
            return "other"
        return "table" if place.figure.kind == "TAB" else "panel" if place.panel else "figure"

    def exhibits(self, record: Context24FiguresRecord, example: dspy.Example, answer: Ranking | None) -> list[Exhibit]:
        """The elements: those that were named in their order, then the others."""
        texts = documents(paper_of(record.paragraphs, record.elements))
        pictures = {element.label: element.img_path for element in record.elements}
        named = [label for label in answer or () if label in texts]
        return [
            Exhibit(
                key=label,
                text=texts[label],
                picture=pictures[label],
                shown=label in example.candidates,
                gold=label in (record.findings or ()),
                chosen=named.index(label) + 1 if label in named else 0,
            )
            for label in dict.fromkeys([*named, *texts])
        ]


CONTEXT24_FIGURES = Context24FiguresTask()
