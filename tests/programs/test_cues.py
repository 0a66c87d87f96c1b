"""The readable signs: each alone, on sentences of our own."""

from collections.abc import Callable

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
    ("cue", "sentence", "count"),
    [
        (foreign_names, "FooNet beats BAR on QuxQA.", 0),
        (foreign_names, "ZedNet and T5-large beat BAZ on QuxQA.", 3),
        (foreign_names, "AA1, BB2, CC3, DD4 and EE5 are there.", 3),  # no text makes a cue larger than 3
        (foreign_numbers, "81.2 against 79.5.", 0),
        (foreign_numbers, "81.3 against 79.5.", 1),
        (foreign_numbers, "5, 6 and 7", 3),
        (foreign_figures, "See Table 1 and Fig. 2.", 0),
        (foreign_figures, "See Table 2.", 1),
        (foreign_figures, "figures 1 show", 1),
        (foreign_figures, "a table", 0),
        (quantifiers, "It is better on all tasks and across every domain.", 3),
        (quantifiers, "It is better on this task, overall.", 0),
        (causes, "It is better because of this, which suggests a mechanism.", 3),
        (causes, "It is better on this task.", 0),
    ],
)
def test_what_the_evidence_lacks_and_words_of_generality_and_cause_are_counted(
    cue: Callable[[str, str], float], sentence: str, count: int
) -> None:
    assert cue(sentence, EVIDENCE) == count


@pytest.mark.parametrize("text", ["", "\x00\udcff", "9" * 50_000 + "x1", "A-" * 5000])
def test_any_text_has_cues_within_their_ranges(text: str) -> None:
    assert all(0 <= value <= 3 for value in measure(text, text) + measure(text, "") + measure("Table 1", text))


def test_a_strangers_cue_is_not_repeated_at_length() -> None:
    with pytest.raises(ValueError, match="xxx") as refused:
        CueWeights(intercepts=[0.0], coefficients={"x" * 100_000: [0.0]})
    assert "x" * 81 not in str(refused.value).partition("[type=")[0]
