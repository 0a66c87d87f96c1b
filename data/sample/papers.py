"""Invented result papers for Track 1: a few systems measured on a few beds, shown as two or three exhibits."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from vocabulary import FIELD_WEIGHTS, FIELDS, Field, Metric, Sweep


class Exhibit(NamedTuple):
    """One table or figure: a grid of numbers (`cells[row][column]`) and what it is about.

    `kind` says how to read the grid: `grid` (systems x beds), `ablation` (one column: the full system, then removals)
    or `sweep` (systems x settings). `style` says how it is drawn: `table`, `bar` or `line`.
    """

    kind: str
    style: str
    label: str
    caption: str
    metric: Metric
    systems: tuple[str, ...]
    beds: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[float, ...], ...]
    sweep: Sweep | None = None
    components: tuple[str, ...] = ()


class Paper(NamedTuple):
    """An invented paper; `hero` is the system it proposes, which leads nearly everywhere."""

    field: Field
    topic: str
    hero: str
    systems: tuple[str, ...]
    beds: tuple[str, ...]
    metrics: tuple[Metric, ...]
    exhibits: tuple[Exhibit, ...]


def listing(names: tuple[str, ...] | list[str]) -> str:
    """Names as an English list: `A, B and C`."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def ladder(rng: Random, metric: Metric, count: int) -> list[float]:
    """`count` clearly different values in the metric's range, best first."""
    span = metric.high - metric.low
    steps = [rng.uniform(0.07, 0.16) * span for _ in range(count - 1)]
    best = metric.high - rng.uniform(0.0, 0.3) * span if metric.higher else metric.low + rng.uniform(0.0, 0.3) * span
    values = [best]
    for step in steps:
        values.append(values[-1] - step if metric.higher else values[-1] + step)
    return [round(value, metric.decimals) for value in values]


def draw_paper(rng: Random) -> Paper:
    """One paper with a main grid and one or two of: a second grid, an ablation, a sweep."""
    field = rng.choices(FIELDS, FIELD_WEIGHTS)[0]
    systems = tuple(rng.sample(field.systems, rng.randint(3, 5)))
    beds = tuple(rng.sample(field.beds, rng.randint(2, 4)))
    numbers = {"Table": rng.randint(1, 4), "Figure": rng.randint(1, 5)}
    others = rng.choice(
        (("ablation",), ("sweep",), ("grid",), ("ablation", "sweep"), ("sweep", "ablation"), ("grid", "sweep"))
    )
    # One metric an exhibit: two exhibits of a paper can then never disagree about a value.
    metrics = tuple(rng.sample(field.metrics, 1 + len(others)))
    while others[0] == "grid" and metrics[0].unit == metrics[1].unit:
        metrics = tuple(rng.sample(field.metrics, 1 + len(others)))
    exhibits = [
        DRAW[kind](rng, field, metric, systems, beds, numbers)
        for kind, metric in zip(("grid", *others), metrics, strict=True)
    ]
    return Paper(field, rng.choice(field.topics), systems[0], systems, beds, metrics, tuple(exhibits))


def next_label(numbers: dict[str, int], style: str) -> str:
    """The next free `Table n` or `Figure n` of the paper."""
    word = "Table" if style == "table" else "Figure"
    numbers[word] += 1
    return f"{word} {numbers[word]}"


def draw_grid(
    rng: Random, field: Field, metric: Metric, systems: tuple[str, ...], beds: tuple[str, ...], numbers: dict[str, int]
) -> Exhibit:
    """Systems x beds. The hero leads everywhere in half of the grids, everywhere but on one bed in the others."""
    lost = rng.choice(beds) if len(beds) > 2 and rng.random() < 0.5 else None
    columns = []
    for bed in beds:
        order = [systems[0], *rng.sample(systems[1:], len(systems) - 1)]
        if bed == lost:
            order[0], order[1] = order[1], order[0]
        values = dict(zip(order, ladder(rng, metric, len(systems)), strict=True))
        columns.append([values[system] for system in systems])
    style = rng.choice(("table", "table", "bar"))
    label = next_label(numbers, style)
    caption = rng.choice(
        (
            f"{label}: {metric.name}{unit_note(metric)} of {listing(systems)} on {listing(beds)}.",
            f"{label}: Comparison of {listing(systems)} by {metric.name}{unit_note(metric)} on the {field.bed_plural} "
            f"{listing(beds)}.",
            f"{label}: Results on {listing(beds)}. Measure: {metric.name}{unit_note(metric)}; {field.system_plural}: "
            f"{listing(systems)}.",
        )
    ) + direction_note(rng, metric)
    return Exhibit(
        "grid", style, label, caption, metric, systems, beds, systems, beds, tuple(zip(*columns, strict=True))
    )


def draw_ablation(
    rng: Random, field: Field, metric: Metric, systems: tuple[str, ...], beds: tuple[str, ...], numbers: dict[str, int]
) -> Exhibit:
    """The hero with one component removed at a time, on one bed."""
    components = tuple(rng.sample(field.components, rng.choice((2, 3, 3))))
    values = ladder(rng, metric, len(components) + 1)
    losses = values[1:]
    rng.shuffle(losses)
    bed, hero = rng.choice(beds), systems[0]
    style = rng.choice(("table", "bar"))
    label = next_label(numbers, style)
    caption = rng.choice(
        (
            f"{label}: Ablation of {hero} on {bed}: {metric.name}{unit_note(metric)} without {either(components)}.",
            f"{label}: {metric.name}{unit_note(metric)} of {hero} on {bed} when the "
            f"{listing(components)} are taken out one by one.",
            f"{label}: What each part of {hero} contributes on {bed} "
            f"({metric.name}{unit_note(metric)}). Parts removed: "
            f"{listing(components)}.",
        )
    ) + direction_note(rng, metric)
    rows = (f"{hero} (full)", *(f"w/o {component}" for component in components))
    cells = tuple((value,) for value in (values[0], *losses))
    return Exhibit(
        "ablation", style, label, caption, metric, (hero,), (bed,), rows, (bed,), cells, components=components
    )


def draw_sweep(
    rng: Random, field: Field, metric: Metric, systems: tuple[str, ...], beds: tuple[str, ...], numbers: dict[str, int]
) -> Exhibit:
    """Two or three systems over five settings of one quantity, on one bed; the hero stays ahead and flattens late."""
    sweep, bed = rng.choice(field.sweeps), rng.choice(beds)
    chosen = systems[: rng.choice((2, 2, 3))]
    span = metric.high - metric.low
    rows = []
    for rank in range(len(chosen)):
        steps = [0.0, *(rng.uniform(low, low + 0.05) for low in (0.15, 0.11, 0.02, 0.01))]
        worse = 0.16 * rank * span + rng.uniform(0, 0.02) * span
        levels = [sum(steps[: i + 1]) * span * (1 - 0.15 * rank) for i in range(5)]
        start = metric.low + 0.35 * span - worse if metric.higher else metric.high - 0.35 * span + worse
        rows.append(tuple(round(start + s if metric.higher else start - s, metric.decimals) for s in levels))
    style = rng.choice(("line", "line", "table"))
    label = next_label(numbers, style)
    caption = rng.choice(
        (
            f"{label}: {metric.name}{unit_note(metric)} on {bed} against {sweep.name} ({sweep.unit}) "
            f"for {listing(chosen)}.",
            f"{label}: Effect of the {sweep.name} ({sweep.unit}) on {metric.name}{unit_note(metric)}, {bed} only. "
            f"Shown: {listing(chosen)}.",
            f"{label}: {listing(chosen)} on {bed} with the {sweep.name} varied from "
            f"{sweep.settings[0]} to {sweep.at(4)}. "
            f"Measure: {metric.name}{unit_note(metric)}.",
        )
    ) + direction_note(rng, metric)
    return Exhibit("sweep", style, label, caption, metric, chosen, (bed,), chosen, sweep.settings, tuple(rows), sweep)


def either(components: tuple[str, ...]) -> str:
    """`the A, the B or the C`."""
    parts = [f"the {component}" for component in components]
    return ", ".join(parts[:-1]) + " or " + parts[-1]


def unit_note(metric: Metric) -> str:
    """The unit in brackets, where there is one."""
    return f" ({metric.unit})" if metric.unit else ""


def direction_note(rng: Random, metric: Metric) -> str:
    """Which direction is better: always said where lower is, sometimes where higher is."""
    if not metric.higher:
        return " Lower is better."
    return " Higher is better." if rng.random() < 0.3 else ""


DRAW = {"grid": draw_grid, "ablation": draw_ablation, "sweep": draw_sweep}
