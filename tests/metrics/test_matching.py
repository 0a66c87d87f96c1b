"""Which prediction belongs to which record: by id, by line, or not at all."""

import pytest

from aisr.inference.score_files import Mismatch, match

GOLD = ["track1-000001", "track1-000002", "track1-000003"]


def matched(ids: list[str | None], *, numbered: bool, gold: list[str] = GOLD) -> list[str]:
    """The predictions, each named by its line, in the order of the gold records."""
    return match(gold, [f"line {k}" for k in range(1, len(ids) + 1)], ids, numbered=numbered)


@pytest.mark.parametrize("numbered", [True, False])
def test_ids_match_in_any_order(numbered: bool) -> None:
    assert matched([GOLD[2], GOLD[0], GOLD[1]], numbered=numbered) == ["line 2", "line 3", "line 1"]


@pytest.mark.parametrize(
    ("ids", "numbered"), [([None] * 3, True), ([None] * 3, False), (["c", "a", "b"], True)], ids=["", "", "no gold ids"]
)
def test_without_ids_on_either_side_they_match_by_line(ids: list[str | None], numbered: bool) -> None:
    assert matched(ids, numbered=numbered) == ["line 1", "line 2", "line 3"]


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
    with pytest.raises(Mismatch, match="ids differ"):
        matched([*GOLD[:2]], numbered=False)


@pytest.mark.parametrize("count", [0, 2, 4])
def test_differing_numbers_of_lines_are_a_mismatch(count: int) -> None:
    with pytest.raises(Mismatch, match=f"{count} predictions for 3 gold records, matched by line"):
        matched([None] * count, numbered=True)
