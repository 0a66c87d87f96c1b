"""Track 1: one label a sentence of a claim paragraph, against an evidence bundle."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import dspy

from aisr.programs.ask import Steps
from aisr.programs.base import LabelOptions, SentenceJudge
from aisr.programs.images import FORM_HELP, Exhibits, Form, Picture, render
from aisr.programs.probabilities import CONFIDENCE, Judgement
from aisr.programs.text import clean, item
from aisr.programs.track1.prompt import Unit, signature_of
from aisr.programs.track1.record import CLAIM_LABELS, Track1Record


@dataclass(frozen=True, kw_only=True)
class Track1Options(LabelOptions):
    """The options of a Track 1 judge."""

    unit: Unit = field(
        default="paragraph",
        metadata={"help": "Whether a call judges all sentences of a `paragraph`, or one `sentence`."},
    )
    evidence: Form = field(default="caption", metadata={"help": FORM_HELP})


class Track1Judge(SentenceJudge):
    """Labels the sentences of a paragraph.

    One call sees the whole paragraph and costs one prompt a record; a call a sentence suits small models and shares
    the evidence as a cached prefix.
    """

    Options: ClassVar[type[Track1Options]] = Track1Options
    options: Track1Options
    labels = CLAIM_LABELS

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.form = self.options.evidence
        self.whole = self.options.unit == "paragraph"
        if not self.whole:
            self.statement = "sentence"
        self.label = dspy.Predict(signature_of(self.options.unit, self.options.evidence, self.options.states))

    @property
    def judging(self) -> dspy.Predict:
        """The predictor whose answer is the judgement; labelled records are demos of this one."""
        return self.label

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

    def steps(self, evidence: str, sentences: list[str], pictures: Sequence[Picture] = ()) -> Steps:
        """`sentence_labels`: one label a sentence; `judgements` of each (see `aisr.programs.probabilities`)."""
        material: str | Exhibits = evidence
        if self.form == "image":
            material = Exhibits(text=evidence, pictures=tuple(pictures))
        if self.whole:
            answer = yield self.sentences_question(self.label, sentences, evidence=material)
            return self.concluded(self.judgements(answer, "sentence_labels"))
        judged: list[Judgement] = []
        for one in sentences:
            answer = yield self.question(
                self.label, one, evidence=material, paragraph=" ".join(sentences), sentence=one
            )
            judged += self.judgements(answer, "sentence_label")
        return self.concluded(judged)
