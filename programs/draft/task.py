"""A draft and itself: sentences of a paragraph, judged by what the rest of the paper says of them."""

from collections.abc import Sequence
from typing import ClassVar

from aisr.metrics.draft import tally_draft
from aisr.metrics.scores import Scores
from aisr.programs.draft.judge import DraftJudge
from aisr.programs.draft.record import DRAFT_DEFINITIONS, DraftPrediction, DraftRecord
from aisr.programs.sentence_tasks import Gold, SentenceSubmission, SentenceTask
from aisr.programs.text import alike


class DraftTask(SentenceTask[DraftRecord]):
    """Sentences of a draft against the draft."""

    name = "draft"
    record = DraftRecord
    prediction = DraftPrediction
    program = DraftJudge
    definitions = DRAFT_DEFINITIONS
    parts: ClassVar = {"macro_f1": "macro-F1", "exact": "all sentences of a record right"}
    submission = SentenceSubmission("draft_pred.jsonl")  # no server takes it; a zip like any other

    def score(self, gold: Sequence[Gold], answers: Sequence[list[str] | None]) -> Scores:
        """The mean of macro-F1 and exact match."""
        return tally_draft(gold, answers)

    def shared_keys(self, record: DraftRecord) -> set[str]:
        """The paper, the pictures and the tables; passages of one paper are its own."""
        title = {f"title:{''.join(alike(record.title).split())}"} if record.title else set()
        return title | super().shared_keys(record)


DRAFT = DraftTask()
