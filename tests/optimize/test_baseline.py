"""The no-LM baseline: what it counts, and that it tells what wording gives away."""

from aisr.optimize.baseline import with_no_lm_baseline
from aisr.programs.track1 import TRACK1
from support import scripted


def test_wording_that_gives_the_label_away_is_found() -> None:
    """The scripted claims name their label."""
    program = TRACK1.build({})
    cases = scripted.cases(TRACK1, program)
    test = with_no_lm_baseline(TRACK1, program, {"train": cases, "test": cases})["test"]
    for case in test:
        assert case.baseline == case.example.sentence_labels


def test_a_train_of_one_label_has_no_baseline() -> None:
    program = TRACK1.build({})
    cases = [program.prepare(scripted.claim("Supported", number=k)) for k in range(3)]
    assert with_no_lm_baseline(TRACK1, program, {"train": cases, "test": cases})["test"] == cases
