"""How likely each label is: from tokens as different models cut them, or from one answer."""

import math
from types import SimpleNamespace
from typing import Any

import dspy
import pytest

from aisr.programs.probabilities import CONFIDENCE, from_logprobs, judgements_of, read_confidence
from aisr.programs.track1 import CLAIM_LABELS, TRACK1
from aisr.programs.track2 import CITATION_LABELS
from support.scripted import claim, requests, scripted, wording, written

S, _, ENTITY, SCOPE, CONTRA = CLAIM_LABELS


def token(text: str, chance: float = 1.0, **others: float) -> Any:
    listed = {text: chance, **others}
    top = [SimpleNamespace(token=name, logprob=math.log(value)) for name, value in listed.items()]
    return SimpleNamespace(token=text, logprob=math.log(chance), top_logprobs=top)


def test_probabilities_are_read_where_the_labels_differ() -> None:
    """At the first token, or, where two labels begin alike, where the answer says which."""
    scope = [token('{"sentence_label": "'), token("Scope", 0.5, Supported=0.3, Contr=0.2), token(" Overgeneralization")]
    entity = [token("Un", 0.6, Supp=0.4), token("supported"), token(" Entity", 0.75, **{" Causal": 0.25})]
    for tokens, label, wanted in ((scope, SCOPE, [0.3, 0, 0, 0.5, 0.2]), (entity, ENTITY, [0.4, 0.15, 0.45, 0, 0])):
        judgements = from_logprobs(tokens, "sentence_label", [label], CLAIM_LABELS)
        assert judgements is not None
        (judged,) = judgements
        assert (judged.label, judged.source) == (label, "logprobs")
        assert judged.probabilities == pytest.approx(wanted)


@pytest.mark.parametrize("bad", [None, math.nan, 5.0])
def test_without_log_probabilities_of_labels_the_votes_decide(bad: object) -> None:
    good = token("Supported", 0.5, Irrelevant=0.5)
    good.top_logprobs[1].logprob = bad
    for tokens in ([good], [token("yes")], None):
        assert from_logprobs(tokens, "label", ["Supported"], CITATION_LABELS) is None


# --- Probabilities that a model states beside its labels: what is read of them, and what becomes of nonsense


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("70, Overstate 20", [0.70, 0.20, 0.05, 0.05]),
        ("0.4, Overstate 0.5", [0.40, 0.50, 0.05, 0.05]),
        ("70 %, Overstate 20 %.", [0.70, 0.20, 0.05, 0.05]),
        ("70, whatever 20", [0.70, 0.10, 0.10, 0.10]),
        ("100", [0.99, 0.01 / 3, 0.01 / 3, 0.01 / 3]),
    ],
)
def test_what_is_stated_is_read_and_the_rest_is_shared(text: Any, wanted: list[float]) -> None:
    assert read_confidence(text, S, CITATION_LABELS) == pytest.approx(wanted)


NONSENSE = ("", "very", None, "nan", "inf, Overstate 3", "-5", "-70, Overstate 20", "130", "0", "90, Overstate 60")


@pytest.mark.parametrize("text", [*NONSENSE, {"Supported": 100, "Overstate": 100, "Irrelevant": 100}, "9" * 5000])
def test_what_is_impossible_is_no_statement(text: Any) -> None:
    assert read_confidence(text, S, CITATION_LABELS) is None
    (judged,) = judgements_of({CONFIDENCE: [text]}, "label", [S], CITATION_LABELS, states=True)
    assert (judged.label, judged.source, judged.has_probabilities) == (S, "vote", False)


@pytest.mark.parametrize(
    ("value", "sources"),
    [
        (["80, Contradiction 10", "60, Supported 30"], ["stated", "stated"]),
        (["80", "probably"], ["stated", "vote"]),
        (None, ["vote", "vote"]),
    ],
)
def test_a_program_asks_for_them_and_nonsense_costs_neither_the_record_nor_a_call(
    value: Any, sources: list[str]
) -> None:
    labels = ["Supported", "Contradiction"]
    fields = {"sentence_labels": labels} | ({} if value is None else {CONFIDENCE: value})
    lm = scripted([written("Respond with a JSON object", fields)])
    program = TRACK1.build({"verbalized_confidence": True})
    with lm.context(), dspy.context(trace=[]):
        prediction = program(**program.prepare(claim(*labels)).example.inputs())
    assert prediction.sentence_labels == labels
    assert [one.source for one in prediction.judgements] == sources
    (request,) = requests(lm)
    assert "percent" in wording(request)
