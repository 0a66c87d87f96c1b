"""Tasks that label sentences, all judged by one evidence bundle."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import dspy
from typing_extensions import TypeVar

from aisr.programs.images import KINDS
from aisr.programs.records import SentenceRecord
from aisr.programs.shared_evidence import evidence_keys, picture_keys
from aisr.programs.submission import Submission
from aisr.programs.task import Exhibit, LabelTask
from aisr.programs.text import ROW, flat, rows_of

Gold = Sequence[Sequence[str]]  # the labels of each sentence
SentenceRecordT = TypeVar("SentenceRecordT", bound=SentenceRecord, default=Any)


class SentenceSubmission(Submission[SentenceRecord, list[str]]):
    """A zip of lines with one label a sentence."""

    def problem(self, record: SentenceRecord, answer: Sequence[str]) -> str | None:
        """Where the number of labels is not that of the sentences."""
        sentences = len(record.statements)
        return (
            None
            if len(answer) == sentences
            else f"{len(answer)} labels for {sentences} sentences; one label a sentence"
        )

    def fallback(self, record: SentenceRecord) -> list[str]:
        return ["Supported"] * len(record.statements)


class SentenceTask(LabelTask[SentenceRecordT, Gold, list[str]]):
    """A task with one label a sentence."""

    def answer(self, prediction: dspy.Prediction) -> list[str]:
        return [str(label) for label in prediction.sentence_labels]

    def label_answer(self, labels: Sequence[str], evidence_ids: Sequence[str]) -> list[str]:
        return list(labels)

    def gold_labels(self, gold: Gold) -> Gold:
        return gold

    def text(self, record: SentenceRecordT) -> str:
        return " ".join(record.statements)

    def feedback(self, gold: Gold, answer: list[str]) -> str:
        wrong = [
            f"Sentence {k}: said {label}; right is {' or '.join(types)} ({self.definitions[types[0]]})."
            for k, (types, label) in enumerate(zip(gold, answer, strict=True), start=1)
            if label not in types
        ]
        return " ".join(wrong) or "Every sentence is labelled right."

    def shared_keys(self, record: SentenceRecordT) -> set[str]:
        """The pictures, texts and captions of the bundle."""
        bundle = record.evidence_bundle
        captions = [caption for item in bundle for caption in (*item.table_caption, *item.image_caption)]
        return picture_keys(record.img_paths) | evidence_keys(self.long_texts(record), captions)

    def long_texts(self, record: SentenceRecordT) -> list[str]:
        """The passages of the bundle, and the tables that are given as text."""
        return [item.text for item in record.evidence_bundle if item.text]

    def exhibits(self, record: SentenceRecordT, example: dspy.Example, answer: list[str] | None) -> list[Exhibit]:
        """The items of the bundle, numbered by kind as the prompt numbers them, the rows of tables on their lines."""
        numbers: Counter[str] = Counter()
        exhibits = []
        for item in record.evidence_bundle:
            kind = KINDS[item.type]
            numbers[kind] += 1
            before, rows = rows_of(item.text)
            text = flat(ROW.join([f"{before} {item.caption}", *rows]))
            exhibits.append(Exhibit(key=f"{kind} {numbers[kind]}", text=text, picture=item.img_path))
        return exhibits
