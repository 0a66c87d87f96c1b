"""Track 1: one label a sentence of a claim paragraph, against an evidence bundle."""

from collections.abc import Sequence
from typing import Any, ClassVar

import dspy
from pydantic import Field

from aisr.programs.images import FORM_HELP, Exhibits, Form, Picture, render
from aisr.programs.probabilities import CONFIDENCE, Judgement
from aisr.programs.program import LabelOptions, Program, one_each, wrong_count
from aisr.programs.text import clean, item
from aisr.programs.track1.prompt import Unit, signature_of
from aisr.programs.track1.record import CLAIM_LABELS, Track1Record


class Track1Options(LabelOptions):
    """The options of a Track 1 program."""

    unit: Unit = Field(
        default="paragraph",
        description="Whether a call judges all sentences of a `paragraph`, or one `sentence`.",
    )
    evidence: Form = Field(default="caption", description=FORM_HELP)


class Track1Judge(Program):
    """Labels the sentences of a paragraph.

    One call sees the whole paragraph and costs one prompt a record; a call a sentence suits small models and shares
    the evidence as a cached prefix.
    """

    Options: ClassVar[type[Track1Options]] = Track1Options
    options: Track1Options
    labels = CLAIM_LABELS
    statement = "sentences"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.form = self.options.evidence
        self.whole = self.options.unit == "paragraph"
        if not self.whole:
            self.statement = "sentence"
        self.label = dspy.Predict(signature_of(self.options.unit, self.options.evidence, self.options.states))

    def prepare(self, record: Track1Record) -> dspy.Example:
        """The record as an example: inputs `evidence`, `sentences` and, where a model is to see them, `pictures`; where
        it is labelled, also `sentence_labels` (the primary ones) and `gold` (all labels). Raises UserError where
        pictures are wanted and there is no gallery."""
        text, pictures = render(record.evidence_bundle, self.form, self.gallery, record.id)
        inputs: dict[str, Any] = {"evidence": text, "sentences": [item(clean(one)) for one in record.statements]}
        if self.form == "image":
            inputs["pictures"] = pictures
        right: dict[str, Any] = {}
        if record.gold is not None:
            right = {"gold": record.gold, "sentence_labels": [types[0] for types in record.gold]}
        return self.example(record, inputs, right)

    def demo_rows(self, example: dspy.Example) -> list[dspy.Example]:
        """A labelled example as demos of the judging predictor: itself, or a row a sentence; never with pictures."""
        if self.whole:
            return [example]
        shared = {"evidence": example.evidence, "paragraph": " ".join(example.sentences)}
        own = {"sentence": "sentences", "sentence_label": "sentence_labels", CONFIDENCE: CONFIDENCE}
        rows = []
        for k in range(len(example.sentences)):
            row = {name: example[of][k] for name, of in own.items() if of in example}
            rows.append(dspy.Example(**shared, **row).with_inputs("evidence", "paragraph", "sentence"))
        return rows

    def forward(self, evidence: str, sentences: list[str], pictures: Sequence[Picture] = ()) -> dspy.Prediction:
        """`sentence_labels`: one label a sentence; `judgements` of each (see `aisr.programs.probabilities`)."""
        material: str | Exhibits = evidence
        if self.form == "image":
            material = Exhibits(text=evidence, pictures=tuple(pictures))
        paragraph = " ".join(sentences)
        judged: list[Judgement] = []
        if self.whole:
            answer = self.ask(
                self.label,
                paragraph,
                lambda answer: wrong_count(answer.sentence_labels, len(sentences), "labels"),
                limits=one_each(sentences),
                evidence=material,
                sentences=sentences,
            )
            judged = self.decide(answer, "sentence_labels")
        else:
            for sentence in sentences:
                answer = self.ask(self.label, sentence, evidence=material, paragraph=paragraph, sentence=sentence)
                judged += self.decide(answer, "sentence_label")
        return dspy.Prediction(sentence_labels=[one.label for one in judged], judgements=judged)
