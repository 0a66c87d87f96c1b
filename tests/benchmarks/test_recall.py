"""Recall on injected errors, counted by hand."""

from benchmarks.injected_errors.score import CheckResult, first_injected, recalls, untouched

ONE = CheckResult(
    "wrens",
    {(0, 0): "number", (0, 2): "cause", (1, 0): "number"},
    frozenset({(0, 0), (0, 1), (0, 2), (2, 0), (2, 1)}),
    {(0, 0): "error", (0, 1): "warning", (0, 2): "note", (2, 0): "error"},
    [(0, 0), (2, 0), (0, 1), (0, 2)],
)


def test_recall_counts_errors_and_warnings_and_what_was_not_looked_at() -> None:
    recall = recalls([ONE])
    assert list(recall) == ["number", "cause", "all"]
    assert recall["number"] == (2, 1, 1, 1, None)
    assert recall["cause"] == (1, 1, 0, 0, None)  # a note is folded away
    assert recall["all"] == (3, 2, 1, 1, None)


def test_flags_of_untouched_sentences_are_a_share_of_those_that_were_looked_at() -> None:
    rate = untouched([ONE])
    assert (rate.judged, rate.levels) == (3, {"error": 1, "warning": 1, "note": 0})
    assert rate.flags is None


def test_the_first_of_each_list_are_counted_up_to_ten() -> None:
    assert first_injected([ONE]) == (2, 4)
    long = CheckResult("larks", {(k, 0): "name" for k in range(4, 20)}, frozenset(), {}, [(k, 0) for k in range(20)])
    assert first_injected([ONE, long]) == (2 + 6, 4 + 10)


def test_ten_or_more_have_an_interval_and_the_same_sentence_is_one_unit_of_it() -> None:
    again = recalls([ONE] * 10)["number"].share
    assert str(again) == "50.0 [9.5, 90.5]"  # Wilson's of one in two, however often these two were planted in
    rate = untouched([ONE] * 10).flags
    assert rate is not None
    assert abs(rate.value - 2 / 3) < 1e-9
