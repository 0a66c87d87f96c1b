"""A draft held against itself: sentences of a paragraph, against what the rest of the paper says of them."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from aisr.metrics.draft import tally_draft
from aisr.programs import labels
from aisr.programs.judges.draft import DraftJudge, DraftOptions
from aisr.programs.records.draft import DraftPrediction, DraftRecord, JudgedSentence
from aisr.programs.text.alike import alike
from aisr.tasks.correctable import Correctable, Said
from aisr.tasks.exhibit import of_bundle, uncounted
from aisr.tasks.judgements import Judgements, wrong_labels, wrong_number
from aisr.tasks.planted_edits import plant_drafts
from aisr.tasks.shared_evidence import evidence_keys, picture_keys
from aisr.tasks.submission import FlatZip
from aisr.tasks.task import Task

Gold = Sequence[Sequence[str]]


def _shares(record: DraftRecord) -> set[str]:
    """The paper, the pictures and the tables; passages of one paper are its own."""
    captions = [caption for item in record.evidence_bundle for caption in (*item.table_caption, *item.image_caption)]
    title = {f"title:{''.join(alike(record.title).split())}"} if record.title else set()
    return title | picture_keys(record.img_paths) | evidence_keys(_texts(record), captions)


def _texts(record: DraftRecord) -> list[str]:
    return [item.text for item in record.evidence_bundle if item.text]


def _bare(record: DraftRecord) -> DraftRecord:
    sentences = [JudgedSentence(sentence=one.sentence) for one in record.sentences]
    return record.model_copy(update={"sentences": sentences})


def _labelled(record: DraftRecord, said: Mapping[int, Said]) -> DraftRecord:
    """The sentences with a label; where others are left out, so is what counts them."""
    old = record.sentences
    labels = {k: said[k].label if k in said else one.label for k, one in enumerate(old)}
    sentences = [{"sentence": old[k].sentence, "label": label} for k, label in labels.items() if label]
    evidence = record.evidence_bundle if len(sentences) == len(old) else uncounted(record.evidence_bundle)
    dump = {**record.model_dump(), "evidence_bundle": [one.model_dump() for one in evidence]}
    return DraftRecord.model_validate({**dump, "sentences": sentences})


CORRECTABLE = Correctable(
    statements=lambda record: [one.sentence for one in record.sentences],
    evidence=lambda record: [one.model_dump_json() for one in uncounted(record.evidence_bundle)],
    said=lambda answer: answer,
    bare=_bare,
    around=lambda record: record.paragraph,
    labelled=_labelled,
)
JUDGEMENTS = Judgements(
    labels=labels.DRAFT_LABELS,
    neutral=str(labels.DraftLabel.SUPPORTED),
    definitions=labels.DRAFT_DEFINITIONS,
    allowed=lambda gold: gold,
    statements=lambda example: list(example.sentences),
    grounds=lambda example: str(example.evidence),
    plant=plant_drafts,
)
DRAFT: Task[DraftRecord, Gold, list[str]] = Task(
    name="draft",
    record=DraftRecord,
    prediction=DraftPrediction,
    program=DraftJudge,
    option_types=DraftOptions.types(),
    parts=MappingProxyType({"macro_f1": "macro-F1", "exact": "all sentences of a record right"}),
    score=tally_draft,
    answer=lambda prediction: [str(label) for label in prediction.sentence_labels],
    line=lambda answer: {"labels": list(answer)},
    problem=lambda record, answer: wrong_number(len(record.sentences), answer),
    feedback=lambda gold, answer: wrong_labels(gold, answer, labels.DRAFT_DEFINITIONS),
    fallback=lambda record: [JUDGEMENTS.neutral] * len(record.sentences),
    exhibits=lambda record, example, answer: of_bundle(record.evidence_bundle),
    shares=_shares,
    text=lambda record: " ".join(one.sentence for one in record.sentences),
    stratum=JUDGEMENTS.fault,
    submission=FlatZip("draft_pred.jsonl"),  # no server takes it; a zip like any other
    judgements=JUDGEMENTS,
    rests_on=_texts,
    sentences=lambda record: len(record.sentences),
    correctable=CORRECTABLE,
)
