"""Track 1: one label a sentence, against an evidence bundle."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import dspy

from aisr.metrics.track1 import tally_track1
from aisr.programs import labels
from aisr.programs.errors import UserError
from aisr.programs.judges.track1 import Track1Judge, Track1Options
from aisr.programs.records.track1 import SentenceLabel, Track1Prediction, Track1Record
from aisr.tasks import drafts, nlpcc, planted_edits
from aisr.tasks.correctable import Correctable, Said
from aisr.tasks.exhibit import of_bundle, uncounted
from aisr.tasks.judgements import Judgements, wrong_labels, wrong_number
from aisr.tasks.shared_evidence import evidence_keys, picture_keys
from aisr.tasks.submission import FlatZip
from aisr.tasks.task import Sources, Task

Gold = Sequence[Sequence[str]]


def _answer(prediction: dspy.Prediction) -> list[str]:
    return [str(label) for label in prediction.sentence_labels]


def _shares(record: Track1Record) -> set[str]:
    captions = [caption for item in record.evidence_bundle for caption in (*item.table_caption, *item.image_caption)]
    return {
        nlpcc.claim_key(record.claim_text),
        *picture_keys(record.img_paths),
        *evidence_keys(_texts(record), captions),
    }


def _texts(record: Track1Record) -> list[str]:
    return [item.text for item in record.evidence_bundle if item.text]


def _draft(text: str, sources: Sources) -> Track1Record:
    if sources.paper or not sources.evidence:
        raise UserError("a paragraph is judged against its evidence: give --evidence FILE, once or more")
    return drafts.claim_record(text, sources.evidence)


def _bare(record: Track1Record) -> Track1Record:
    sentences = [SentenceLabel(sentence=one) for one in record.sentences]
    return record.model_copy(update={"sentence_label": sentences})


def _labelled(record: Track1Record, said: Mapping[int, Said]) -> Track1Record:
    """The sentences with a label; where others are left out, so is what counts them."""
    old = record.sentence_label
    types = {k: [said[k].label] if k in said else one.types for k, one in enumerate(old)}
    sentences = [{"sentence": old[k].sentence, "types": found} for k, found in types.items() if found]
    evidence = record.evidence_bundle if len(sentences) == len(old) else uncounted(record.evidence_bundle)
    dump = {**record.model_dump(), "evidence_bundle": [one.model_dump() for one in evidence]}
    return Track1Record.model_validate({**dump, "sentence_label": sentences})


CORRECTABLE = Correctable(
    statements=lambda record: record.sentences,
    evidence=lambda record: [one.model_dump_json() for one in uncounted(record.evidence_bundle)],
    said=lambda answer: answer,
    bare=_bare,
    around=lambda record: record.claim_text,
    labelled=_labelled,
)
JUDGEMENTS = Judgements(
    labels=labels.CLAIM_LABELS,
    neutral=str(labels.ClaimLabel.SUPPORTED),
    definitions=labels.CLAIM_DEFINITIONS,
    allowed=lambda gold: gold,
    statements=lambda example: list(example.sentences),
    grounds=lambda example: str(example.evidence),
    plant=planted_edits.plant_claims,
)
TRACK1: Task[Track1Record, Gold, list[str]] = Task(
    name="track1",
    record=Track1Record,
    prediction=Track1Prediction,
    program=Track1Judge,
    option_types=Track1Options.types(),
    parts=MappingProxyType({"macro_f1": "macro-F1", "pem": "paragraph exact match"}),
    score=tally_track1,
    answer=_answer,
    line=lambda answer: {"labels": list(answer)},
    problem=lambda record, answer: wrong_number(len(record.sentences), answer),
    feedback=lambda gold, answer: wrong_labels(gold, answer, labels.CLAIM_DEFINITIONS),
    fallback=lambda record: [JUDGEMENTS.neutral] * len(record.sentences),
    exhibits=lambda record, example, answer: of_bundle(record.evidence_bundle),
    shares=_shares,
    text=lambda record: record.claim_text,
    stratum=JUDGEMENTS.fault,
    submission=FlatZip("track1_pred.jsonl", nlpcc.FILES),
    judgements=JUDGEMENTS,
    rests_on=_texts,
    saved=lambda options: {"repeats": True, **options},  # as it was before the option was there
    sentences=lambda record: len(record.sentences),
    draft=_draft,
    correctable=CORRECTABLE,
)
