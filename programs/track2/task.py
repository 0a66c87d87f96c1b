"""Track 2: one label a claim, and the paragraphs of the cited paper that show it."""

from collections.abc import Sequence
from typing import ClassVar

import dspy

from aisr.metrics.scores import Scores
from aisr.metrics.track2 import evidence_right, tally_track2
from aisr.programs.retrieval import rank
from aisr.programs.shared_evidence import claim_key, paper_keys
from aisr.programs.submission import Submission
from aisr.programs.task import Exhibit, LabelTask, Query
from aisr.programs.text import item_with_rows
from aisr.programs.track2.judge import EvidencePolicy, Track2Judge
from aisr.programs.track2.record import (
    CITATION_DEFINITIONS,
    Citation,
    CitationLabel,
    Track2Prediction,
    Track2Record,
)


class Track2Submission(Submission[Track2Record, Citation]):
    """A zip of lines with a label and evidence ids."""

    def problem(self, record: Track2Record, answer: Citation) -> str | None:
        """An id that is no paragraph of the paper."""
        unknown = [key for key in answer.evidence_para_ids if key not in record.paragraphs]
        return f"evidence_para_ids: {unknown[0]!r} is no paragraph of the cited paper" if unknown else None

    def fallback(self, record: Track2Record) -> Citation:
        """The claim is supported by the best paragraphs by BM25."""
        label = str(CitationLabel.SUPPORTED)
        return Citation(label, EvidencePolicy().choose(label, [], rank(record.claim_text, record.paragraphs)))


class Track2Task(LabelTask[Track2Record, Citation, Citation]):
    """Track 2 of the shared task."""

    name = "track2"
    record = Track2Record
    prediction = Track2Prediction
    program = Track2Judge
    definitions = CITATION_DEFINITIONS
    parts: ClassVar = {"macro_f1": "macro-F1", "joint_at_3": "Joint@3"}
    names_evidence = True
    submission = Track2Submission("track2_pred.jsonl", beside=["track1_pred.jsonl"])

    def score(self, gold: Sequence[Citation], answers: Sequence[Citation | None]) -> Scores:
        return tally_track2(gold, answers)

    def answer(self, prediction: dspy.Prediction) -> Citation:
        return Citation(str(prediction.label), list(prediction.evidence_para_ids))

    def label_answer(self, labels: Sequence[str], evidence_ids: Sequence[str]) -> Citation:
        return Citation(labels[0], list(evidence_ids))

    def gold_labels(self, gold: Citation) -> list[list[str]]:
        return [[gold.label]]

    def evidence(self, example: dspy.Example) -> str:
        return str(example.passages)

    def evidence_right(self, gold: Citation, ids: Sequence[str]) -> bool:
        return evidence_right(gold.evidence_para_ids, ids)

    def text(self, record: Track2Record) -> str:
        return record.claim_text

    def feedback(self, gold: Citation, answer: Citation) -> str:
        if answer.label != gold.label:
            return f"Said {answer.label}; right is {gold.label} ({self.definitions[gold.label]})."
        if gold.evidence_para_ids and not set(gold.evidence_para_ids) & set(answer.evidence_para_ids):
            return f"The label is right, but the deciding paragraphs are {', '.join(gold.evidence_para_ids)}."
        if not gold.evidence_para_ids and answer.evidence_para_ids:
            return "The label is right, but no paragraph is evidence here: the list should be empty."
        return "Label and evidence are right."

    def shared_keys(self, record: Track2Record) -> set[str]:
        return {claim_key(record.claim_text), *paper_keys(record.paragraphs.values())}

    def long_texts(self, record: Track2Record) -> list[str]:
        return ["\n".join(record.paragraphs.values())]

    def exhibits(self, record: Track2Record, example: dspy.Example, answer: Citation | None) -> list[Exhibit]:
        """The paragraphs that the model read, that are gold or that were named, in document order. The rest of the
        paper is left out: it is 70 to 90 KB a record."""
        read = set(example.candidates)
        gold = set(record.gold.evidence_para_ids if record.gold else ())
        chosen = {key: rank for rank, key in enumerate(answer.evidence_para_ids if answer else (), start=1)}
        return [
            Exhibit(key=key, text=item_with_rows(text), shown=key in read, gold=key in gold, chosen=chosen.get(key, 0))
            for key, text in record.paragraphs.items()
            if key in read or key in gold or key in chosen
        ]

    def query(self, record: Track2Record) -> Query:
        """The claim, in the paragraphs of the paper."""
        return Query(record.claim_text, record.paragraphs, record.gold.evidence_para_ids if record.gold else ())


TRACK2 = Track2Task()
