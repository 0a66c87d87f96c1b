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
from aisr.programs.labels import CITATION_LABELS, CLAIM_LABELS
from aisr.report import figures
from aisr.report.figures import Tried

S, CAUSAL, *_ = CLAIM_LABELS
TRIED = [
    Tried("uncompiled", Interval(0.2, 0.1, 0.3), 100, True, 100),
    Tried("labeled 1", Interval(0.5, 0.4, 0.6), 200, True, 100),
    Tried("labeled 2", Interval(0.6, 0.4, 0.8), 150, False, 25),
    Tried("labeled 3", Interval(0.4, 0.3, 0.5), 300, True, 100),
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


def test_the_search_curve_is_the_best_of_what_ran_to_the_end() -> None:
    figure = figures.search_curve(TRIED, "the search")
    best = line(figure, "best so far")
    assert list(best.get_xdata()) == [100, 200, 300]
    assert list(best.get_ydata()) == [20, 50, 50]
    assert "dropped, on n records" in words(figure)
    assert "n=25" in words(figure)
    lows_and_highs = [tuple(part[:, 1]) for one in figure.axes[0].collections[:4] for part in one.get_segments()]  # type: ignore[attr-defined]
    assert lows_and_highs == [(10, 30), (40, 60), (40, 80), (30, 50)]


def test_one_candidate_is_a_point_and_no_curve() -> None:
    figure = figures.search_curve(TRIED[:1], "the search")
    assert not figure.axes[0].get_lines()
    assert "uncompiled" in words(figure)


@pytest.mark.parametrize(
    "figure",
    [
        figures.confusion(list(CLAIM_LABELS), [*CLAIM_LABELS[:-1], None], CLAIM_LABELS, "track1 on test"),
        figures.search_curve(TRIED, "the search"),
    ],
    ids=["confusion", "search"],
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
