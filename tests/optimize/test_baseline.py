"""The no-LM baseline: what it counts, and that it tells what wording gives away."""

import pytest

from aisr.optimize.baseline import add_baseline, overlap_features
from aisr.programs.track1 import TRACK1
from aisr.programs.track2 import TRACK2
from support import scripted

EVIDENCE = "[table 1] Accuracy of FooNet and BAR on QuxQA: 81.2 and 79.5.\n[figure 2] Loss over 40 epochs."
NAMES, NUMBERS, FIGURES, QUANTIFIERS, CAUSES = range(5)


@pytest.mark.parametrize(
    ("feature", "sentence", "count"),
    [
        (NAMES, "ZedNet and T5-large beat BAZ on QuxQA.", 3),
        (NUMBERS, "81.3 against 79.5.", 1),
        (FIGURES, "See Table 2.", 1),
        (QUANTIFIERS, "It is better on all tasks and across every domain.", 3),
        (CAUSES, "It is better because of this, which suggests a mechanism.", 3),
        *(
            (feature, "FooNet beats BAR on QuxQA: 81.2 against 79.5, see Table 1 and Fig. 2.", 0)
            for feature in range(5)
        ),
    ],
)
def test_what_the_evidence_lacks_and_words_of_generality_and_cause_are_counted(
    feature: int, sentence: str, count: int
) -> None:
    assert overlap_features(sentence, EVIDENCE)[feature] == count


def test_wording_that_gives_the_label_away_is_found() -> None:
    """The scripted claims name their label."""
    program = TRACK1.build({})
    train, test = ([program.prepare(record) for record in scripted.corpus(TRACK1)] for _ in range(2))
    add_baseline(TRACK1, program, train, [test])
    assert [example.baseline for example in test] == [example.sentence_labels for example in test]


def test_on_track_2_the_label_goes_with_evidence_of_the_ranker() -> None:
    program = TRACK2.build({})
    train, test = ([program.prepare(record) for record in scripted.corpus(TRACK2)] for _ in range(2))
    add_baseline(TRACK2, program, train, [test])
    for example in test:
        named = [] if example.baseline.label == "Irrelevant" else example.ranking[:3]
        assert example.baseline.evidence_para_ids == named


def test_a_train_of_one_label_has_no_baseline() -> None:
    program = TRACK1.build({})
    rows = [program.prepare(scripted.claim("Supported", number=k)) for k in range(3)]
    add_baseline(TRACK1, program, rows, [rows[:1]])
    assert "baseline" not in rows[0]
