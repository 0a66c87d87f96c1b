"""Which records a person is asked to label first."""

import random
from collections import Counter

from aisr.optimize.datasets.which_first import Queued, queued, which_first
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


def test_a_record_goes_by_the_first_thing_that_is_wrong_with_it() -> None:
    assert queued(TRACK1, ["Supported", "Contradiction"], 0.4, 7) == Queued(0.4, "Contradiction", 7)
    assert queued(TRACK1, ["Supported"], None, 7) == Queued(None, "", 7)
    assert queued(TRACK1, [], None, 7) == Queued(None, "", 7)
