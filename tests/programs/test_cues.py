"""The readable signs: each alone, on sentences of our own."""

import pytest

from aisr.programs.decision import (
    CueWeights,
    causes,
    foreign_figures,
    foreign_names,
    foreign_numbers,
    measure,
    quantifiers,
)

EVIDENCE = "[table 1] Accuracy of FooNet and BAR on QuxQA: 81.2 and 79.5.\n[figure 2] Loss over 40 epochs."


@pytest.mark.parametrize(
    ("sentence", "count"),
    [
        ("FooNet beats BAR on QuxQA.", 0),
        ("FooNet beats BAZ on QuxQA.", 1),
        ("ZedNet and T5-large beat BAZ on QuxQA.", 3),
        ("AA1, BB2, CC3, DD4 and EE5 are there.", 3),  # no text makes a cue larger than 3
    ],
)
def test_names_that_the_evidence_lacks(sentence: str, count: int) -> None:
    assert foreign_names(sentence, EVIDENCE) == count


@pytest.mark.parametrize(
    ("sentence", "count"), [("81.2 against 79.5.", 0), ("81.3 against 79.5.", 1), ("No number.", 0), ("5, 6 and 7", 3)]
)
def test_numbers_that_the_evidence_lacks(sentence: str, count: int) -> None:
    assert foreign_numbers(sentence, EVIDENCE) == count


@pytest.mark.parametrize(
    ("sentence", "count"), [("See Table 1 and Fig. 2.", 0), ("See Table 2.", 1), ("figures 1 show", 1), ("a table", 0)]
)
def test_figures_that_the_evidence_lacks(sentence: str, count: int) -> None:
    assert foreign_figures(sentence, EVIDENCE) == count


def test_words_that_claim_generality_or_give_causes_are_counted() -> None:
    assert quantifiers("It is better on all tasks and across every domain.", "") == 3
    assert quantifiers("It is better on this task, overall.", "") == 0
    assert causes("It is better because of this, which suggests a mechanism.", "") == 3
    assert causes("It is better on this task.", "") == 0


@pytest.mark.parametrize("text", ["", "\x00\udcff", "9" * 50_000 + "x1", "(" * 5000, "A-" * 5000, "a1.2" * 5000])
def test_any_text_has_cues_within_their_ranges(text: str) -> None:
    assert all(0 <= value <= 3 for value in measure(text, text) + measure(text, "") + measure("Table 1", text))


def test_a_strangers_cue_is_not_repeated_at_length() -> None:
    with pytest.raises(ValueError, match="xxx") as refused:
        CueWeights(intercepts=[0.0], coefficients={"x" * 100_000: [0.0]})
    assert "x" * 81 not in str(refused.value).partition("[type=")[0]
