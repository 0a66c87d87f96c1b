"""A draft held against itself: one label for each of some sentences of a paragraph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import dspy

from aisr.programs.asking import stated
from aisr.programs.asking.ask import as_text_in_trace, wrong_count
from aisr.programs.asking.steps import Steps
from aisr.programs.decision.layer import LM, Decision, decide
from aisr.programs.errors import UserError
from aisr.programs.judges.mould import LabelJudge
from aisr.programs.judges.options import LabelOptions
from aisr.programs.labels import DRAFT_LABELS
from aisr.programs.records.draft import DraftRecord
from aisr.programs.signatures.draft import signature_of
from aisr.programs.text.clean import clean
from aisr.programs.text.sanitize import item
from aisr.programs.vision import evidence_bundle as bundle
from aisr.programs.vision.images import Exhibits, Picture

FORMS = ("caption", "ocr", "image")


@dataclass(frozen=True, kw_only=True)
class DraftOptions(LabelOptions):
    """evidence: what of a picture the model gets, its `caption`, or besides the text read from it (`ocr`) or the pixels
    (`image`)."""

    evidence: bundle.Form = "caption"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.evidence not in FORMS:
            raise UserError(f"evidence is {self.evidence!r}; one of: {', '.join(FORMS)}")


class DraftJudge(LabelJudge):
    """Labels sentences of one paragraph in one call: what they are held against is shown once."""

    Given: ClassVar[type[DraftOptions]] = DraftOptions
    given: DraftOptions
    labels = DRAFT_LABELS
    statement = "sentences"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.judge = dspy.Predict(signature_of(self.given.evidence, self.given.states))

    def prepare(self, record: DraftRecord) -> dspy.Example:
        """The record as an example: inputs `evidence`, `passage`, `sentences` and, where a model is to see them,
        `pictures`; where it is labelled, also `sentence_labels` and `gold`. Raises UserError where pictures are wanted
        and there is no gallery."""
        text, pictures = bundle.render(
            record.evidence_bundle, self.given.evidence, self.gallery, record.id, repeats=False
        )
        said = [item(clean(one.sentence)) for one in record.sentences]
        inputs: dict[str, Any] = {"evidence": text, "passage": _passage(record), "sentences": said}
        if self.given.evidence == "image":
            inputs["pictures"] = pictures
        gold = record.gold
        right = {} if gold is None else {"gold": gold, "sentence_labels": [labels[0] for labels in gold]}
        return self.example(record, inputs, right)

    def steps(
        self, evidence: str, passage: str, sentences: list[str], pictures: Sequence[Picture] = ()
    ) -> Steps[dspy.Prediction]:
        """`sentence_labels`: one label a sentence; `judgements`: what is thought of each."""
        shown = Exhibits(text=evidence, pictures=tuple(pictures)) if self.given.evidence == "image" else evidence
        count = len(sentences)
        slots = {"minItems": count, "maxItems": count}
        said = yield from self.labelled(
            self.judge,
            " ".join(sentences),
            "sentence_labels",
            lambda prediction: wrong_count(prediction.sentence_labels, count, "labels"),
            {"sentence_labels": slots, stated.FIELD: slots},
            evidence=shown,
            passage=passage,
            sentences=sentences,
        )
        as_text_in_trace(said.answers[0], "evidence")
        judged = {LM: dspy.Prediction(judgements=said.judgements)}
        return self.conclude(self.decision, judged, evidence=evidence, sentences=sentences)

    @staticmethod
    def conclude(
        decision: Decision | None, said: Mapping[str, dspy.Prediction], *, evidence: str, sentences: list[str], **_: Any
    ) -> dspy.Prediction:
        """What `forward` gives, from the `judgements` of one model or several, by their names."""
        judged = decide(decision, sentences, evidence, {name: one.judgements for name, one in said.items()})
        return dspy.Prediction(sentence_labels=[judgement.label for judgement in judged], judgements=judged)


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
    """The paragraph with numbers in the place of the sentences to judge, which are shown in full beside it; what stands
    there in another order, or in other words, is left as it is."""
    shown, after = [], 0
    for number, one in enumerate(record.sentences, start=1):
        place = record.paragraph.find(one.sentence, after)
        if place < 0:
            break
        shown += [record.paragraph[after:place], f"[sentence {number}]"]
        after = place + len(one.sentence)
    return "".join([*shown, record.paragraph[after:]])
