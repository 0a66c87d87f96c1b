"""Which cells of a table are numbers, and what names they stand for."""

import pytest

from aisr_papers.check.layout import read_layout
from aisr_papers.recompute.numbers import find_numbers, parse_cell

CELLS = [
    ("81.1_±0.2", "81.1"), ("61.0 ± 0.3", "61.0"), ("83.9^+0.2_-0.3", "83.9"), ("80.1 (+1.2)", "80.1"),
    ("83.9^*", "83.9"), ("71.2^***", "71.2"), ("68.3^†", "68.3"), ("68.3^†,‡", "68.3"), ("79.4^a", "79.4"),
    ("79.4^a,b", "79.4"), ("79.4a", "79.4"), ("68.3_1", "68.3"), ("83.9^1", "83.9"), ("66.1 (2nd)", "66.1"),
    ("**71.2", "71.2"), ("83.9%", "83.9%"), ("9 214", "9 214"), ("0.5 (0.2, 0.8)", "0.5"),
    ("10^5", None), ("5 am", None), ("3 of 4", None), ("2×3", None), ("Wren", None), ("–", None),
]  # fmt: skip


@pytest.mark.parametrize(("cell", "number"), CELLS)
def test_a_cell_is_a_number_with_its_marks(cell: str, number: str | None) -> None:
    found = parse_cell(cell)
    assert (found.text if found else None) == number


def test_marks_in_a_sentence_are_no_part_of_its_numbers() -> None:
    numbers = [one.text for one in find_numbers("It has 83.9^*, 71.2^†, 81.1_±0.2 and T_28 (see x_1).")]
    assert numbers == ["83.9", "71.2", "81.1", "0.2"]


def test_cells_know_all_names_that_they_stand_for() -> None:
    rows = "Model | Bog | Bog\n | P | R\nBirds | Birds | Birds\n"
    rows += "Wren | 61.0 ± 0.3 | .705\nOthers | Others | Others\nBat | 1,204 | –"
    made = read_layout([line.split(" | ") for line in rows.split("\n")])
    numbers = [(row, column) for row in made.beside for column, one in enumerate(made.numbers[row]) if one]
    assert [(*made.beside[row], *made.above(column)) for row, column in numbers] == [
        ("Birds", "Wren", "Bog", "P"), ("Birds", "Wren", "Bog", "R"), ("Others", "Bat", "Bog", "P"),
    ]  # fmt: skip
