"""Pictures of a compile or an evaluation, readable as thumbnails of 300 pixels and by any eye.

Colours are those of Okabe and Ito (2008), and nothing is told by colour alone. matplotlib is used through its objects,
without pyplot: no state is shared and no window is opened.
"""

import io
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aisr.base.files import write_whole
from aisr.metrics.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, VERMILION, PURPLE, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#8A8F98"
INK = "#222222"
DPI = 150
LEAST_SPAN = 10  # points of the ranking score that an axis shows at least
FAILED = "failed"


class ScoredCandidate(NamedTuple):
    """A candidate: its ranking score with interval in 0-1, the LM calls that were asked for until it was known (sent or
    cached), whether it ran to the end of the race, and on how many records of dev it was scored."""

    name: str
    score: Interval
    calls: int
    finished: bool
    records: int


def confusion(gold: Sequence[str], predicted: Sequence[str | None], labels: Sequence[str], title: str) -> "Figure":
    """How often each gold label was given each label; None in `predicted` is a failure. Shades are shares of a row."""
    columns = [*labels, FAILED] if None in predicted else list(labels)
    counts = np.zeros((len(labels), len(columns)), dtype=np.int64)
    for wanted, label in zip(gold, predicted, strict=True):
        counts[labels.index(wanted), columns.index(label or FAILED)] += 1
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    figure, axes = _axes(title, height=3.9)
    axes.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for row, column in np.ndindex(counts.shape):
        if counts[row, column]:
            strong = share[row, column] > 0.55
            weight = "bold" if row == column else "normal"
            axes.text(
                column, row, str(counts[row, column]), ha="center", va="center", weight=weight,
                color="white" if strong else INK, fontsize=15,
            )  # fmt: skip
    # Columns by initials, which the rows spell out: whole names would lie across each other.
    axes.set_xticks(range(len(columns)), [_initials(name) for name in columns])
    axes.set_yticks(range(len(labels)), [f"{_wrapped(name)} · {_initials(name)}" for name in labels], fontsize=11)
    axes.set_xlabel("predicted")
    axes.set_ylabel("gold")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return figure


def search_curve(candidates: Sequence[ScoredCandidate], title: str) -> "Figure":
    """The best ranking score on dev by the LM calls asked for. Each candidate is a point with its 95 % interval, hollow
    and with the number of its records where it was dropped: what it scored on these is not to be held against scores on
    all of dev."""
    done = sorted((one for one in candidates if one.finished), key=lambda one: one.calls)
    best = np.maximum.accumulate([100 * one.score.value for one in done])
    figure, axes = _axes(title)
    if len(done) > 1:
        axes.step([one.calls for one in done], best, where="post", color=BLUE, linewidth=2.5, label="best so far")
    for one in candidates:
        axes.vlines(one.calls, 100 * one.score.low, 100 * one.score.high, color="#c9ced6", linewidth=2, zorder=1)
    _points(axes, candidates)
    axes.set_xlabel("LM calls, sent or from the cache")
    axes.set_ylabel("ranking score on dev")
    _legend(figure, axes)
    return figure


def write(folder: Path, figures: Mapping[str, "Figure"]) -> list[Path]:
    """Write each figure as NAME.png into a folder, whole or not at all; the files."""
    written = []
    for name, figure in figures.items():
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=DPI, facecolor="white")
        written.append(folder / f"{name}.png")
        write_whole(written[-1], content.getvalue())
    return written


def _axes(title: str, width: float = 5.2, height: float = 3.7) -> tuple["Figure", "Axes"]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, loc="left", fontsize=14, color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=12, colors=INK)
    axes.xaxis.label.set_fontsize(12)
    axes.yaxis.label.set_fontsize(12)
    return figure, axes


def _points(axes: "Axes", candidates: Sequence[ScoredCandidate]) -> None:
    kinds: tuple[tuple[bool, str, dict[str, Any]], ...] = (
        (True, "candidate", {"color": BLUE}),
        (False, "dropped, on n records", {"facecolor": "white", "edgecolor": GREY, "linewidth": 2}),
    )
    for finished, name, look in kinds:
        chosen = [(one.calls, 100 * one.score.value) for one in candidates if one.finished is finished]
        if chosen:
            x_at, y_at = zip(*chosen, strict=True)
            axes.scatter(x_at, y_at, s=80, label=name, zorder=3, **look)
    for one in candidates:
        if not one.finished:
            axes.annotate(f"n={one.records}", (one.calls, 100 * one.score.value), (0, -17), textcoords="offset points",
                          ha="center", fontsize=11, color="#5c636d", path_effects=_halo())  # fmt: skip
    axes.margins(x=0.08, y=0.12)
    _least_span(axes)
    first = candidates[0]
    at = (first.calls, 100 * first.score.value)
    axes.annotate(first.name, at, (5, 8), textcoords="offset points", fontsize=11, color=INK, path_effects=_halo())


def _least_span(axes: "Axes") -> None:
    low, high = axes.get_ylim()
    if high - low < LEAST_SPAN:  # noise must not look like a gain
        middle = (low + high) / 2
        axes.set_ylim(middle - LEAST_SPAN / 2, middle + LEAST_SPAN / 2)


def _legend(figure: "Figure", axes: "Axes") -> None:
    """Below the plot, where it hides nothing."""
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=min(len(names), 3), frameon=False, fontsize=11,
                  columnspacing=1.2, handletextpad=0.4)  # fmt: skip


def _halo() -> list[Any]:
    """Keeps a text readable where a line runs behind it."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=3, foreground="white")]


def _initials(name: str) -> str:
    return name if name == FAILED else "".join(word[0] for word in name.split())


def _wrapped(name: str, width: int = 18) -> str:
    return "\n".join(textwrap.wrap(name, width))
