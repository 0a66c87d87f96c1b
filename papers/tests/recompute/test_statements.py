"""Golden cases: what a sentence says of its tables, right, wrong and undecided; what is wrong is reported, and nothing
else."""

import pytest

from aisr_papers.draft import Float
from aisr_papers.recompute.comparisons import TIMES, find_claims
from aisr_papers.recompute.grid import make_grid
from aisr_papers.recompute.numbers import WORDS, Label, Outcome
from aisr_papers.recompute.recompute import recompute
from paper_support.drafts import COSTS, PARTS, SITES, draft, table

TABLES = (table(SITES, "F1 and recall."), table(COSTS, "Cost of a night.", 2), table(PARTS, "F1 without a part.", 3))

RIGHT = [
    "At Bog, Wren's F1 is 4.3 % higher than that of Lark (Table 1).",
    "On average over the sites, Wren is 4.4 points of F1 ahead of Lark (Table 1).",
    "Without the gate, F1 drops by 5.7 points (Table 3).",
    "Relative to Lark, Wren changes F1 by 2.5 points and Recall by 4.2 points at Bog (Table 1).",
    # what another table of the paper may give is no fault
    "Wren needs 190 MB less than Lark (Table 2).",
    "Wren takes half of the time of Lark, and Lark twice as many minutes as Wren (Table 2).",
    "Lark needs 1.45 times more memory than Wren (Table 2).",
    # cells, and numbers that are none
    "At Heath, Wren reaches an F1 above 71.9 with a threshold of 0.5 (Table 1).",
]
WRONG = [
    ("At Bog, Wren is 3.5 points of F1 better than Lark (Table 1).", Label.DIFFERENCE, "61.0 − 58.5 = 2.5"),
    ("At Bog, Wren's F1 is 8.3 % higher than that of Lark (Table 1).", Label.DIFFERENCE, "which is 4.3 %"),
    ("The gain of Wren over Lark in F1 at Heath is about 30 points (Table 1).", Label.DIFFERENCE, "= 6.3"),
    ("Wren takes a third, and Lark three times as many minutes as Wren (Table 2).", Label.RATIO, "12.6 / 6.3 = 2.0"),
    ("At Heath, Wren reaches an F1 of 74.4 (Table 1).", Label.CELL, "Table 1 has 72.4 there"),
]


@pytest.mark.parametrize(("sentence", "label", "computed"), WRONG)
def test_what_the_tables_contradict_is_reported_with_what_they_have(sentence: str, label: Label, computed: str) -> None:
    wrong = [one for one in recompute(draft("We look at birds.", sentence, tables=TABLES)) if one.fact.wrong]
    assert [(one.fact.label, one.paragraph, one.sentence) for one in wrong] == [(label, 0, 1)]
    assert computed in wrong[0].fact.computed


LARGE = """
Model | Params | NQ | TriviaQA | WebQ | Avg.
BM25 | - | 59.1 | 66.9 | 55.0 | 60.3
DPR | 220M | 78.4 | 79.4 | 73.2 | 77.0
DPR + rerank | 440M | 80.1 | 81.3 | 75.0 | 78.8
GPT-4 (0-shot) | - | 70.3 | 83.1 | 60.2 | 71.2
GPT-4 (5-shot) | - | 72.4 | 84.0 | 63.3 | 73.2
Ours | 220M | 82.3 | 84.9 | 76.8 | 81.3
Ours w/o hard negatives | 220M | 79.0 | 81.7 | 74.1 | 78.3
"""
SPEED = "System | Latency (ms) | Index (GB)\nBM25 | 12.3 | 1.1\nDPR | 45.6 | 61.5\nOurs | 48.9 | 15.4"
WIDE = (table(LARGE, "Top-20 retrieval accuracy (%)."), table(SPEED, "Efficiency.", 2))
# Sentences as papers have them, whose numbers are of something else, or are meant otherwise than by the cells next by.
TRICKY = [
    "Compared to BM25, DPR improves accuracy by 19.3, 12.5 and 18.2 points on NQ, TriviaQA and WebQ (Table 1).",
    "Ours outperforms GPT-4 (5-shot) in three of three datasets, with gains of up to 13.5 points (Table 1).",
    "Ours is 1.1 times slower than DPR and 4 times slower than BM25 (Table 2).",
    "The error rate of Ours is 18 % lower than that of DPR on NQ (Table 1).",
    "On NQ the gap between Ours and DPR shrinks from 3.9 to 1.2 points when we double the data (Table 1).",
    "DPR trained on NQ only reaches 64.1 on WebQ when evaluated zero-shot (Table 1).",
    "Ours achieves 82.3 top-20 accuracy on NQ, while top-100 accuracy on NQ is 88.1 (Table 1).",
]


VALUES = """
Model | Alpha | Gamma
Falcon | 71.2 | 80.5
Heron (small) | 75.0 | 83.9
Kite (ours) | 77.1 | 85.3
"""
NIGHTS = "Site | Recorders | Nights | Calls\nBog | 5 | 41 | 9214\nHeath | 4 | 38 | 6870\nMarsh | 3 | 29 | 3455"
CELLS = (table(VALUES, "Accuracy."), table(NIGHTS, "Counts.", 2))
OTHER_NUMBERS = [
    # of another row, the commonest slip, and of another column
    ("Falcon scores 83.9 on Gamma (Table 1).", "Table 1 has 80.5 there (Falcon, Gamma); 83.9 is that of Heron (small)"),
    ("Heron reaches 75.0 on Gamma (Table 1).", "Table 1 has 83.9 there (Heron (small), Gamma); 75.0 is that of Alpha"),
    ("We reach 83.9 on Gamma (Table 1).", "Table 1 has 85.3 there (Kite (ours), Gamma); 83.9 is that of Heron (small)"),
    ("Kite leads with 85.3 on Gamma, ahead of Falcon (83.9) and Heron (Table 1).", "Table 1 has 80.5 there"),
    # whole numbers
    ("At Heath, there were 48 nights (Table 2).", "Table 2 has 38 there (Heath, Nights)"),
]
NO_OTHER_NUMBERS = [
    "Falcon trails the baseline of 83.9 on Gamma (Table 1).",
    "Trained on Gamma, Falcon reaches 71.2 on Alpha (Table 1).",
    "With T = 0.7, Falcon scores 0.805 on Gamma (Table 1).",
    "Kite attains the best Alpha (77.1) and Gamma (85.3), second only to Heron at 83.9 in small ones (Table 1).",
    "Kite has the highest overall score (88.1), and with it the highest Gamma (85.3) (Table 1).",
    "Bog had 12 of its 41 nights in rain (Table 2).",
    "At Bog, calls were tripling the nights (Table 2).",
]


@pytest.mark.parametrize(("sentence", "computed"), OTHER_NUMBERS)
def test_a_number_is_held_against_the_cell_that_its_row_and_column_name(sentence: str, computed: str) -> None:
    (wrong,) = (one.fact for one in recompute(draft(sentence, tables=CELLS)) if one.fact.wrong)
    assert (wrong.label, wrong.computed[: len(computed)]) == (Label.CELL, computed)


NO_FAULTS = [
    *((sentence, TABLES) for sentence in RIGHT),
    *((sentence, WIDE) for sentence in TRICKY),
    *((sentence, CELLS) for sentence in NO_OTHER_NUMBERS),
]


@pytest.mark.parametrize(("sentence", "tables"), NO_FAULTS)
def test_what_the_tables_support_and_what_may_be_meant_otherwise_is_no_finding(
    sentence: str, tables: tuple[Float, ...]
) -> None:
    assert [one.fact for one in recompute(draft(sentence, tables=tables)) if one.fact.wrong] == []


def test_it_stands_for_the_row_that_the_sentence_before_begins_with() -> None:
    facts = recompute(draft("Falcon is small (Table 1).", "It scores 83.9 on Gamma and 71.2 on Alpha.", tables=CELLS))
    assert [(one.sentence, one.fact.outcome) for one in facts] == [(1, Outcome.WRONG), (1, Outcome.HOLDS)]


def test_what_cannot_be_decided_is_kept_with_its_cells() -> None:
    (fact,) = recompute(draft("Compared with others, Falcon is at 74.4 on Gamma (Table 1).", tables=CELLS))
    assert (fact.fact.outcome, fact.fact.tables, fact.fact.cells) == (Outcome.UNDECIDED, ("tab:1",), ((1, 2),))


CHANGES = [
    ("Loss fell from 8.8 to 5.6, a reduction of 36 %.", Outcome.HOLDS, "5.6 − 8.8 = −3.2, which is −36.4 %"),
    ("Accuracy rose from 80 % to 90 %, an improvement of 50 %.", Outcome.HOLDS, "which is −50.0 % of the errors"),
    ("Accuracy rose from 80 % to 90 %, a reduction of 50 % in error.", Outcome.UNDECIDED, "90 − 80 = 10"),
    ("F1 is 52.5 % compared to 33.2 % for Lark, an improvement of 19.3 %.", Outcome.HOLDS, "33.2 − 52.5 = −19.3"),
    ("Time fell from 60 to 20, a 3-fold drop.", Outcome.HOLDS, "60 / 20 = 3.0"),
    ("Time went from 20.0 to 60.0, a 3-fold drop.", Outcome.WRONG, "60.0 − 20.0 = 40.0"),
    ("Memory fell from 2 GB to 500 MB, a reduction of 75 %.", Outcome.UNDECIDED, "the units differ: GB and MB"),
]


@pytest.mark.parametrize(("sentence", "outcome", "computed"), CHANGES)
def test_a_change_is_shown_by_the_reading_that_the_sentence_means(
    sentence: str, outcome: Outcome, computed: str
) -> None:
    (fact,) = recompute(draft(sentence))
    assert (fact.fact.outcome, fact.fact.computed[-len(computed) :]) == (outcome, computed)


SIDES = [
    # amount and direction agree
    ("At Bog, Lark is behind Wren by 2.5 points of F1 (Table 1).", Outcome.HOLDS),
    ("Compared with Lark, Wren reduces the minutes by 50 % (Table 2).", Outcome.HOLDS),
    ("Wren is twice as fast as Lark in minutes (Table 2).", Outcome.HOLDS),
    ("Relative to Wren, Lark changes Recall by -4.2 points at Bog (Table 1).", Outcome.HOLDS),
    ("The gate is worth 5.7 points (Table 3).", Outcome.HOLDS),
    # the same the other way round
    ("At Bog, Lark is ahead of Wren by 2.5 points of F1 (Table 1).", Outcome.WRONG),
    ("Wren takes twice as many minutes as Lark (Table 2).", Outcome.WRONG),
    ("Lark is twice as fast as Wren in minutes (Table 2).", Outcome.WRONG),
    ("From Heath to Bog, the F1 of Wren rises by 11.4 points (Table 1).", Outcome.WRONG),
    ("Taking out the prior costs most, 5.7 points (Table 3).", Outcome.WRONG),
    ("Minutes drop from 6.3 to 12.6 (Table 2).", Outcome.WRONG),
    ("Recall went from 74.4 to 71.2, an increase of 3.2 points.", Outcome.WRONG),
    ("The error went from 74.4 to 71.2, an improvement of 3.2 points.", Outcome.UNDECIDED),
    # which of two is meant, or whether larger is better, is not plain
    ("At Bog, the F1 of Wren and Lark differ, and one is better by 2.5 points (Table 1).", Outcome.UNDECIDED),
    ("At Bog, Wren would be 2.5 points of F1 behind Lark (Table 1).", Outcome.UNDECIDED),
    ("Lark is 1.45 times more efficient than Wren in Memory (Table 2).", Outcome.UNDECIDED),
    ("The gate improves F1 by 5.7 points (Table 3).", Outcome.UNDECIDED),
]


@pytest.mark.parametrize(("sentence", "outcome"), SIDES)
def test_the_words_say_which_of_two_is_larger(sentence: str, outcome: Outcome) -> None:
    assert [one.fact.outcome for one in recompute(draft(sentence, tables=TABLES))] == [outcome]


@pytest.mark.parametrize("word", [*TIMES, *(f"{count} times" for count in WORDS)])
def test_every_word_for_a_factor_has_its_number(word: str) -> None:
    (claim,) = find_claims(f"Larks call {word} as often as wrens.")
    assert claim.number.value == (TIMES.get(word) or WORDS[word.split()[0]])


def test_captions_are_held_against_their_own_cells() -> None:
    rows = "Detector | Recall\nWren | 70.5\nLark | 66.3"
    (fact,) = recompute(draft("We look at birds.", tables=(table(rows, "Wren is 9.2 points ahead of Lark."),)))
    assert (fact.fact.label, fact.fact.wrong, fact.float, fact.paragraph) == (Label.DIFFERENCE, True, "tab:1", None)


def test_a_sentence_about_a_figure_or_of_others_is_not_held_against_tables() -> None:
    sentence = "At Bog, Wren is 3.5 points better than Lark (Table 1)."
    assert not any(one.fact.wrong for one in recompute(draft(sentence, tables=TABLES, work_keys=("obi",))))
    figure = Float("fig:1", "Figure 1", "figure", "Rain.", TABLES[0].place)
    assert recompute(draft(sentence.replace("Table", "Figure"), tables=(*TABLES, figure))) == []
    of_others = table("Detector | Recall\nWren | 70.5\nLark | 66.3", "Wren is 9.2 points ahead of Lark (Obi, 2022).")
    assert recompute(draft("We look at birds.", tables=(of_others,))) == []


def test_a_paragraph_of_shares_takes_as_long_as_it_is() -> None:
    shares = [f"Item {k} was liked by 37 of 120 people (30.8 %)." for k in range(3_000)]
    assert len(recompute(draft(*shares))) == len(shares)


# --- Golden cases: sums and means that a table shows by itself

CORPUS = "Site | Recorders | Nights | Calls\nBog | 5 | 41 | 9 214\nHeath | 4 | 38 | 6 870\nMarsh | 3 | 29 | 3 455\n"


def wrong(rows: str) -> list[tuple[Label, str]]:
    facts = recompute(draft("We look at birds.", tables=(table(rows, "Counts."),)))
    return [(one.fact.label, one.fact.computed) for one in facts if one.fact.wrong]


def test_a_total_is_the_sum_of_its_column_and_of_its_row() -> None:
    assert wrong(CORPUS + "All | 12 | 108 | 19 539") == []
    ((label, computed),) = wrong(CORPUS + "All | 12 | 118 | 19 539")
    assert (label, computed) == (Label.SUM, "the sum of the 3 cells before is 108, not 118")
    rows = "Site | Male | Female | Total\nBog | 12 | 9 | 21\nHeath | 7 | 8 | 15\nMarsh | 5 | 11 | {}"
    assert wrong(rows.format(16)) == []
    assert [label for label, _ in wrong(rows.format(19))] == [Label.SUM]


def test_a_single_column_of_counts_adds_up_unless_a_choice_of_rows_does() -> None:
    rows = "Kind | Papers\nRead | 310\nScreened | 120\nKept | 45\nTotal | {}"
    assert wrong(rows.format(475)) == []
    assert [label for label, _ in wrong(rows.format(485))] == [Label.SUM]
    assert wrong(rows.format(430)) == []  # those read and screened; the kept are among them


@pytest.mark.parametrize("last", ["All | 12 | 36 | 14.2", "Total | 5 | 41 | 9 214", "All sites | 81.0 | 70.2 | 66.6"])
def test_what_is_called_total_but_sums_nothing_up_is_no_finding(last: str) -> None:
    assert wrong(CORPUS + last) == []


def test_a_mean_is_that_of_its_column_where_the_others_show_so() -> None:
    rows = "Set | Wren | Lark | Finch\nA | 70.1 | 60.3 | 51.0\nB | 72.5 | 62.5 | 55.2\nC | 75.2 | 66.4 | 58.7\n"
    assert wrong(rows + "Average | 72.6 | 63.1 | 55.0") == []
    ((label, computed),) = wrong(rows + "Average | 72.6 | 65.1 | 55.0")
    assert (label, computed) == (Label.MEAN, "the mean of the 3 cells before is 63.1, not 65.1")
    assert wrong(rows + "Average | 74.0 | 64.2 | 57.0") == []  # weighted by size, then: no column shows a plain mean


def test_cells_know_all_names_that_they_stand_for() -> None:
    rows = "Model | Bog | Bog\n | P | R\nBirds | Birds | Birds\n"
    rows += "Wren | 61.0 ± 0.3 | .705\nOthers | Others | Others\nBat | 1,204 | –"
    made = make_grid(table(rows))
    assert made is not None
    assert [(cell.at, cell.number.value) for cell in made.cells] == [
        (("Birds", "Wren", "Bog", "P"), 61.0), (("Birds", "Wren", "Bog", "R"), 0.705),
        (("Others", "Bat", "Bog", "P"), 1204.0),
    ]  # fmt: skip
    assert make_grid(table("Word | Meaning\nWren | a bird")) is None
