"""A draft held against itself: one label for each of some sentences of a paragraph."""

from collections.abc import Sequence
from typing import Any, ClassVar

import dspy
from pydantic import Field

from aisr.programs.draft.prompt import signature_of
from aisr.programs.draft.record import DRAFT_LABELS, DraftRecord
from aisr.programs.images import FORM_HELP, Exhibits, Form, Picture, render
from aisr.programs.program import LabelOptions, Program, one_each, wrong_count
from aisr.programs.text import clean, item


class DraftOptions(LabelOptions):
    """The options of a draft's program."""

    evidence: Form = Field(default="caption", description=FORM_HELP)


class DraftJudge(Program):
    """Labels sentences of one paragraph in one call, with their evidence once."""

    Options: ClassVar[type[DraftOptions]] = DraftOptions
    options: DraftOptions
    labels = DRAFT_LABELS
    statement = "sentences"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.form = self.options.evidence
        self.judge = dspy.Predict(signature_of(self.options.evidence, self.options.states))

    def prepare(self, record: DraftRecord) -> dspy.Example:
        """The record as an example: inputs `evidence`, `passage`, `sentences` and, where a model is to see them,
        `pictures`; where it is labelled, also `sentence_labels` and `gold`. Raises UserError where pictures are wanted
        and there is no gallery."""
        text, pictures = render(record.evidence_bundle, self.form, self.gallery, record.id)
        sentences = [item(clean(one.sentence)) for one in record.sentences]
        inputs: dict[str, Any] = {"evidence": text, "passage": _passage(record), "sentences": sentences}
        if self.form == "image":
            inputs["pictures"] = pictures
        gold = record.gold
        right = {} if gold is None else {"gold": gold, "sentence_labels": [labels[0] for labels in gold]}
        return self.example(record, inputs, right)

    def forward(
        self, evidence: str, passage: str, sentences: list[str], pictures: Sequence[Picture] = ()
    ) -> dspy.Prediction:
        """`sentence_labels`: one label a sentence; `judgements` of each."""
        material = Exhibits(text=evidence, pictures=tuple(pictures)) if self.form == "image" else evidence
        answer = self.ask(
            self.judge,
            " ".join(sentences),
            lambda answer: wrong_count(answer.sentence_labels, len(sentences), "labels"),
            limits=one_each(sentences),
            evidence=material,
            passage=passage,
            sentences=sentences,
        )
        judged = self.decide(answer, "sentence_labels")
        return dspy.Prediction(sentence_labels=[one.label for one in judged], judgements=judged)


def _passage(record: DraftRecord) -> str:
    """Where the sentences stand, a line a part."""
    own = "may report findings of its own" if record.own_results else "reports findings of other sections"
    parts = {
        "paper": record.title,
        "section": " > ".join(record.headings),
        "before": record.before,
        f"paragraph, which {own}": _numbered(record),
        "after": record.after,
    }
    return "\n".join(f"{name}: {item(clean(text))}" for name, text in parts.items() if text)


def _numbered(record: DraftRecord) -> str:
    """The paragraph with numbers in the place of the sentences to judge, which stand in full beside it; what stands
    there in another order, or in other words, is left as it is."""
    parts, after = [], 0
    for number, one in enumerate(record.sentences, start=1):
        place = record.paragraph.find(one.sentence, after)
        if place < 0:
            break
        parts += [record.paragraph[after:place], f"[sentence {number}]"]
        after = place + len(one.sentence)
    return "".join([*parts, record.paragraph[after:]])
