"""Track 1: one label a sentence, against an evidence bundle."""

from collections.abc import Mapping
from types import MappingProxyType

from aisr.metrics.track1 import tally_track1
from aisr.programs import drafts
from aisr.programs.errors import UserError
from aisr.programs.sentence_tasks import Gold, correctable, judgements, shared_keys, texts, with_sentences
from aisr.programs.shared_evidence import claim_key
from aisr.programs.task import TRACK_FILES, FlatZip, Said, Sources, Task, of_bundle, wrong_labels, wrong_number
from aisr.programs.track1.judge import Track1Judge
from aisr.programs.track1.record import (
    CLAIM_DEFINITIONS,
    CLAIM_LABELS,
    ClaimLabel,
    SentenceLabel,
    Track1Prediction,
    Track1Record,
)


def _shares(record: Track1Record) -> set[str]:
    return {claim_key(record.claim_text), *shared_keys(record)}


def _draft(text: str, sources: Sources) -> Track1Record:
    if sources.paper or not sources.evidence:
        raise UserError("a paragraph is judged against its evidence: give --evidence FILE, once or more")
    return drafts.claim_record(text, sources.evidence)


def _bare(record: Track1Record) -> Track1Record:
    sentences = [SentenceLabel(sentence=one) for one in record.sentences]
    return record.model_copy(update={"sentence_label": sentences})


def _labelled(record: Track1Record, said: Mapping[int, Said]) -> Track1Record:
    """The sentences with a label."""
    types = {k: [said[k].label] if k in said else one.types for k, one in enumerate(record.sentence_label)}
    found = [{"sentence": record.sentences[k], "types": labels} for k, labels in types.items() if labels]
    return with_sentences(record, "sentence_label", found)


CORRECTABLE = correctable(
    sentences=lambda record: record.sentences,
    around=lambda record: record.claim_text,
    bare=_bare,
    labelled=_labelled,
)
JUDGEMENTS = judgements(
    labels=CLAIM_LABELS,
    neutral=str(ClaimLabel.SUPPORTED),
    definitions=CLAIM_DEFINITIONS,
)
TRACK1: Task[Track1Record, Gold, list[str]] = Task(
    name="track1",
    record=Track1Record,
    prediction=Track1Prediction,
    judge=Track1Judge,
    parts=MappingProxyType({"macro_f1": "macro-F1", "pem": "paragraph exact match"}),
    score=tally_track1,
    answer=lambda prediction: [str(label) for label in prediction.sentence_labels],
    line=lambda answer: {"labels": list(answer)},
    problem=lambda record, answer: wrong_number(len(record.sentences), answer),
    feedback=lambda gold, answer: wrong_labels(gold, answer, CLAIM_DEFINITIONS),
    fallback=lambda record: [JUDGEMENTS.neutral] * len(record.sentences),
    exhibits=lambda record, example, answer: of_bundle(record.evidence_bundle),
    shares=_shares,
    text=lambda record: record.claim_text,
    stratum=JUDGEMENTS.fault,
    submission=FlatZip("track1_pred.jsonl", TRACK_FILES),
    judgements=JUDGEMENTS,
    rests_on=texts,
    sentences=lambda record: len(record.sentences),
    draft=_draft,
    correctable=CORRECTABLE,
)
