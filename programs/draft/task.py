"""A draft held against itself: sentences of a paragraph, against what the rest of the paper says of them."""

from collections.abc import Mapping
from types import MappingProxyType

from aisr.metrics.draft import tally_draft
from aisr.programs.draft.judge import DraftJudge
from aisr.programs.draft.record import (
    DRAFT_DEFINITIONS,
    DRAFT_LABELS,
    DraftLabel,
    DraftPrediction,
    DraftRecord,
    JudgedSentence,
)
from aisr.programs.sentence_tasks import Gold, correctable, judgements, shared_keys, texts, with_sentences
from aisr.programs.task import FlatZip, Said, Task, of_bundle, wrong_labels, wrong_number
from aisr.programs.text import alike


def _shares(record: DraftRecord) -> set[str]:
    """The paper, the pictures and the tables; passages of one paper are its own."""
    title = {f"title:{''.join(alike(record.title).split())}"} if record.title else set()
    return title | shared_keys(record)


def _bare(record: DraftRecord) -> DraftRecord:
    sentences = [JudgedSentence(sentence=one.sentence) for one in record.sentences]
    return record.model_copy(update={"sentences": sentences})


def _labelled(record: DraftRecord, said: Mapping[int, Said]) -> DraftRecord:
    """The sentences with a label."""
    labels = {k: said[k].label if k in said else one.label for k, one in enumerate(record.sentences)}
    found = [{"sentence": record.sentences[k].sentence, "label": label} for k, label in labels.items() if label]
    return with_sentences(record, "sentences", found)


CORRECTABLE = correctable(
    sentences=lambda record: [one.sentence for one in record.sentences],
    around=lambda record: record.paragraph,
    bare=_bare,
    labelled=_labelled,
)
JUDGEMENTS = judgements(
    labels=DRAFT_LABELS,
    neutral=str(DraftLabel.SUPPORTED),
    definitions=DRAFT_DEFINITIONS,
)
DRAFT: Task[DraftRecord, Gold, list[str]] = Task(
    name="draft",
    record=DraftRecord,
    prediction=DraftPrediction,
    judge=DraftJudge,
    parts=MappingProxyType({"macro_f1": "macro-F1", "exact": "all sentences of a record right"}),
    score=tally_draft,
    answer=lambda prediction: [str(label) for label in prediction.sentence_labels],
    line=lambda answer: {"labels": list(answer)},
    problem=lambda record, answer: wrong_number(len(record.sentences), answer),
    feedback=lambda gold, answer: wrong_labels(gold, answer, DRAFT_DEFINITIONS),
    fallback=lambda record: [JUDGEMENTS.neutral] * len(record.sentences),
    exhibits=lambda record, example, answer: of_bundle(record.evidence_bundle),
    shares=_shares,
    text=lambda record: " ".join(one.sentence for one in record.sentences),
    stratum=JUDGEMENTS.fault,
    submission=FlatZip("draft_pred.jsonl"),  # no server takes it; a zip like any other
    judgements=JUDGEMENTS,
    rests_on=texts,
    sentences=lambda record: len(record.sentences),
    correctable=CORRECTABLE,
)
