"""Pictures of a compile or an evaluation, readable as thumbnails of 300 pixels and by any eye.

Colours are those of Okabe and Ito (2008), and nothing is told by colour alone. matplotlib is used through its objects,
without pyplot: no state is shared and no window is opened.
"""

import io
import textwrap
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aisr.base.files import write_whole
from aisr.metrics.confidence import Interval
from aisr.metrics.judgements import calibration_error, reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, VERMILION, PURPLE, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#8A8F98"
INK = "#222222"
DPI = 150
LEAST_SPAN = 10  # points of the ranking score that an axis shows at least
FAILED = "failed"


class Tried(NamedTuple):
    """A candidate: its ranking score with interval in 0-1, the LM calls that were asked for until it was known (sent or
    cached), about how many prompt tokens a record costs, whether it ran to the end of the race, and on how many records
    of dev it was scored."""

    name: str
    score: Interval
    calls: int
    tokens: float
    finished: bool
    records: int


def confusion(gold: Sequence[str], said: Sequence[str | None], labels: Sequence[str], title: str) -> "Figure":
    """How often each gold label was given each label; a None in `said` is a failure. Shades are shares of a row."""
    columns = [*labels, FAILED] if None in said else list(labels)
    counts = np.zeros((len(labels), len(columns)), dtype=np.int64)
    for wanted, label in zip(gold, said, strict=True):
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


def f1_by_label(
    before: Mapping[str, float], after: Mapping[str, float], names: tuple[str, str], title: str
) -> "Figure":
    """F1 of each label, in 0-1, of two programs; names: theirs, the earlier first."""
    labels = list(after)
    rows = np.arange(len(labels))[::-1]
    old, new = (100 * np.array([scores[label] for label in labels]) for scores in (before, after))
    figure, axes = _axes(title, height=1.5 + 0.5 * len(labels))
    axes.hlines(rows, np.minimum(old, new), np.maximum(old, new), color=GREY, linewidth=3, zorder=1)
    # The ring is wider than the dot: both are seen where nothing changed.
    axes.scatter(old, rows, s=150, facecolor="white", edgecolor=ORANGE, linewidth=2.5, label=names[0], zorder=2)
    axes.scatter(new, rows, s=60, color=BLUE, label=names[1], zorder=3)
    for row, value in zip(rows, new, strict=True):
        axes.annotate(f"{value:.0f}", (value, row), (0, 9), textcoords="offset points", ha="center", fontsize=11)
    axes.set_yticks(rows, [_wrapped(label, 22) for label in labels])
    axes.set_ylim(-0.6, len(labels) - 0.3)
    axes.set_xlim(-3, 103)
    axes.set_xlabel("F1")
    axes.grid(axis="x", color="#e3e6ea")
    axes.tick_params(axis="y", length=0)
    _legend(figure, axes)
    return figure


def search_curve(tried: Sequence[Tried], title: str) -> "Figure":
    """The best ranking score on dev by the LM calls asked for. Each candidate is a point, hollow and with the number of
    its records where it was dropped: what it scored on these is not to be held against scores on all of dev."""
    done = sorted((one for one in tried if one.finished), key=lambda one: one.calls)
    best = np.maximum.accumulate([100 * one.score.value for one in done])
    figure, axes = _axes(title)
    if len(done) > 1:
        axes.step([one.calls for one in done], best, where="post", color=BLUE, linewidth=2.5, label="best so far")
    _points(axes, tried, [one.calls for one in tried])
    axes.set_xlabel("LM calls, sent or from the cache")
    axes.set_ylabel("ranking score on dev")
    _legend(figure, axes)
    return figure


def score_by_cost(tried: Sequence[Tried], champion: str, title: str) -> "Figure":
    """The ranking score on dev of all candidates, with 95 % intervals, against what judging a record costs."""
    figure, axes = _axes(title)
    for one in tried:
        axes.vlines(one.tokens, 100 * one.score.low, 100 * one.score.high, color="#c9ced6", linewidth=2, zorder=1)
    _points(axes, tried, [one.tokens for one in tried])
    for one in tried:
        if one.name == champion:
            at = (one.tokens, 100 * one.score.value)
            axes.scatter(*at, s=260, facecolor="none", edgecolor=VERMILION, linewidth=2.5, label="champion", zorder=4)
    axes.set_xlabel("about this many prompt tokens a record")
    axes.set_ylabel("ranking score on dev")
    _legend(figure, axes)
    return figure


def reliability_diagram(confidence: Sequence[float], right: Sequence[bool], title: str) -> "Figure":
    """How often judgements were right by how sure they were, in 0-1; areas are as the numbers of judgements. Raises
    ValueError for none."""
    found = reliability(confidence, right)
    error = calibration_error(confidence, right)
    figure, axes = _axes(f"{title}\nexpected calibration error {100 * error:.1f}", width=4.4, height=4.7)
    axes.plot([0, 100], [0, 100], color=GREY, linewidth=1.5, linestyle="--", zorder=1)
    axes.annotate("as sure as right", (30, 30), (6, -4), textcoords="offset points", color="#5c636d", rotation=45,
                  rotation_mode="anchor", va="top", transform_rotates_text=True, fontsize=11)  # fmt: skip
    x, y = ([100 * getattr(one, name) for one in found] for name in ("confidence", "accuracy"))
    largest = max(one.judgements for one in found)
    axes.plot(x, y, color=BLUE, linewidth=2, zorder=2)
    axes.scatter(x, y, s=[40 + 360 * one.judgements / largest for one in found], color=BLUE, zorder=3)
    for one in found:
        at = (100 * one.confidence, 100 * one.accuracy)
        axes.annotate(f"{one.judgements}", at, (0, -21), textcoords="offset points", ha="center", fontsize=11,
                      path_effects=_halo())  # fmt: skip
    axes.set_xlim(-4, 104)
    axes.set_ylim(-12, 108)
    axes.set_xlabel("sure, %")
    axes.set_ylabel("right, %")
    axes.set_aspect("equal", adjustable="box")
    return figure


def recall_curve(ranks: Mapping[str, Sequence[int | None]], title: str, most: int = 50) -> "Figure":
    """The share of records with gold evidence among the first k paragraphs, by k up to `most`.

    ranks: for each retriever, the rank of the best gold paragraph of each record, from 1; None where it is not found.
    """
    figure, axes = _axes(title, height=4.2)
    at = np.arange(1, most + 1)
    # Five colours and four dashes make twenty pairs before one comes again.
    styles = zip(cycle((BLUE, ORANGE, GREEN, VERMILION, PURPLE)), cycle(("-", "--", "-.", ":")), strict=False)
    for (name, found), (color, style) in zip(ranks.items(), styles, strict=False):
        place = np.array([rank if rank is not None else most + 1 for rank in found])
        recall = 100 * (place[None, :] <= at[:, None]).mean(axis=1)
        axes.plot(at, recall, color=color, linestyle=style, linewidth=2.5, label=name)
    axes.axvline(3, color=GREY, linewidth=1, zorder=1)
    axes.annotate("Joint@3", (3, 2), (5, 0), textcoords="offset points", color="#5c636d", fontsize=11)
    axes.set_xscale("log")
    ticks = [k for k in (1, 3, 5, 10, 20, 50, 100) if k <= most]
    axes.set_xticks(ticks, [str(k) for k in ticks])
    axes.minorticks_off()
    axes.set_ylim(0, 102)
    axes.set_xlabel("paragraphs shown, k")
    axes.set_ylabel("records with gold evidence, %")
    axes.grid(color="#e3e6ea")
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


def _points(axes: "Axes", tried: Sequence[Tried], x: Sequence[float]) -> None:
    kinds: tuple[tuple[bool, str, dict[str, Any]], ...] = (
        (True, "candidate", {"color": BLUE}),
        (False, "dropped, on n records", {"facecolor": "white", "edgecolor": GREY, "linewidth": 2}),
    )
    for finished, name, look in kinds:
        chosen = [(at, 100 * one.score.value) for at, one in zip(x, tried, strict=True) if one.finished is finished]
        if chosen:
            x_at, y_at = zip(*chosen, strict=True)
            axes.scatter(x_at, y_at, s=80, label=name, zorder=3, **look)
    for place, one in zip(x, tried, strict=True):
        if not one.finished:
            axes.annotate(f"n={one.records}", (place, 100 * one.score.value), (0, -17), textcoords="offset points",
                          ha="center", fontsize=11, color="#5c636d", path_effects=_halo())  # fmt: skip
    axes.margins(x=0.08, y=0.12)
    _least_span(axes)
    first = tried[0]
    at = (x[0], 100 * first.score.value)
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
