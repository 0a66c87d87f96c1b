"""AVeriTeC: a claim and a collection of documents; questions and answers as evidence, and a verdict."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import dspy

from aisr.base.errors import UserError
from aisr.base.files import write_whole
from aisr.metrics.averitec import HEADLINE, Matches, evidence_match
from aisr.metrics.scores import Scores
from aisr.programs.averitec.documents import held
from aisr.programs.averitec.program import Averitec, filled
from aisr.programs.averitec.record import (
    MOST_PAIRS,
    VERDICT_DEFINITIONS,
    AveritecPrediction,
    AveritecRecord,
    Checked,
    FactCheck,
    Verdict,
    of_pairs,
    of_questions,
)
from aisr.programs.retrieval import bm25
from aisr.programs.shared_evidence import claim_key, evidence_keys
from aisr.programs.submission import Submission
from aisr.programs.task import Exhibit, Query, Task

UNANSWERABLE = "Unanswerable"  # its text is the same for many questions


class ClaimList(Submission):
    """A JSON list with an entry for each claim, in the order of the organisers' file: the form of the task's page
    (`id`, `label`) and that of 2024 (`claim_id`, `pred_label`) in one, as neither minds the other's fields."""

    def problem(self, record: AveritecRecord, answer: FactCheck) -> str | None:
        """Too many pairs, or one without a question."""
        if len(answer.evidence) > MOST_PAIRS:
            return f"{len(answer.evidence)} pairs of evidence; at most {MOST_PAIRS} count"
        empty = [place for place, pair in enumerate(answer.evidence, start=1) if not pair.question.strip()]
        return f"evidence {empty[0]}: no question; a pair is a question and its answer" if empty else None

    def fallback(self, record: AveritecRecord) -> FactCheck:
        """The commonest label, and the ten best passages by BM25."""
        best = held(record.documents or []).best([record.claim], MOST_PAIRS, bm25)
        return FactCheck(str(Verdict.REFUTED), tuple(filled(record.claim, [*best.values()])))

    def fields(self, record: AveritecRecord) -> dict[str, Any]:
        """The id, the place in the organisers' file, and the claim."""
        return {"id": record.id, "claim_id": record.claim_id, "claim": record.claim}

    def write(self, lines: Sequence[dict[str, Any]], out: Path) -> None:
        """Raises UserError where claims have numbers and these are not all from 0 on: servers match by position."""
        numbered = [line["claim_id"] for line in lines if line["claim_id"] is not None]
        if numbered and sorted(numbered) != list(range(len(lines))):
            raise UserError(
                f"claim_id: {len(numbered)} of {len(lines)} claims have one, up to {max(numbered)}; servers match by "
                f"position, so expected each of 0 to {len(lines) - 1} once: predict the whole file of the organisers"
            )
        ordered = sorted(lines, key=lambda line: line["claim_id"]) if numbered else lines
        entries = [
            {
                "id": line["id"],
                "claim_id": place,
                "claim": line["claim"],
                "label": line["label"],
                "pred_label": line["label"],
                "evidence": [{key: pair[key] for key in ("question", "answer", "url")} for pair in line["evidence"]],
            }
            for place, line in enumerate(ordered)
        ]
        write_whole(out, json.dumps(entries, ensure_ascii=False, indent=1) + "\n")


class AveritecTask(Task):
    """The AVeriTeC shared task."""

    name = "averitec"
    record = AveritecRecord
    prediction = AveritecPrediction
    program = Averitec
    definitions = VERDICT_DEFINITIONS
    parts: ClassVar = {
        "accuracy": "label accuracy",
        "macro_f1": "macro-F1",
        "evidence": "evidence match",
        "questions": "question match",
    }
    f1_share = 0.0
    submission = ClaimList("averitec.json")

    def score(self, gold: Sequence[Checked], answers: Sequence[FactCheck | None]) -> Scores:
        return Matches.of(gold, answers)

    def answer(self, prediction: dspy.Prediction) -> FactCheck:
        return FactCheck(str(prediction.label), tuple(prediction.evidence))

    def gold_labels(self, gold: Checked) -> list[list[str]]:
        return [[gold.label]]

    def evidence(self, example: dspy.Example) -> str:
        return str(example.passages)

    def answer_right(self, gold: Checked, answer: FactCheck | None) -> bool:
        evidence = of_pairs(answer.evidence if answer else ()).strings
        return evidence_match(evidence, of_questions(gold.questions).strings) > HEADLINE

    def text(self, record: AveritecRecord) -> str:
        return record.claim

    def feedback(self, gold: Checked, answer: FactCheck) -> str:
        """What is wrong with label and evidence."""
        right = of_questions(gold.questions).strings
        match = evidence_match(of_pairs(answer.evidence).strings, right)
        label = (
            "The label is right."
            if answer.label == gold.label
            else f"Said {answer.label}; right is {gold.label} ({self.definitions[gold.label]})."
        )
        if match > HEADLINE:
            return f"{label} The evidence matches the gold evidence well enough ({match:.2f}; {HEADLINE} is needed)."
        missing = " / ".join(right[:3])
        return (
            f"{label} The evidence matches the gold evidence by {match:.2f}, and {HEADLINE} is needed. It is: {missing}"
        )

    def shared_keys(self, record: AveritecRecord) -> set[str]:
        return {claim_key(record.claim), *evidence_keys(self.long_texts(record))}

    def long_texts(self, record: AveritecRecord) -> list[str]:
        """The gold answers and what is held of the pages that they are from; of other pages many claims have some."""
        answers = [answer for question in record.questions or () for answer in question.answers]
        answered = [answer for answer in answers if answer.answer_type != UNANSWERABLE]
        pages = {answer.source_url for answer in answered if answer.source_url}
        return [
            *(answer.answer for answer in answered),
            *(document.text for document in record.documents or () if document.url in pages),
        ]

    def exhibits(self, record: AveritecRecord, example: dspy.Example, answer: FactCheck | None) -> list[Exhibit]:
        """The predicted evidence, then the best passages by the claim alone; gold are those of gold pages. The verdict
        does not rest on filled pairs."""
        gold = gold_pages(record)
        predicted = [
            Exhibit(
                key=f"evidence {place}",
                text=f"{pair.question} {pair.answer}",
                gold=pair.url in gold,
                chosen=0 if pair.filled else place,
            )
            for place, pair in enumerate(answer.evidence if answer else (), start=1)
        ]
        passages = example.collection.read(example.candidates)
        read = [Exhibit(key=key, text=passage.text, gold=passage.url in gold) for key, passage in passages.items()]
        return [*predicted, *read]

    def query(self, record: AveritecRecord) -> Query:
        """The claim, in the passages of its documents; gold are those of gold pages."""
        passages, pages = held(record.documents or []).passages, gold_pages(record)
        texts = {key: passage.text for key, passage in passages.items()}
        gold = [key for key, passage in passages.items() if passage.url in pages]
        return Query(record.claim, texts, gold, [question.question for question in record.questions or ()])


def gold_pages(record: AveritecRecord) -> set[str | None]:
    """The addresses of the pages that gold answers are from."""
    return {answer.source_url for question in record.questions or () for answer in question.answers}


AVERITEC = AveritecTask()
