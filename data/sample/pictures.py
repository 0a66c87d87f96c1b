"""Draws an exhibit as the picture that a paper would show, and names it after what it shows."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from papers import Exhibit

INKS = ("#2b5c8a", "#d1853c", "#5b8f4e", "#a64d58", "#77629c")
JPEG_QUALITY = 72


def picture_path(exhibit: Exhibit) -> str:
    """`images/<sha1 of the numbers and words shown>.jpg`: it stays the same whatever library draws the picture."""
    shown = [exhibit.style, exhibit.label, exhibit.caption, exhibit.rows, exhibit.columns, exhibit.cells]
    spec = json.dumps(shown, ensure_ascii=True, separators=(",", ":"))
    return f"images/{hashlib.sha1(spec.encode()).hexdigest()}.jpg"


def draw(exhibit: Exhibit, path: Path) -> None:
    """Writes the picture as JPEG, about 600 px wide."""
    style = {"table": draw_table, "bar": draw_bars, "line": draw_lines}[exhibit.style]
    height = 0.32 * (len(exhibit.rows) + 2) if exhibit.style == "table" else 3.1
    with plt.rc_context({"font.family": "DejaVu Sans", "font.size": 9, "figure.dpi": 110}):
        figure, axes = plt.subplots(figsize=(5.6, height))
        style(axes, exhibit)
        figure.tight_layout(pad=0.5)
        figure.savefig(path, format="jpeg", pil_kwargs={"quality": JPEG_QUALITY, "optimize": True})
        plt.close(figure)


def axis_name(exhibit: Exhibit) -> str:
    """The metric with its unit."""
    return exhibit.metric.name + (f" ({exhibit.metric.unit})" if exhibit.metric.unit else "")


def draw_table(axes: Axes, exhibit: Exhibit) -> None:
    """A booktabs-like table: three rules, the best value of each column in bold."""
    axes.axis("off")
    rows, columns = len(exhibit.rows), len(exhibit.columns)
    xs = [0.36 + 0.62 * (i + 0.5) / columns for i in range(columns)]
    top, step = 1.0, 1.0 / (rows + 1.6)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    head = exhibit.sweep.name if exhibit.sweep else axis_name(exhibit)
    axes.text(0.01, top - 0.7 * step, head, va="center", style="italic", fontsize=8)
    best = [(max if exhibit.metric.higher else min)(row[i] for row in exhibit.cells) for i in range(columns)]
    for i, column in enumerate(exhibit.columns):
        axes.text(xs[i], top - 0.7 * step, column, ha="center", va="center")
    for j, (name, values) in enumerate(zip(exhibit.rows, exhibit.cells, strict=True)):
        y = top - (j + 1.8) * step
        axes.text(0.01, y, name, va="center")
        for i, value in enumerate(values):
            weight = "bold" if value == best[i] else "normal"
            axes.text(xs[i], y, f"{value:.{exhibit.metric.decimals}f}", ha="center", va="center", fontweight=weight)
    for y, width in ((top, 1.2), (top - 1.25 * step, 0.7), (top - (rows + 1.35) * step, 1.2)):
        axes.plot((0, 1), (y, y), color="black", linewidth=width)


def draw_bars(axes: Axes, exhibit: Exhibit) -> None:
    """Grouped bars with their values written on them; one bar a row for an ablation."""
    decimals = exhibit.metric.decimals
    if exhibit.kind == "ablation":
        groups, series = exhibit.rows, {exhibit.beds[0]: [row[0] for row in exhibit.cells]}
    else:
        groups, series = exhibit.columns, dict(zip(exhibit.rows, (list(row) for row in exhibit.cells), strict=True))
    width = 0.8 / len(series)
    for k, (name, values) in enumerate(series.items()):
        places = [i + (k - (len(series) - 1) / 2) * width for i in range(len(groups))]
        bars = axes.bar(places, values, 0.92 * width, label=name, color=INKS[k])
        axes.bar_label(
            bars,
            fmt=f"%.{decimals}f",
            fontsize=6.5 if len(series) * len(groups) > 8 else 8,
            rotation=90 if len(series) * len(groups) > 12 else 0,
            padding=1,
        )
    axes.set_xticks(range(len(groups)), [group.replace("w/o ", "w/o\n") for group in groups], fontsize=8)
    axes.set_ylabel(axis_name(exhibit))
    axes.set_ylim(0, 1.32 * max(max(row) for row in exhibit.cells))
    axes.legend(fontsize=7, ncols=min(3, len(series)), loc="upper center", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


def draw_lines(axes: Axes, exhibit: Exhibit) -> None:
    """One curve a system over evenly spaced settings, each point with its value."""
    assert exhibit.sweep
    for k, (name, values) in enumerate(zip(exhibit.rows, exhibit.cells, strict=True)):
        axes.plot(range(len(values)), values, "os^"[k] + "-", color=INKS[k], label=name, markersize=4, linewidth=1.3)
        for i, value in enumerate(values):
            text = f"{value:.{exhibit.metric.decimals}f}"
            axes.annotate(text, (i, value), (0, 5), textcoords="offset points", ha="center", fontsize=7, color=INKS[k])
    axes.set_xticks(range(len(exhibit.columns)), exhibit.columns)
    axes.set_xlabel(f"{exhibit.sweep.name} ({exhibit.sweep.unit})")
    axes.set_ylabel(axis_name(exhibit))
    axes.set_title(exhibit.beds[0], fontsize=9)
    axes.margins(0.06, 0.14)
    axes.grid(alpha=0.25)
    axes.legend(fontsize=7, loc="best")
