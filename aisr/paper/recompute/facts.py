"""What recomputing found: a statement, what it comes to, and whether the two agree."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Label(StrEnum):
    """What can be wrong with a statement that was recomputed; shown to people, and part of SARIF's rule ids."""

    DIFFERENCE = "Wrong difference"
    RATIO = "Wrong ratio"
    ORDER = "Wrong order"
    CELL = "Other number in the table"
    BOUND = "Bound broken"
    SUM = "Wrong sum"
    MEAN = "Wrong mean"
    PERCENTAGE = "Wrong percentage"
    IMPOSSIBLE = "Impossible for the sample"
    TEST = "Inconsistent test"


MEANINGS: Mapping[Label, str] = {
    Label.DIFFERENCE: "the cells or numbers that are named differ by something else",
    Label.RATIO: "the cells that are named have another ratio",
    Label.ORDER: "the table has it the other way round",
    Label.CELL: "the cell that is named holds another number",
    Label.BOUND: "a cell lies beyond what all of them are said to keep to",
    Label.SUM: "the parts add up to something else",
    Label.MEAN: "the mean of the cells is another",
    Label.PERCENTAGE: "the counts give another percentage",
    Label.IMPOSSIBLE: "no whole number of cases out of the sample gives this value (GRIM)",
    Label.TEST: "statistic, degrees of freedom and p do not fit together (as statcheck tells it)",
}


class Fact(NamedTuple):
    """One recomputation. label: its kind, named by what would be wrong; said: the words that were recomputed;
    computed: what they come to, and from what; holds: whether both agree; tables: keys of the floats it rests on;
    cells: rows and columns of the first of them that show a fault, from 0."""

    label: Label
    said: str
    computed: str
    holds: bool
    tables: tuple[str, ...] = ()
    cells: tuple[tuple[int, int], ...] = ()


def around(text: str, start: int, end: int, reach: int = 40) -> str:
    """The words around a place, whole ones."""
    begin = text.rfind(" ", 0, max(start - reach, 0)) + 1 if start > reach else 0
    last = text.find(" ", min(end + reach, len(text)))
    return " ".join(text[begin : last if last >= 0 else len(text)].split())
