"""The no-LM baseline: what it counts, and that it tells what wording gives away."""

from aisr.optimize.baseline import add_no_lm_baseline
from aisr.programs.track1 import TRACK1
from support import scripted


def test_wording_that_gives_the_label_away_is_found() -> None:
    """The scripted claims name their label."""
    program = TRACK1.build({})
    train, test = ([program.prepare(record) for record in scripted.corpus(TRACK1)] for _ in range(2))
    add_no_lm_baseline(TRACK1, program, train, [test])
    assert [example.baseline for example in test] == [example.sentence_labels for example in test]


def test_a_train_of_one_label_has_no_baseline() -> None:
    program = TRACK1.build({})
    rows = [program.prepare(scripted.claim("Supported", number=k)) for k in range(3)]
    add_no_lm_baseline(TRACK1, program, rows, [rows[:1]])
    assert "baseline" not in rows[0]
