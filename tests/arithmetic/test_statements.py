"""Golden cases: what a sentence says of its tables, right and wrong; what is wrong is found, and nothing else."""

import pytest

from aisr.arithmetic.facts import Label
from aisr.arithmetic.recompute import recomputed
from aisr.paper.draft import Float
from support.drafts import COSTS, PARTS, SITES, draft, table

TABLES = (table(SITES, "F1 and recall."), table(COSTS, "Cost of a night.", 2), table(PARTS, "F1 without a part.", 3))

RIGHT = [
    # differences: in points, of either column, rounded from unrounded values, relative
    "At Bog, Wren is 2.5 points better than Lark (Table 1).",
    "At Heath, Wren improves over Lark by 6.3 points of F1 (Table 1).",
    "At Heath, Wren improves over Lark by 6.4 points of F1 (Table 1).",
    "At Bog, Wren's F1 is 4.3 % higher than that of Lark (Table 1).",
    "On average over the sites, Wren is 4.4 points of F1 ahead of Lark (Table 1).",
    "From Bog to Heath, the F1 of Wren rises by 11.4 points (Table 1).",
    "The gain of Wren over Lark at Heath is about 6 points (Table 1).",
    "Without the gate, F1 drops by 5.7 points (Table 3).",
    # what another table of the paper may give is no fault
    "Wren needs 190 MB less than Lark (Table 2).",
    "In another experiment, 3.9 points were lost.",
    # ratios
    "Wren takes half of the time of Lark, and Lark twice as many minutes as Wren (Table 2).",
    "Wren takes 50 % of the minutes that Lark takes (Table 2).",
    "Lark needs 1.45 times more memory than Wren (Table 2).",
    # orders
    "At Heath, Wren outperforms Lark (Table 1).",
    "Wren does not outperform Lark when it rains (Table 1).",
    "Lark would outperform Wren if it knew the wind (Table 1).",
    # cells, and numbers that are none
    "At Heath, Wren reaches an F1 of 72.4 (Table 1).",
    "At Heath, Wren reaches an F1 of 72 (Table 1).",
    "At Heath, Wren reaches an F1 above 71.9 with a threshold of 0.5 (Table 1).",
    # ranges, bounds, counts
    "Over all detectors, F1 at Bog ranges from 49.2 to 61.0 (Table 1).",
    "The F1 of Finch never exceeds 52 (Table 1).",
    "Wren outperforms Lark at both sites, in two of two cases (Table 1).",
    "Table 1 compares three detectors.",
]
WRONG = [
    ("At Bog, Wren is 3.5 points of F1 better than Lark (Table 1).", Label.DIFFERENCE, "61.0 − 58.5 = 2.5"),
    ("At Heath, Wren improves over Lark by 8.3 points of F1 (Table 1).", Label.DIFFERENCE, "72.4 − 66.1 = 6.3"),
    ("At Bog, Wren's F1 is 8.3 % higher than that of Lark (Table 1).", Label.DIFFERENCE, "which is 4.3 %"),
    ("The gain of Wren over Lark in F1 at Heath is about 30 points (Table 1).", Label.DIFFERENCE, "= 6.3"),
    ("Without the prior, F1 drops by 5.7 points (Table 3).", Label.DIFFERENCE, "prior, Change: -0.7"),
    ("Wren takes a third, and Lark three times as many minutes as Wren (Table 2).", Label.RATIO, "12.6 / 6.3 = 2.0"),
    ("Wren takes 70 % of the minutes that Lark takes (Table 2).", Label.RATIO, "6.3 / 12.6 = 50 %"),
    ("At Heath, Lark outperforms Wren in F1 (Table 1).", Label.ORDER, "Lark, Heath, F1: 66.1"),
    ("At Bog, Lark is ahead of Wren by 2.5 points of F1 (Table 1).", Label.ORDER, "Wren, Bog, F1: 61.0"),
    ("Lark needs fewer minutes than Finch (Table 2).", Label.ORDER, "Finch, Minutes: 0.4"),
    ("At Heath, Wren reaches an F1 of 74.4 (Table 1).", Label.CELL, "Table 1 has 72.4 there"),
    ("Over all detectors, F1 at Bog ranges from 49.2 to 64.0 (Table 1).", Label.RANGE, "49.2 to 61.0 in Table 1"),
    ("The F1 of Finch never exceeds 50 (Table 1).", Label.BOUND, "Finch, Heath, F1: 51.3"),
    ("In F1, Lark outperforms Finch on one of two sites (Table 1).", Label.COUNT, "in 2 of 2"),
    ("Table 1 compares all five detectors.", Label.COUNT, "3 rows below 'Detector'"),
]


@pytest.mark.parametrize("said", RIGHT)
def test_what_the_tables_bear_out_is_no_finding(said: str) -> None:
    assert [one for one in recomputed(draft(said, tables=TABLES)) if not one.fact.holds] == []


@pytest.mark.parametrize(("said", "label", "computed"), WRONG)
def test_what_the_tables_contradict_is_found_with_what_they_have(said: str, label: Label, computed: str) -> None:
    wrong = [one for one in recomputed(draft("We look at birds.", said, tables=TABLES)) if not one.fact.holds]
    assert [(one.fact.label, one.paragraph, one.sentence) for one in wrong] == [(label, 0, 1)]
    assert computed in wrong[0].fact.computed


def test_a_statement_that_holds_is_a_fact_for_others_to_use() -> None:
    (found,) = recomputed(draft("At Bog, Wren is 2.5 points of F1 better than Lark (Table 1).", tables=TABLES))
    assert found.fact.holds
    assert found.fact.computed == "61.0 − 58.5 = 2.5 in Table 1 (Wren, Bog, F1 against Lark, Bog, F1)"
    assert found.fact.tables == ("tab:1",)


CAPTIONS = [
    ("Pairs of birds. All p > .3.", "Pair | r | p\nWren, Lark | .21 | .41\nWren, Finch | .35 | .19", Label.BOUND),
    ("Recall of five detectors.", "Detector | Recall\nWren | 70.5\nLark | 66.3\nFinch | 60.7", Label.COUNT),
    (
        "Wren is 9.2 points ahead of Lark.",
        "Detector | Recall\nWren | 70.5\nLark | 66.3\nFinch | 60.7",
        Label.DIFFERENCE,
    ),
    ("Of 12 nights 5 (61.7 %) of 12 were wet.", "Detector | Recall\nWren | 70.5\nLark | 66.3", Label.PERCENTAGE),
]


@pytest.mark.parametrize(("caption", "rows", "label"), CAPTIONS)
def test_captions_are_held_against_their_own_cells(caption: str, rows: str, label: Label) -> None:
    (found,) = recomputed(draft("We look at birds.", tables=(table(rows, caption),)))
    assert (found.fact.label, found.fact.holds, found.float, found.paragraph) == (label, False, "tab:1", None)


def test_a_caption_that_its_cells_bear_out_is_no_finding() -> None:
    rows = "Pair | r | p\nWren, Lark | .21 | .41\nWren, Finch | .35 | .39"
    (found,) = recomputed(draft("We look at birds.", tables=(table(rows, "Pairs. All p > .3."),)))
    assert found.fact.holds


def test_a_sentence_about_a_figure_or_of_others_is_not_held_against_tables() -> None:
    said = "At Bog, Wren is 3.5 points better than Lark (Table 1)."
    cited = draft(said, tables=TABLES, cites=("obi",))
    assert not any(not one.fact.holds for one in recomputed(cited))
    figure = Float("fig:1", "Figure 1", "figure", "Rain.", TABLES[0].place)
    shown = draft("At Bog, Wren is 3.5 points better than Lark (Figure 1).", tables=(*TABLES, figure))
    assert recomputed(shown) == []
