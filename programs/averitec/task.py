"""AVeriTeC: a claim and a collection of documents; questions and answers as evidence, and a verdict."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import dspy

from aisr.base.files import write_whole
from aisr.metrics.averitec import HEADLINE, Matches, evidence_match, of_pairs, of_questions
from aisr.programs.averitec.documents import held
from aisr.programs.averitec.judge import AveritecJudge, filled
from aisr.programs.averitec.record import (
    MOST_PAIRS,
    VERDICT_DEFINITIONS,
    VERDICTS,
    AveritecPrediction,
    AveritecRecord,
    Checked,
    FactCheck,
    Pair,
    Verdict,
)
from aisr.programs.errors import UserError
from aisr.programs.retrieval import bm25
from aisr.programs.shared_evidence import claim_key, evidence_keys
from aisr.programs.task import Exhibit, Judgements, Searched, Task

NAME = "averitec"
UNANSWERABLE = "Unanswerable"  # its text is the same for many questions


def _answer(prediction: dspy.Prediction) -> FactCheck:
    return FactCheck(str(prediction.label), tuple(prediction.evidence))


def _line(answer: FactCheck | Checked) -> dict[str, Any]:
    if isinstance(answer, Checked):
        return {"label": answer.label, "evidence": list(of_questions(answer.questions).strings)}
    return {"label": answer.label, "evidence": [_pair(pair) for pair in answer.evidence]}


def _pair(pair: Pair) -> dict[str, Any]:
    """A pair as lines hold it; whether it is filled in is said where it is."""
    return {key: value for key, value in pair._asdict().items() if key != "filled" or value}


def _problem(record: AveritecRecord, answer: FactCheck) -> str | None:
    if len(answer.evidence) > MOST_PAIRS:
        return f"{len(answer.evidence)} pairs of evidence; at most {MOST_PAIRS} count"
    empty = [place for place, pair in enumerate(answer.evidence, start=1) if not pair.question.strip()]
    return f"evidence {empty[0]}: no question; a pair is a question and its answer" if empty else None


def _feedback(gold: Checked, answer: FactCheck) -> str:
    """What is wrong, in a few sentences, for an optimizer that reflects."""
    said, right = of_pairs(answer.evidence).strings, of_questions(gold.questions).strings
    match = evidence_match(said, right)
    told = (
        "The label is right."
        if answer.label == gold.label
        else f"Said {answer.label}; right is {gold.label} ({VERDICT_DEFINITIONS[gold.label]})."
    )
    if match > HEADLINE:
        return f"{told} The evidence matches the gold evidence well enough ({match:.2f}; {HEADLINE} is needed)."
    missing = " / ".join(right[:3])
    return f"{told} The evidence matches the gold evidence by {match:.2f}, and {HEADLINE} is needed. It is: {missing}"


def _fallback(record: AveritecRecord) -> FactCheck:
    """What can be said without a model: the commonest label, and the ten best passages by BM25."""
    best = held(record.documents or []).best([record.claim], MOST_PAIRS, bm25)
    return FactCheck(str(Verdict.REFUTED), tuple(filled(record.claim, [*best.values()])))


def _exhibits(record: AveritecRecord, example: dspy.Example, answer: FactCheck | None) -> list[Exhibit]:
    """The evidence that was given, then the passages that the claim alone finds; gold are those of gold pages. The
    verdict does not rest on pairs that nobody asked."""
    gold = {answer.source_url for question in record.questions or () for answer in question.answers}
    shown = [
        Exhibit(
            key=f"evidence {place}",
            text=f"{pair.question} {pair.answer}",
            gold=pair.url in gold,
            chosen=0 if pair.filled else place,
        )
        for place, pair in enumerate(answer.evidence if answer else (), start=1)
    ]
    passages = example.collection.read(example.shown)
    found = [Exhibit(key=key, text=passage.text, gold=passage.url in gold) for key, passage in passages.items()]
    return [*shown, *found]


def _shares(record: AveritecRecord) -> set[str]:
    return {claim_key(record.claim), *evidence_keys(_texts(record))}


def _texts(record: AveritecRecord) -> list[str]:
    """The gold answers and what is held of the pages that they are from; of other pages many claims have some."""
    answers = [answer for question in record.questions or () for answer in question.answers]
    given = [answer for answer in answers if answer.answer_type != UNANSWERABLE]
    pages = {answer.source_url for answer in given if answer.source_url}
    return [
        *(answer.answer for answer in given),
        *(document.text for document in record.documents or () if document.url in pages),
    ]


def _searched(record: AveritecRecord) -> Searched:
    passages = held(record.documents or []).passages
    gold = {answer.source_url for question in record.questions or () for answer in question.answers}
    texts = {key: passage.text for key, passage in passages.items()}
    asked = [question.question for question in record.questions or ()]
    return Searched(record.claim, texts, [key for key, passage in passages.items() if passage.url in gold], asked)


@dataclass(frozen=True)
class ClaimList:
    """A JSON list with an entry for each claim, in the order of the organisers' file: the form of the task's page
    (`id`, `label`) and that of 2024 (`claim_id`, `pred_label`) in one, as neither minds the other's fields."""

    file: str = "averitec.json"

    def write(self, lines: Sequence[dict[str, Any]], out: Path) -> None:
        """Raises UserError where claims have numbers and these are not all from 0 on: servers match by position."""
        given = [line["claim_id"] for line in lines]
        numbered = [number for number in given if number is not None]
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


JUDGEMENTS = Judgements(
    labels=VERDICTS,
    neutral=str(Verdict.SUPPORTED),
    definitions=VERDICT_DEFINITIONS,
    allowed=lambda gold: [[gold.label]],
    statements=lambda example: [str(example.claim)],
    grounds=lambda example: str(example.passages),
    answer_right=lambda gold, answer: (
        evidence_match(of_pairs(answer.evidence).strings, of_questions(gold.questions).strings) > HEADLINE
    ),
    f1_share=0.0,
)
AVERITEC: Task[AveritecRecord, Checked, FactCheck] = Task(
    name=NAME,
    record=AveritecRecord,
    prediction=AveritecPrediction,
    judge=AveritecJudge,
    parts=MappingProxyType(
        {
            "accuracy": "label accuracy",
            "macro_f1": "macro-F1",
            "evidence": "evidence match",
            "questions": "question match",
        }
    ),
    score=Matches.of,
    answer=_answer,
    line=_line,
    problem=_problem,
    feedback=_feedback,
    fallback=_fallback,
    exhibits=_exhibits,
    shares=_shares,
    rests_on=_texts,
    text=lambda record: record.claim,
    stratum=JUDGEMENTS.fault,
    submission=ClaimList(),
    judgements=JUDGEMENTS,
    searched=_searched,
    beside=lambda record: {"claim_id": record.claim_id, "claim": record.claim},
    converter="aisr.programs.averitec.convert {file} --documents knowledge_store --out records.jsonl",
    floor=lambda example: example.floor,
)
