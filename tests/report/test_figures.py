"""Figures say what the numbers say."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from aisr.metrics.confidence import Interval
from aisr.metrics.judgements import reliability
from aisr.programs.labels import CITATION_LABELS, CLAIM_LABELS
from aisr.report import figures
from aisr.report.figures import Tried

S, CAUSAL, *_ = CLAIM_LABELS
TRIED = [
    Tried("uncompiled", Interval(0.2, 0.1, 0.3), 100, 300.0, True, 100),
    Tried("labeled 1", Interval(0.5, 0.4, 0.6), 200, 900.0, True, 100),
    Tried("labeled 2", Interval(0.6, 0.4, 0.8), 150, 800.0, False, 25),
    Tried("labeled 3", Interval(0.4, 0.3, 0.5), 300, 700.0, True, 100),
]


def words(figure: Figure) -> list[str]:
    """Every text in a figure."""
    return [text.get_text() for text in texts(figure)]


def texts(figure: Figure) -> list[Any]:
    """The texts that are not empty."""
    return [found for found in figure.findobj(Text) if isinstance(found, Text) and found.get_text().strip()]


def points(collection: Collection) -> list[tuple[float, ...]]:
    """Where the marks of a collection stand."""
    return [tuple(at) for at in np.asarray(collection.get_offsets())]


def line(figure: Figure, label: str) -> Any:
    (found,) = [one for one in figure.axes[0].get_lines() if one.get_label() == label]
    return found


def test_the_confusion_matrix_counts_and_has_a_column_for_failures() -> None:
    gold = [S] * 12 + [CAUSAL] * 4
    said = [S] * 10 + [CAUSAL] * 2 + [S] * 3 + [None]
    figure = figures.confusion(gold, said, CLAIM_LABELS, "track1 on test")
    placed = {text.get_position(): text.get_text() for text in figure.axes[0].texts}
    assert placed == {(0, 0): "10", (1, 0): "2", (0, 1): "3", (5, 1): "1"}
    assert "track1 on test" in words(figure)
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()][-1] == "failed"
    assert "failed" not in words(figures.confusion([S], [S], CLAIM_LABELS, ""))


def test_f1_of_both_programs_stands_at_its_place() -> None:
    before, after = {"Supported": 0.5, "Irrelevant": 0.0}, {"Supported": 0.8, "Irrelevant": 0.4}
    figure = figures.f1_by_label(before, after, ("uncompiled", "labeled 1"), "F1")
    old, new = map(points, figure.axes[0].collections[1:])
    assert old == [(50, 1), (0, 0)]
    assert new == [(80, 1), (40, 0)]
    assert {"uncompiled", "labeled 1", "80", "40", "Supported", "Irrelevant"} <= set(words(figure))


def test_the_search_curve_is_the_best_of_what_ran_to_the_end() -> None:
    figure = figures.search_curve(TRIED, "the search")
    best = line(figure, "best so far")
    assert list(best.get_xdata()) == [100, 200, 300]
    assert list(best.get_ydata()) == [20, 50, 50]
    assert "dropped, on n records" in words(figure)
    assert "n=25" in words(figure)


def test_one_candidate_is_a_point_and_no_curve() -> None:
    figure = figures.search_curve(TRIED[:1], "the search")
    assert not figure.axes[0].get_lines()
    assert "uncompiled" in words(figure)


def test_the_champion_is_ringed_where_score_meets_cost() -> None:
    figure = figures.score_by_cost(TRIED, "labeled 1", "cost")
    ring = figure.axes[0].collections[-1]
    assert points(ring) == [(900, 50)]
    assert "champion" in words(figure)


def test_reliability_is_drawn_from_bins_and_names_the_error() -> None:
    sure, right = [0.95] * 10 + [0.55] * 4, [True] * 9 + [False] + [True, False] * 2
    figure = figures.reliability_diagram(sure, right, "track1 on test")
    assert figure.axes[0].get_lines()[1].get_xydata() == pytest.approx(np.array([[55, 50], [95, 90]]))
    assert "track1 on test\nexpected calibration error 5.0" in words(figure)
    assert [(one.judgements, one.accuracy) for one in reliability(sure, right)] == [(4, 0.5), (10, 0.9)]


def test_recall_counts_records_whose_gold_is_among_the_first() -> None:
    many = figures.recall_curve({f"retriever {k}": [k, None] for k in range(1, 9)}, "recall")
    assert len([line for line in many.axes[0].lines if str(line.get_label()).startswith("retriever")]) == 8
    figure = figures.recall_curve({"BM25": [1, 3, 3, None], "dense": [2, 2, None, None]}, "recall", most=10)
    assert list(line(figure, "BM25").get_ydata()[:4]) == [25, 25, 75, 75]
    assert list(line(figure, "dense").get_ydata()[:4]) == [0, 50, 50, 50]


@pytest.mark.parametrize(
    "figure",
    [
        figures.confusion(list(CLAIM_LABELS), [*CLAIM_LABELS[:-1], None], CLAIM_LABELS, "track1 on test"),
        figures.f1_by_label({S: 0.5}, {S: 0.8}, ("uncompiled", "uncompiled with decision layer"), "F1"),
        figures.search_curve(TRIED, "the search"),
        figures.score_by_cost(TRIED, "labeled 1", "score and cost of all candidates"),
        figures.reliability_diagram([0.95, 0.55], [True, False], "track1 on test"),
        figures.recall_curve({f"retriever {k}": [k, None] for k in range(1, 9)}, "recall"),
    ],
    ids=["confusion", "f1", "search", "cost", "reliability", "recall"],
)
def test_a_thumbnail_of_300_pixels_can_be_read(figure: Figure) -> None:
    """No letter is smaller than eight pixels, and none is cut off."""
    assert min(text.get_fontsize() / 72 * 300 / figure.get_figwidth() for text in texts(figure)) > 8
    figure.draw_without_rendering()
    drawn, whole = figure.get_tightbbox(), figure.bbox_inches
    assert drawn.x0 >= whole.x0 - 0.02
    assert drawn.x1 <= whole.x1 + 0.02


def test_columns_of_the_confusion_matrix_are_initials_that_its_rows_spell_out() -> None:
    axes = figures.confusion([S], [CAUSAL], CLAIM_LABELS, "").axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["S", "UCM", "UE", "SO", "C"]
    assert axes.get_yticklabels()[1].get_text() == "Unsupported Causal\nMechanistic · UCM"


def test_figures_are_written_as_pictures_and_nothing_else_is_left(tmp_path: Path) -> None:
    drawn = {
        "confusion": figures.confusion(list(CITATION_LABELS), list(CITATION_LABELS), CITATION_LABELS, "all right"),
        "search": figures.search_curve(TRIED, "the search"),
    }
    written = figures.write(tmp_path / "figures", drawn)
    assert sorted(written) == sorted((tmp_path / "figures").iterdir())
    for file in written:
        with Image.open(file) as found:
            assert found.format == "PNG"
            assert 500 < found.width < 1000
