"""How likely each label is: from tokens as different models cut them, or from one answer."""

import math
from types import SimpleNamespace
from typing import Any

import pytest

from aisr.programs.probabilities import from_logprobs
from aisr.programs.track1.record import CLAIM_LABELS
from aisr.programs.track2.record import CITATION_LABELS

S, CAUSAL, ENTITY, SCOPE, CONTRA = CLAIM_LABELS


def token(text: str, chance: float = 1.0, **others: float) -> Any:
    listed = {text: chance, **others}
    top = [SimpleNamespace(token=name, logprob=math.log(value)) for name, value in listed.items()]
    return SimpleNamespace(token=text, logprob=math.log(chance), top_logprobs=top)


def chances(content: list[Any], label: str, labels: tuple[str, ...] = CLAIM_LABELS) -> list[float]:
    judgements = from_logprobs(content, "sentence_label", [label], labels)
    assert judgements is not None
    (judged,) = judgements
    assert judged.label == label
    assert judged.source == "logprobs"
    assert math.fsum(judged.probabilities) == pytest.approx(1)
    return judged.probabilities


def test_the_chances_are_read_where_the_labels_first_diverge() -> None:
    tokens = [
        token('{"sentence_label": "'),
        token("Scope", 0.5, Supported=0.3, Contr=0.2),
        token(" Overgeneralization"),
        token('"}'),
    ]
    assert chances(tokens, SCOPE) == pytest.approx([0.3, 0, 0, 0.5, 0.2])


def test_what_stands_for_two_labels_is_shared_until_the_answer_says_which() -> None:
    begun = token("Un", 0.6, Supp=0.4)
    rest = [token("supported"), token(" Entity", 0.75, **{" Causal": 0.25})]
    assert chances([begun, *rest], ENTITY) == pytest.approx([0.4, 0.15, 0.45, 0, 0])
    assert chances([token("Supp", 0.4, Un=0.6), token("orted")], S) == pytest.approx([0.4, 0.3, 0.3, 0, 0])


def test_a_token_may_begin_before_the_label_and_end_behind_it() -> None:
    tokens = [
        token('{"label":'),
        token(' "Topical', 0.5, **{' "Irrelevant"}': 0.25, " Irrelevant": 0.25}),
        token(' Match"}'),
    ]
    judgements = from_logprobs(tokens, "label", ["Topical Match"], CITATION_LABELS)
    assert judgements is not None
    assert judgements[0].probabilities == pytest.approx([0, 0, 2 / 3, 1 / 3])


def test_each_label_of_a_list_has_its_own_chances_and_the_field_name_is_looked_for_first() -> None:
    tokens = [token(f"I think {S} fits. [[ ## sentence_label ## ]]\n"), token('["'), token(S, 0.9, Scope=0.1)]
    tokens += [token('", "'), token(SCOPE, 0.7, Supported=0.3), token('"]')]
    judgements = from_logprobs(tokens, "sentence_label", [S, SCOPE], CLAIM_LABELS)
    assert judgements is not None
    assert [judged.probabilities[0] for judged in judgements] == pytest.approx([0.9, 0.3])


def test_labels_that_are_not_in_the_tokens_leave_it_to_the_votes() -> None:
    assert from_logprobs([token("yes")], "label", ["Supported"], CITATION_LABELS) is None
    assert from_logprobs(None, "label", ["Supported"], CITATION_LABELS) is None


@pytest.mark.parametrize("bad", [None, math.nan, 5.0])
def test_what_is_no_log_probability_leaves_it_to_the_votes(bad: object) -> None:
    good = token("Supported", 0.5, Irrelevant=0.5)
    good.top_logprobs[1].logprob = bad
    assert from_logprobs([good], "label", ["Supported"], CITATION_LABELS) is None
