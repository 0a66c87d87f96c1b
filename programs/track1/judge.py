"""Track 1: one label a sentence of a claim paragraph, against an evidence bundle."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import dspy

from aisr.programs.asking import stated
from aisr.programs.asking.label_probabilities import Judgement
from aisr.programs.asking.steps import Steps
from aisr.programs.base import LabelOptions
from aisr.programs.labels import CLAIM_LABELS
from aisr.programs.sentences import SentenceJudge, without_pictures
from aisr.programs.text.sanitize import clean, item
from aisr.programs.track1.prompt import Unit, signature_of
from aisr.programs.track1.record import Track1Record
from aisr.programs.vision import evidence_bundle as bundle
from aisr.programs.vision.images import Exhibits, Picture


@dataclass(frozen=True, kw_only=True)
class Track1Options(LabelOptions):
    """The options of a Track 1 judge."""

    unit: Unit = field(
        default="paragraph",
        metadata={"help": "Whether a call judges all sentences of a `paragraph`, or one `sentence`."},
    )
    evidence: bundle.Form = field(default="caption", metadata={"help": bundle.FORM_HELP})


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
        text, pictures = bundle.render(record.evidence_bundle, self.options.evidence, self.gallery, record.id)
        inputs: dict[str, Any] = {"evidence": text, "sentences": [item(clean(said)) for said in record.sentences]}
        if self.options.evidence == "image":
            inputs["pictures"] = pictures
        right: dict[str, Any] = {}
        if record.gold is not None:
            right = {"gold": record.gold, "sentence_labels": [types[0] for types in record.gold]}
        return self.example(record, inputs, right)

    def demo_rows(self, example: dspy.Example) -> list[dspy.Example]:
        """A labelled example as demos of the judging predictor: itself, or a row a sentence; never with pictures."""
        if self.whole:
            return [example]
        given = {"evidence": example.evidence, "paragraph": " ".join(example.sentences)}
        own = {"sentence": "sentences", "sentence_label": "sentence_labels", stated.FIELD: stated.FIELD}
        rows = []
        for k in range(len(example.sentences)):
            row = {name: example[of][k] for name, of in own.items() if of in example}
            rows.append(dspy.Example(**given, **row).with_inputs("evidence", "paragraph", "sentence"))
        return rows

    def steps(self, evidence: str, sentences: list[str], pictures: Sequence[Picture] = ()) -> Steps[dspy.Prediction]:
        """`sentence_labels`: one label a sentence; `judgements`: what is thought of each (see
        `aisr.programs.asking.label_probabilities`)."""
        shown: str | Exhibits = evidence
        if self.options.evidence == "image":
            shown = Exhibits(text=evidence, pictures=tuple(pictures))
        judgements: list[Judgement] = []
        if self.whole:
            judgements += yield from self.together(self.label, sentences, evidence=shown)
        else:
            paragraph = " ".join(sentences)
            for sentence in sentences:
                judgements += yield from self._sentence(shown, paragraph, sentence)
        return self.concluded(judgements, evidence, sentences)

    def _sentence(self, evidence: str | Exhibits, paragraph: str, sentence: str) -> Steps[list[Judgement]]:
        said = yield from self.labelled(
            self.label,
            sentence,
            "sentence_label",
            lambda _: None,
            {},
            evidence=evidence,
            paragraph=paragraph,
            sentence=sentence,
        )
        return without_pictures(said)
