"""What an exhibit states, as facts that can be worded, and the ways in which each fact can be made false or foreign."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from papers import Exhibit, Paper, listing
from vocabulary import Metric

Slots = dict[str, str]


class Fact(NamedTuple):
    """One true statement: `slots` fill the wordings of its `kind`.

    Attributes:
        lies: slot changes, each of which turns the statement into one that the exhibit contradicts.
        names: slots whose content is an entity that may be exchanged: (slot, `system` | `bed` | `metric`).
        leads: whether the statement shows its system `a` in front on `bed`, so that a cause of the lead can follow.
    """

    kind: str
    slots: Slots
    lies: tuple[Slots, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    leads: bool = False


def facts_of(rng: Random, paper: Paper, exhibit: Exhibit) -> list[Fact]:
    """All facts that the exhibit states, in a drawn order."""
    facts = READ[exhibit.kind](rng, paper, exhibit)
    rng.shuffle(facts)
    return facts


def setup_of(paper: Paper, exhibit: Exhibit) -> Fact:
    """What the exhibit shows, without any result."""
    slots = common(paper, exhibit)
    names = (
        ("a", "system") if exhibit.kind == "ablation" else ("systems", "system"),
        ("beds", "bed") if exhibit.kind == "grid" else ("bed", "bed"),
        ("metric", "metric"),
    )
    return Fact(f"setup-{exhibit.kind}", slots, (), names)


def common(paper: Paper, exhibit: Exhibit) -> Slots:
    """Slots that every wording of a fact of this exhibit may use."""
    metric, field = exhibit.metric, paper.field
    slots = {
        "label": exhibit.label,
        "metric": metric.name,
        "am": metric.article,
        "more": "higher" if metric.higher else "lower",
        "most": "highest" if metric.higher else "lowest",
        "least": "lowest" if metric.higher else "highest",
        "worsens": "lowers" if metric.higher else "raises",
        "worsening": "loss" if metric.higher else "increase",
        "system": field.system,
        "system_plural": field.system_plural,
        "bed_noun": field.bed,
        "bed_plural": field.bed_plural,
        "systems": listing(exhibit.systems),
        "beds": listing(exhibit.beds),
        "bed": exhibit.beds[0],
        "a": exhibit.systems[0],
        "n": ("one", "both", "all three", "all four")[len(exhibit.beds) - 1],
        "count": ("one", "two", "three", "four")[len(exhibit.beds) - 1],
        "parts": listing([f"the {component}" for component in exhibit.components]) if exhibit.components else "",
    }
    if exhibit.sweep:
        slots |= {"sweep": exhibit.sweep.name, "x0": exhibit.sweep.settings[0], "x4": exhibit.sweep.at(4)}
    return slots


def shifted(metric: Metric, value: float, towards_better: bool) -> float:
    """A value that no reader takes for `value`: a quarter of the metric's range away."""
    step = 0.25 * (metric.high - metric.low)
    return value + step if towards_better == metric.higher else value - step


def pair_slots(metric: Metric, va: float, vb: float) -> Slots:
    """The two values of a comparison and their difference."""
    return {"va": metric.show(va), "vb": metric.show(vb), "gap": metric.gap(va, vb)}


def widened(metric: Metric, va: float, vb: float) -> Slots:
    """A comparison whose loser is shown far worse than it is, with the difference to match."""
    return pair_slots(metric, va, max(0.01, shifted(metric, vb, towards_better=False)))


def read_grid(rng: Random, paper: Paper, exhibit: Exhibit) -> list[Fact]:
    """Rankings, single comparisons, extremes, and what holds on all beds."""
    metric, base = exhibit.metric, common(paper, exhibit)
    facts: list[Fact] = []
    entity = (("a", "system"), ("b", "system"), ("bed", "bed"), ("metric", "metric"))
    tops: dict[str, float] = {}
    for column, bed in enumerate(exhibit.beds):
        values = {system: row[column] for system, row in zip(exhibit.systems, exhibit.cells, strict=True)}
        order = sorted(values, key=values.__getitem__, reverse=metric.higher)
        first, second, last = order[0], order[1], order[-1]
        tops[bed] = values[first]
        slots = base | {"bed": bed, "a": first, "b": second} | pair_slots(metric, values[first], values[second])
        swap = {"a": second, "b": first}
        facts.append(Fact("best", slots, (swap, widened(metric, values[first], values[second])), entity, True))
        if first != paper.hero:
            rest = listing([other for other in exhibit.beds if other != bed])
            facts.append(Fact("exception", slots | {"rest": rest}, (swap,), (("bed", "bed"), ("a", "system"))))
        other = rng.choice(order[1:])
        slots = base | {"bed": bed, "a": first, "b": other} | pair_slots(metric, values[first], values[other])
        swap = {"a": other, "b": first}
        facts.append(Fact("over", slots, (swap, widened(metric, values[first], values[other])), entity, True))
        slots = base | {"bed": bed, "a": last, "va": metric.show(values[last])}
        facts.append(Fact("last", slots, ({"a": first}, {"a": second}), (("a", "system"), ("bed", "bed"))))
        ends = {"vlow": metric.show(min(values.values())), "vhigh": metric.show(max(values.values()))}
        lie = {"vlow": metric.show(min(values.values()) + 0.4 * abs(values[first] - values[last]))}
        facts.append(Fact("range", base | {"bed": bed} | ends, (lie,), (("bed", "bed"), ("metric", "metric"))))
    facts += read_all(rng, paper, exhibit, base)
    hardest = (min if metric.higher else max)(tops, key=tops.__getitem__)
    easiest = (max if metric.higher else min)(tops, key=tops.__getitem__)
    if list(tops.values()).count(tops[hardest]) == 1:
        slots = base | {"bed": hardest, "va": metric.show(tops[hardest])}
        facts.append(Fact("hard", slots, ({"bed": easiest},), (("bed", "bed"), ("metric", "metric"))))
    return facts


def read_all(rng: Random, paper: Paper, exhibit: Exhibit, base: Slots) -> list[Fact]:
    """Facts about all beds at once, where they hold: the hero leads everywhere, one system beats another everywhere."""
    hero, *others = exhibit.cells
    names = (("a", "system"), ("b", "system"), ("beds", "bed"))
    facts = []
    if all(exhibit.metric.better(hero[i], row[i]) for row in others for i in range(len(hero))):
        rival = rng.choice(exhibit.systems[1:])
        slots = base | {"a": exhibit.systems[0], "b": rival}
        facts.append(Fact("all-best", slots, ({"a": rival, "b": exhibit.systems[0]},), (names[0], names[2]), True))
    for system, row in zip(exhibit.systems[1:], others, strict=True):
        if all(exhibit.metric.better(h, v) for h, v in zip(hero, row, strict=True)):
            slots = base | {"a": exhibit.systems[0], "b": system}
            facts.append(Fact("all-over", slots, ({"a": system, "b": exhibit.systems[0]},), names))
    return facts


def read_ablation(rng: Random, paper: Paper, exhibit: Exhibit) -> list[Fact]:
    """What each removal costs, and which removal costs most."""
    metric, base = exhibit.metric, common(paper, exhibit)
    (full,), *rest = exhibit.cells
    losses = {component: value for component, (value,) in zip(exhibit.components, rest, strict=True)}
    facts = []
    names = (("bed", "bed"), ("metric", "metric"), ("a", "system"))
    for component, value in losses.items():
        slots = base | {"c": component} | pair_slots(metric, full, value)
        reverse = {
            "worsens": "raises" if metric.higher else "lowers",
            "worsening": "increase" if metric.higher else "loss",
        }
        turned = reverse | {"va": slots["vb"], "vb": slots["va"]}
        facts.append(Fact("ablate", slots, (turned, widened(metric, full, value)), names))
    order = sorted(losses, key=losses.__getitem__, reverse=not metric.higher)
    worst, mildest = order[0], order[-1]
    slots = base | {
        "c": worst,
        "c2": mildest,
        "gap": metric.gap(full, losses[worst]),
        "gap2": metric.gap(full, losses[mildest]),
    }
    facts.append(Fact("largest", slots, ({"c": mildest, "c2": worst},), names))
    return facts


def read_sweep(rng: Random, paper: Paper, exhibit: Exhibit) -> list[Fact]:
    """How each curve runs, where the hero's flattens, and who is ahead throughout."""
    assert exhibit.sweep
    metric, sweep, base = exhibit.metric, exhibit.sweep, common(paper, exhibit)
    names = (("a", "system"), ("bed", "bed"), ("metric", "metric"))
    facts = []
    words = ("climbs", "falls") if metric.higher else ("falls", "climbs")
    nouns = ("growth", "decline") if metric.higher else ("decline", "growth")
    for system, row in zip(exhibit.systems, exhibit.cells, strict=True):
        slots = base | {"a": system, "v0": metric.show(row[0]), "v4": metric.show(row[4])}
        slots |= {"climbs": words[0], "climb": nouns[0], "gap": metric.gap(row[0], row[4])}
        turned = {"climbs": words[1], "climb": nouns[1], "v0": slots["v4"], "v4": slots["v0"]}
        far = shifted(metric, row[4], towards_better=True)
        lies = (turned, {"v4": metric.show(max(0.01, far)), "gap": metric.gap(row[0], max(0.01, far))})
        facts.append(Fact("trend", slots, lies, names))
    hero = exhibit.cells[0]
    slots = base | {"xm": sweep.at(2), "gap": metric.gap(hero[2], hero[4]), "gap0": metric.gap(hero[0], hero[2])}
    if slots["gap"] != slots["gap0"]:
        facts.append(Fact("plateau", slots, ({"gap": slots["gap0"], "gap0": slots["gap"]},), names))
    slots = base | {"b": exhibit.systems[1]} | pair_slots(metric, hero[4], exhibit.cells[1][4])
    facts.append(Fact("lead", slots, ({"a": slots["b"], "b": slots["a"]},), (*names, ("b", "system")), True))
    return facts


READ = {"grid": read_grid, "ablation": read_ablation, "sweep": read_sweep}
