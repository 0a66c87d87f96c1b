"""Judges of sentences that stand together and are held against the same evidence."""

from typing import Any

import dspy

from aisr.programs.asking import stated
from aisr.programs.asking.ask import as_text_in_trace, wrong_count
from aisr.programs.asking.label_probabilities import Judgement
from aisr.programs.asking.steps import Steps
from aisr.programs.base import LabelJudge, Said
from aisr.programs.decision.layer import decide

LABELS = "sentence_labels"


class SentenceJudge(LabelJudge):
    """A judge whose examples have the inputs `evidence` and `sentences`, and whose answer is a label for each."""

    statement = "sentences"

    def together(self, predict: dspy.Predict, sentences: list[str], **inputs: Any) -> Steps[list[Judgement]]:
        """What is thought of each sentence, where `predict` labels all of them in one call."""
        count = len(sentences)
        slots = {"minItems": count, "maxItems": count}

        said = yield from self.labelled(
            predict,
            " ".join(sentences),
            LABELS,
            lambda answer: wrong_count(answer[LABELS], count, "labels"),
            {LABELS: slots, stated.FIELD: slots},
            **inputs,
            sentences=sentences,
        )
        return without_pictures(said)

    def concluded(self, judgements: list[Judgement], evidence: str, sentences: list[str]) -> dspy.Prediction:
        """What `forward` gives, from what the LM thinks of each sentence."""
        judged = decide(self.decision, sentences, evidence, judgements)
        return dspy.Prediction(sentence_labels=[judgement.label for judgement in judged], judgements=judged)


def without_pictures(said: Said) -> list[Judgement]:
    """The judgements; what stays of the call in DSPy's trace, where demos are taken from, holds no picture."""
    as_text_in_trace(said.answer, "evidence")
    return said.judgements
