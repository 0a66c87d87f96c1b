"""`python -m benchmarks.figures`: how much of the text of figures is read exactly?

60 figures as matplotlib draws them: lines, bars, a scatter, a heat map with numbers and a table, each in three fonts
and two sizes. What is drawn is known, and compared with the cells of `aisr.programs.pictures.read_text` and with
RapidOCR as it comes. A text is read exactly where a cell holds it and nothing else; spaces count in words, and in
numbers they do not. The default seed is the one of the documents: `--seed 1` draws others, to work with.
"""

import argparse
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import dspy
import matplotlib
import numpy as np
from matplotlib.figure import Figure

from aisr.programs.pictures import read_text

FONTS = ("DejaVu Sans", "DejaVu Serif", "STIXGeneral")
SIZES = ((4.8, 3.6, 100), (6.4, 4.8, 200))  # inches, and dots an inch
DRAWN = 2  # figures of each kind, font and size
METHODS = (
    "Baseline", "Ours", "BERT", "ResNet", "Random forest", "Without pretraining", "GPT-4", "SciBERT", "TF-IDF",
)  # fmt: skip
GROUPS = (
    "Control", "Treatment", "Placebo", "Males", "Females", "Young adults", "Older adults", "Low dose", "High dose",
)  # fmt: skip
AXES = (
    "Accuracy (%)", "Loss", "F1 score", "Training steps", "Time (s)", "Mean response", "log p", "Dose (mg)", "Recall",
    "Reaction time (ms)", "Number of samples", "Relative error", "Learning rate", "Epoch",
)  # fmt: skip
TITLES = ("Results on the test set", "Effect of dose", "Ablation study", "Validation loss", "Cohort 2")
SIGNS = str.maketrans("−–—", "---")
DIGIT = re.compile(r"\d")
KINDS = ("ticks", "axis labels", "titles and legends", "cells", "± and brackets", "minus signs")


class Text(NamedTuple):
    """A text of a figure. kind: one of `KINDS`."""

    kind: str
    text: str

    @property
    def is_number(self) -> bool:
        """Whether it is a number, with all that belongs to one, and no word."""
        return not re.search(r"[A-Za-z]{2}", self.text) and DIGIT.search(self.text) is not None


class Reading(NamedTuple):
    """What was read of a figure: the texts of it, and whether each was read exactly. doubled: what was read in the
    place of a number, and holds its digits and one more."""

    texts: list[tuple[Text, bool]]
    doubled: list[str]


# --- Drawing


def of_kind(kind: str, text: str) -> Text:
    """Return a text, of the kind that its signs make it."""
    if "±" in text or (re.fullmatch(r"\S+ \(.+\)", text) and DIGIT.search(text)):
        return Text("± and brackets", text)
    return Text("minus signs" if re.match(r"−\d", text) else kind, text)


def printed(value: float, places: int) -> str:
    """Return a number as matplotlib prints it, with a true minus sign."""
    return f"{value:.{places}f}".replace("-", "−")


def set_ticks(axis: Any, low: float, high: float, places: int) -> list[Text]:
    """Put five numbers on an axis."""
    ticks = np.linspace(low, high, 5)
    axis.set_ticks(ticks, [printed(tick, places) for tick in ticks])
    return [of_kind("ticks", printed(tick, places)) for tick in ticks]


def label(axes: Any, rng: random.Random, *ways: str) -> list[Text]:
    """Name the axes of a figure, and give it a title."""
    texts = []
    for way, name in zip(ways, rng.sample(AXES, len(ways)), strict=True):
        getattr(axes, f"set_{way}label")(name)
        texts.append(Text("axis labels", name))
    axes.set_title(title := rng.choice(TITLES))
    return [*texts, Text("titles and legends", title)]


def draw_lines(figure: Figure, rng: random.Random) -> list[Text]:
    axes = figure.subplots()
    names = rng.sample(METHODS, 3)
    low, high, places = rng.choice(((-2, 2, 1), (0, 1, 2), (0, 80, 0), (-0.4, 0.4, 1), (0.001, 0.005, 3)))
    for name in names:
        axes.plot(range(9), [rng.uniform(low, high) for _ in range(9)], label=name, marker=rng.choice("os^"))
    axes.legend(loc=rng.choice(("upper left", "lower right")))
    texts = [Text("titles and legends", name) for name in names]
    texts += set_ticks(axes.yaxis, low, high, places) + set_ticks(axes.xaxis, 0, 8, rng.choice((0, 1)))
    return texts + label(axes, rng, "x", "y")


def draw_bars(figure: Figure, rng: random.Random) -> list[Text]:
    axes = figure.subplots()
    names = rng.sample(GROUPS, 3)
    values = [rng.uniform(20, 70) for _ in names]
    errors = [rng.uniform(0.5, 6) for _ in names]
    axes.bar(names, values, yerr=errors, capsize=3)
    texts = [Text("ticks", name) for name in names]
    for place, (value, error) in enumerate(zip(values, errors, strict=True)):
        above = rng.choice(
            (f"{value:.1f}", f"{value:.1f} ± {error:.1f}", f"{value:.1f} ({error:.1f})", f"{value:.0f}%")
        )
        axes.text(place, value + error + 1, above, ha="center")
        texts.append(of_kind("cells", above))
    return texts + set_ticks(axes.yaxis, 0, 100, 0) + label(axes, rng, "y")


def draw_scatter(figure: Figure, rng: random.Random) -> list[Text]:
    axes = figure.subplots()
    x, y = ([rng.gauss(0, 1) for _ in range(40)] for _ in range(2))
    axes.scatter(x, y, label=(name := rng.choice(GROUPS)))
    axes.legend(loc="lower right")
    noted = f"r = {printed(rng.uniform(-1, 1), 2)}, p = .{rng.randrange(1, 99):02d}"
    axes.text(0.04, 0.92, noted, transform=axes.transAxes)
    texts = [Text("titles and legends", name), Text("titles and legends", noted)]
    return texts + set_ticks(axes.xaxis, -4, 4, 0) + set_ticks(axes.yaxis, -3, 3, 1) + label(axes, rng, "x", "y")


def draw_heat_map(figure: Figure, rng: random.Random) -> list[Text]:
    axes = figure.subplots()
    names, columns = rng.sample(GROUPS, 4), rng.sample(METHODS, 4)
    low = rng.choice((-1.0, 0.0))
    values = np.array([[rng.uniform(low, 1) for _ in columns] for _ in names])
    image = axes.imshow(values, cmap=rng.choice(("viridis", "Blues", "coolwarm")), aspect="auto", vmin=low, vmax=1)
    axes.set_xticks(range(4), columns, rotation=45, ha="right")
    axes.set_yticks(range(4), names)
    texts = [Text("ticks", name) for name in (*names, *columns)]
    for (row, column), value in np.ndenumerate(values):
        red, green, blue, _ = image.to_rgba(value)
        color = "white" if 0.3 * red + 0.6 * green + 0.1 * blue < 0.5 else "black"
        axes.text(column, row, printed(value, 2), ha="center", va="center", color=color)
        texts.append(of_kind("cells", printed(value, 2)))
    return texts + label(axes, rng, "y")


def draw_table(figure: Figure, rng: random.Random) -> list[Text]:
    axes = figure.subplots()
    axes.axis("off")
    header = ["Method", *rng.sample(("Accuracy", "F1", "Recall", "Params", "Error", "Score"), 3)]
    forms: tuple[Callable[[], str], ...] = (
        lambda: f"{rng.uniform(0, 1):.2f} ({rng.uniform(0, 0.1):.2f})",
        lambda: f"{rng.uniform(50, 99):.1f} ± {rng.uniform(0, 3):.1f}",
        lambda: printed(rng.uniform(-3, 0), 2),
        lambda: f"{rng.randrange(1000, 99999):,}",
        lambda: f"{rng.uniform(0, 100):.1f}%",
    )
    columns = rng.sample(forms, 3)
    rows = [[name, *(column() for column in columns)] for name in rng.sample(METHODS, 5)]
    table = axes.table(
        rows, colLabels=header, loc="center", cellLoc="center", edges=rng.choice(("closed", "horizontal"))
    )
    table.auto_set_font_size(False)
    table.set_fontsize(9)
    table.scale(1, 1.5)
    return [of_kind("cells", cell) for row in (header, *rows) for cell in row]


DRAWINGS = (draw_lines, draw_bars, draw_scatter, draw_heat_map, draw_table)


def draw_figures(folder: Path, seed: int) -> Iterator[tuple[Path, list[Text]]]:
    """Draw all figures into a folder; yield the file of each and its texts."""
    for drawing in DRAWINGS:
        for font in FONTS:
            for width, height, dpi in SIZES:
                for number in range(DRAWN):
                    name = f"{drawing.__name__}-{font.replace(' ', '')}-{dpi}-{number}"
                    with matplotlib.rc_context({"font.family": font}):
                        figure = Figure((width, height), layout="constrained")
                        texts = drawing(figure, random.Random(f"{seed}-{name}"))
                        figure.savefig(folder / f"{name}.png", dpi=dpi)
                    yield folder / f"{name}.png", texts


# --- Comparing


def compare(texts: Sequence[Text], rows: Sequence[str]) -> Reading:
    """Compare the texts of a figure with the rows that were read of it."""
    cells = Counter(cell for row in rows for cell in row.split(" | "))
    plain: Counter[str] = Counter()
    for cell, count in cells.items():
        plain[_plain(cell)] += count
    read = []
    for text in texts:
        key = _plain(text.text)
        read.append((text, plain[key] > 0))
        plain[key] -= plain[key] > 0
    missed = [_digits(text.text) for text, is_read in read if not is_read and text.is_number]
    wrong = list((+plain).elements())
    return Reading(read, [cell for cell in wrong if any(_is_doubled(_digits(cell), true) for true in missed)])


def _plain(text: str) -> str:
    """Return a text with one form of each sign; a number without spaces."""
    text = " ".join(text.translate(SIGNS).split())
    return text.replace(" ", "") if Text("", text).is_number else text


def _digits(text: str) -> str:
    return "".join(DIGIT.findall(text))


def _is_doubled(read: str, true: str) -> bool:
    return any(read[:place] + read[place + 1 :] == true for place in range(1, len(read)) if read[place] in true)


def as_it_comes() -> Callable[[str], list[str]]:
    """Return a reader that is RapidOCR with its own defaults: a row for each piece of text."""
    from rapidocr import RapidOCR

    engine = RapidOCR(params={"Global.log_level": "critical"})
    return lambda file: [text.strip() for text in engine(file).txts or ()]


def main() -> None:
    """Print the share of each kind that is read exactly, by both readers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder for the figures; what was misread is printed")
    arguments = parser.parse_args()
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    readers = {"rapidocr as it comes": as_it_comes(), "aisr": read_text}
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        figures = list(draw_figures(folder, arguments.seed))
        for name, read in readers.items():
            read(str(figures[0][0]))  # opens the models
            started = time.process_time()
            readings = {file: compare(texts, read(str(file))) for file, texts in figures}
            seconds = (time.process_time() - started) / len(figures)
            _print(name, list(readings.values()), seconds)
            for file, reading in readings.items() if arguments.keep else ():
                print(f"{file.name}: missed {[text.text for text, is_read in reading.texts if not is_read]}")


def _print(name: str, readings: Sequence[Reading], seconds: float) -> None:
    texts = [pair for reading in readings for pair in reading.texts]
    print(f"{name}: {seconds:.2f} CPU seconds a figure")
    groups = {"numbers": [pair for pair in texts if pair[0].is_number]}
    groups["words"] = [pair for pair in texts if not pair[0].is_number]
    groups |= {kind: [pair for pair in texts if pair[0].kind == kind] for kind in KINDS}
    for group, pairs in groups.items():
        read = sum(is_read for _, is_read in pairs)
        print(f"  {group}: {100 * read / len(pairs):.1f} % ({read} of {len(pairs)})")
    doubled = [cell for reading in readings for cell in reading.doubled]
    print(f"  numbers with a digit twice: {len(doubled)} {doubled}")


if __name__ == "__main__":
    main()
