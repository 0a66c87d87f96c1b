"""Which records a person is asked to label first."""

import random
from collections import Counter

from aisr.inference.judge import Outcome
from aisr.optimize.datasets.which_first import Queued, queued, which_first
from aisr.programs.asking.label_probabilities import Judgement
from aisr.tasks.context24_figures import CONTEXT24_FIGURES
from aisr.tasks.track1 import TRACK1


def test_the_least_sure_come_first_and_every_record_comes_once() -> None:
    sure = [0.9, 0.3, 0.8, 0.5]
    rows = [Queued(one, f"label {k}", k) for k, one in enumerate(sure)]
    assert which_first(rows) == [1, 3, 2, 0]
    assert which_first([]) == []


def test_no_group_comes_a_second_time_before_every_group_came_once() -> None:
    rows = [Queued(0.01 * k, "", group=0) for k in range(9)] + [Queued(0.9, "", 1), Queued(0.8, "", 2)]
    order = which_first(rows)
    assert order[:3] == [0, 10, 9]
    assert sorted(order) == list(range(11))


def test_no_predicted_label_takes_more_than_half_while_there_are_others() -> None:
    draw = random.Random(3)
    rows = [Queued(draw.random() / 2, "Overstate", k) for k in range(40)]
    rows += [Queued(0.5 + draw.random() / 2, label, 40 + k) for k, label in enumerate(["", "Irrelevant"] * 10)]
    order = which_first(rows)
    for count in range(2, 40):
        assert Counter(rows[k].label for k in order[:count])["Overstate"] <= count / 2 + 1, count
    assert {rows[k].label for k in order[45:]} == {"Overstate"}  # what is left, when the others are used up


def test_where_nothing_is_known_the_order_is_drawn_and_what_alone_is_unknown_stands_in_the_middle() -> None:
    unknown = [Queued(None, "", k) for k in range(30)]
    assert which_first(unknown, 1) == which_first(unknown, 1) != which_first(unknown, 2)
    assert which_first([Queued(0.9, "a", 0), Queued(None, "b", 1), Queued(0.1, "c", 2), Queued(0.5, "d", 3)])[::3] == [
        2,
        0,
    ]


def judgement(label: str, chance: float, source: str = "stated") -> Judgement:
    labels = TRACK1.labelled.labels
    rest = (1 - chance) / (len(labels) - 1)
    return Judgement(label, [chance if one == label else rest for one in labels], source)  # type: ignore[arg-type]


def test_a_record_is_as_sure_as_its_least_sure_sentence_and_goes_by_what_is_wrong_with_it() -> None:
    said = [judgement("Supported", 0.9), judgement("Contradiction", 0.4)]
    assert queued(TRACK1, Outcome(None, judgements=said), 7) == Queued(0.4, "Contradiction", 7)
    vote = [judgement("Supported", 0.9, "vote")]
    assert queued(TRACK1, Outcome(None, judgements=vote), 7) == Queued(None, "", 7)
    assert queued(TRACK1, Outcome(None, "no answer"), 7) == Queued(None, "", 7)
    assert queued(CONTEXT24_FIGURES, Outcome(("a",)), 7) == Queued(None, "", 7)
