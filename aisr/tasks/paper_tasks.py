"""The tasks whose programs judge a whole paper: its paragraphs against their floats, its citations against what they
cite, and doubted sentences against all of it."""

import json

from aisr.programs.records.draft import DraftRecord
from aisr.programs.records.track1 import Track1Record
from aisr.programs.records.track2 import Track2Record
from aisr.tasks.draft import DRAFT
from aisr.tasks.task import Task
from aisr.tasks.track1 import TRACK1
from aisr.tasks.track2 import TRACK2

CLAIMS: Task = TRACK1
CITATIONS: Task = TRACK2
WHOLE: Task = DRAFT  # the second look, at the whole paper
Judged = Track1Record | Track2Record | DraftRecord


def as_if_faultless(record: Judged) -> Judged:
    """The record as one that is labelled, with nothing wrong in it: what judging costs is measured on labelled records,
    since an answer is as long as its labels."""
    if isinstance(record, Track2Record):
        gold = {"label": CITATIONS.labelled.neutral, "evidence_para_ids": list(record.paragraphs)[:1]}
        return Track2Record.model_validate({**record.model_dump(), **gold})
    if isinstance(record, DraftRecord):
        judged = [{"sentence": one.sentence, "label": WHOLE.labelled.neutral} for one in record.sentences]
        return DraftRecord.model_validate({**record.model_dump(), "sentences": judged})
    sentences = [{"sentence": one, "types": [CLAIMS.labelled.neutral]} for one in record.sentences]
    return Track1Record.model_validate({**record.model_dump(), "sentence_label": sentences})


def without_pictures(record: Judged) -> Judged:
    """The record away from its paper's folder: a path would lead to another picture there, or to none. Halves of
    characters, which no file of records can hold, become question marks."""
    dump = json.dumps(record.model_dump(mode="json"), ensure_ascii=False).encode("utf-8", "replace")
    bare = json.loads(dump)
    for item in bare.get("evidence_bundle", ()):
        item["img_path"] = None
    return type(record).model_validate(bare)
