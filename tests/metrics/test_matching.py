"""Which prediction belongs to which record: by id, by line, or not at all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisr.inference.score_files import Mismatch, match

GOLD = ["track1-000001", "track1-000002", "track1-000003"]


def matched(ids: list[str | None], *, numbered: bool, gold: list[str] = GOLD) -> list[str]:
    """The predictions, each named by its line, in the order of the gold records."""
    return match(gold, [f"line {k}" for k in range(1, len(ids) + 1)], ids, numbered=numbered)


@settings(deadline=None)
@given(order=st.permutations(range(6)))
def test_ids_match_in_any_order(order: list[int]) -> None:
    gold = [f"track1-p1-test-{k:06d}" for k in range(6)]
    ids = [gold[k] for k in order]
    assert match(gold, ids, ids, numbered=False) == gold


def test_running_numbers_match_by_id_where_the_predictions_carry_them() -> None:
    assert matched([GOLD[2], GOLD[0], GOLD[1]], numbered=True) == ["line 2", "line 3", "line 1"]


@pytest.mark.parametrize("numbered", [True, False])
def test_predictions_without_ids_match_by_line(numbered: bool) -> None:
    assert matched([None, None, None], numbered=numbered) == ["line 1", "line 2", "line 3"]


def test_gold_without_ids_matches_by_line() -> None:
    assert matched(["c", "a", "b"], numbered=True) == ["line 1", "line 2", "line 3"]


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([GOLD[0], GOLD[0], GOLD[1]], "ids repeat .1 times, the first 'track1-000001'"),
        ([GOLD[0], None, GOLD[2]], "prediction 2 has no id"),
    ],
)
@pytest.mark.parametrize("numbered", [True, False])
def test_ids_that_are_repeated_or_partly_missing_never_fall_back_to_lines(
    ids: list[str | None], words: str, numbered: bool
) -> None:
    with pytest.raises(Mismatch, match=words):
        matched(ids, numbered=numbered)


def test_differing_ids_are_named() -> None:
    with pytest.raises(Mismatch) as caught:
        matched([GOLD[0], GOLD[1], "track1-000009"], numbered=False)
    assert "1 gold records without a prediction (first: track1-000003)" in str(caught.value)
    assert "1 predictions without a gold record (first: track1-000009)" in str(caught.value)


@pytest.mark.parametrize("ids", [GOLD[:2], [*GOLD, "track1-000004"]], ids=["one missing", "one too many"])
def test_a_missing_or_surplus_id_is_a_mismatch(ids: list[str | None]) -> None:
    with pytest.raises(Mismatch, match="ids differ"):
        matched(ids, numbered=False)


@pytest.mark.parametrize("ids", [[None] * 2, [None] * 4, ["a", "b"]], ids=["fewer", "more", "fewer with ids"])
def test_differing_numbers_of_lines_are_a_mismatch(ids: list[str | None]) -> None:
    with pytest.raises(Mismatch, match=f"{len(ids)} predictions for 3 gold records, matched by line"):
        matched(ids, numbered=True)


def test_no_predictions_at_all_are_a_mismatch() -> None:
    with pytest.raises(Mismatch, match="0 predictions for 3"):
        matched([], numbered=False)
