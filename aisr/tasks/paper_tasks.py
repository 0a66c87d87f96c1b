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


def without_pictures(record: Judged) -> Judged:
    """The record away from its paper's folder: a path would lead to another picture there, or to none. Halves of
    characters, which no file of records can hold, become question marks."""
    dump = json.dumps(record.model_dump(mode="json"), ensure_ascii=False).encode("utf-8", "replace")
    bare = json.loads(dump)
    for item in bare.get("evidence_bundle", ()):
        item["img_path"] = None
    return type(record).model_validate(bare)
