"""Track 1: one label a sentence, against an evidence bundle."""

from collections.abc import Sequence
from typing import ClassVar

from aisr.metrics.scores import Scores
from aisr.metrics.track1 import tally_track1
from aisr.programs.sentence_tasks import Gold, SentenceSubmission, SentenceTask
from aisr.programs.shared_evidence import claim_key
from aisr.programs.track1.judge import Track1Judge
from aisr.programs.track1.record import CLAIM_DEFINITIONS, Track1Prediction, Track1Record


class Track1Task(SentenceTask[Track1Record]):
    """Track 1 of the shared task."""

    name = "track1"
    record = Track1Record
    prediction = Track1Prediction
    program = Track1Judge
    definitions = CLAIM_DEFINITIONS
    parts: ClassVar = {"macro_f1": "macro-F1", "pem": "paragraph exact match"}
    submission = SentenceSubmission("track1_pred.jsonl", beside=["track2_pred.jsonl"])

    def score(self, gold: Sequence[Gold], answers: Sequence[list[str] | None]) -> Scores:
        return tally_track1(gold, answers)

    def text(self, record: Track1Record) -> str:
        return record.claim_text

    def shared_keys(self, record: Track1Record) -> set[str]:
        """The paragraph, and what the bundle consists of."""
        return {claim_key(record.claim_text)} | super().shared_keys(record)


TRACK1 = Track1Task()
