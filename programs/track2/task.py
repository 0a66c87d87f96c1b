"""Track 2: one label a claim, and the paragraphs of the cited paper that show it."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import dspy

from aisr.metrics.track2 import evidence_right, tally_track2
from aisr.programs import drafts
from aisr.programs.errors import UserError
from aisr.programs.ranker import EvidencePolicy
from aisr.programs.retrieval import rank
from aisr.programs.shared_evidence import claim_key, paper_keys
from aisr.programs.task import TRACK_FILES, Correctable, Exhibit, FlatZip, Judgements, Said, Searched, Sources, Task
from aisr.programs.track2.judge import Track2Judge
from aisr.programs.track2.record import (
    CITATION_DEFINITIONS,
    CITATION_LABELS,
    EVIDENCE_K,
    Citation,
    CitationLabel,
    Track2Prediction,
    Track2Record,
)


def _answer(prediction: dspy.Prediction) -> Citation:
    return Citation(str(prediction.label), list(prediction.evidence_para_ids))


def _line(answer: Citation) -> dict[str, Any]:
    return {"label": answer.label, "evidence_para_ids": list(answer.evidence_para_ids)}


def _problem(record: Track2Record, answer: Citation) -> str | None:
    unknown = [key for key in answer.evidence_para_ids if key not in record.paragraphs]
    return f"evidence_para_ids: {unknown[0]!r} is no paragraph of the cited paper" if unknown else None


def _fallback(record: Track2Record) -> Citation:
    label = str(CitationLabel.SUPPORTED)
    return Citation(label, EvidencePolicy().choose(label, [], rank(record.claim_text, record.paragraphs)))


def _feedback(gold: Citation, answer: Citation) -> str:
    """What is wrong, in a sentence, for an optimizer that reflects."""
    if answer.label != gold.label:
        return f"Said {answer.label}; right is {gold.label} ({CITATION_DEFINITIONS[gold.label]})."
    if gold.evidence_para_ids and not set(gold.evidence_para_ids) & set(answer.evidence_para_ids):
        return f"The label is right, but the deciding paragraphs are {', '.join(gold.evidence_para_ids)}."
    if not gold.evidence_para_ids and answer.evidence_para_ids:
        return "The label is right, but no paragraph is evidence here: the list should be empty."
    return "Label and evidence are right."


def _exhibits(record: Track2Record, example: dspy.Example, answer: Citation | None) -> list[Exhibit]:
    """The paragraphs that the model read, that are gold or that were named, in document order. The rest of the paper is
    left out: it is 70 to 90 KB a record."""
    shown = set(example.shown)
    gold = set(record.gold.evidence_para_ids if record.gold else ())
    chosen = {key: rank for rank, key in enumerate(answer.evidence_para_ids if answer else (), start=1)}
    return [
        Exhibit(key=key, text=text, shown=key in shown, gold=key in gold, chosen=chosen.get(key, 0))
        for key, text in record.paragraphs.items()
        if key in shown or key in gold or key in chosen
    ]


def _shares(record: Track2Record) -> set[str]:
    return {claim_key(record.claim_text), *paper_keys(record.paragraphs.values())}


def _draft(text: str, sources: Sources) -> Track2Record:
    if sources.evidence or sources.paper is None:
        raise UserError("a claim is judged against the paper that it cites: give --paper FILE")
    return drafts.citation_record(text, sources.paper)


def _searched(record: Track2Record) -> Searched:
    gold: Sequence[str] = record.gold.evidence_para_ids if record.gold else ()
    return Searched(record.claim_text, record.paragraphs, gold)


def _bare(record: Track2Record) -> Track2Record:
    return record.model_copy(update={"label": None, "evidence_para_ids": None, "evidence_texts": None})


def _labelled(record: Track2Record, said: Mapping[int, Said]) -> Track2Record:
    if not said:
        return record
    paragraphs, named = record.paragraphs, list(said[0].evidence)
    gold = {"evidence_para_ids": named, "evidence_texts": {key: paragraphs[key] for key in named if key in paragraphs}}
    return Track2Record.model_validate({**record.model_dump(), **gold, "label": said[0].label})


CORRECTABLE = Correctable(
    statements=lambda record: [record.claim_text],
    evidence=lambda record: [text for pair in record.paragraphs.items() for text in pair],
    said=lambda answer: [answer.label],
    bare=_bare,
    labelled=_labelled,
    nameable=lambda record: list(record.paragraphs),
    most=EVIDENCE_K,
)
JUDGEMENTS = Judgements(
    labels=CITATION_LABELS,
    neutral=str(CitationLabel.SUPPORTED),
    definitions=CITATION_DEFINITIONS,
    allowed=lambda gold: [[gold.label]],
    statements=lambda example: [str(example.claim)],
    grounds=lambda example: str(example.passages),
    evidence_right=lambda gold, ids: evidence_right(gold.evidence_para_ids, ids),
)
TRACK2: Task[Track2Record, Citation, Citation] = Task(
    name="track2",
    record=Track2Record,
    prediction=Track2Prediction,
    judge=Track2Judge,
    parts=MappingProxyType({"macro_f1": "macro-F1", "joint_at_3": "Joint@3"}),
    score=tally_track2,
    answer=_answer,
    line=_line,
    problem=_problem,
    feedback=_feedback,
    fallback=_fallback,
    exhibits=_exhibits,
    shares=_shares,
    text=lambda record: record.claim_text,
    stratum=JUDGEMENTS.fault,
    submission=FlatZip("track2_pred.jsonl", TRACK_FILES),
    judgements=JUDGEMENTS,
    rests_on=lambda record: ["\n".join(record.paragraphs.values())],
    draft=_draft,
    searched=_searched,
    correctable=CORRECTABLE,
)
