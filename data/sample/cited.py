"""Invented cited papers for Track 2: findings set among paragraphs that share their vocabulary."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import filler
from findings import NOT_STUDIED, STRONG, WEAK, Wordings
from papers import ladder
from vocabulary import AUTHORS, FIELD_WEIGHTS, FIELDS, Field

Slots = dict[str, str]
KINDS = tuple(WEAK)
VARIANTS = ("", " Lite", "-R", "++", " v2", "-Mini", " Plus")


class Finding(NamedTuple):
    """One result of the paper; `places` are the paragraph ids that state it."""

    kind: str
    strong: bool
    slots: Slots
    places: tuple[str, ...]


class Cited(NamedTuple):
    """A cited paper: its paragraphs in order, its findings, and what it leaves out with the id that says so."""

    topic: str
    slots: Slots
    paragraphs: dict[str, str]
    findings: tuple[Finding, ...]
    unstudied: dict[str, str | None]


def draw_cited(rng: Random, taken: set[str]) -> Cited:
    """A paper whose method, and whose topic with its factor and metric, are not in `taken`, which is updated."""
    while True:
        field = rng.choices(FIELDS, FIELD_WEIGHTS)[0]
        slots = draw_slots(rng, field)
        keys = {slots["m"], f"{slots['topic']}: {slots['factor']}, {slots['metric']}"}
        if not keys & taken:
            break
    taken |= keys
    kinds = rng.sample(KINDS, 5)
    forms = [False, False, False, rng.random() < 0.4, True]
    rng.shuffle(forms)
    silent = [kind for kind in KINDS if kind not in kinds]
    rng.shuffle(silent)
    named = silent[: rng.choice((1, 2))]
    plan = list(zip(kinds, forms, strict=True))
    texts = compose(rng, field, slots, plan, named)
    paragraphs = {f"P{i}": text for i, (text, _) in enumerate(texts, 1)}
    tags = {f"P{i}": tag for i, (_, tag) in enumerate(texts, 1)}
    findings = tuple(
        Finding(kind, strong, slots, tuple(place for place, tag in tags.items() if tag == kind))
        for kind, strong in plan
    )
    where = {tag: place for place, tag in tags.items()}
    return Cited(slots["topic"], slots, paragraphs, findings, {kind: where.get(f"not {kind}") for kind in silent})


def draw_slots(rng: Random, field: Field) -> Slots:
    """Names and numbers of the paper; each kind of finding uses its own part of them."""
    m, b, b2 = rng.sample(field.systems, 3)
    m += rng.choice(VARIANTS)
    bed, bed2, bed3 = rng.sample(field.beds, 3)
    metric, sweep = rng.choice(field.metrics), rng.choice(field.sweeps)
    va, vb = ladder(rng, metric, 2)
    v4, vm, v0 = ladder(rng, metric, 3)
    part = round(
        abs(ladder(rng, metric, 2)[0] - ladder(rng, metric, 2)[1]) + 0.03 * (metric.high - metric.low), metric.decimals
    )
    c, c2 = rng.sample(field.components, 2)
    n, human = rng.randint(14, 40), field.key in ("language", "medicine")
    factor, subset, topic = rng.choice(field.factors), rng.choice(field.subsets), rng.choice(field.topics)
    return {
        "m": m,
        "b": b,
        "b2": b2,
        "bed": bed,
        "bed2": bed2,
        "bed3": bed3,
        "c": c,
        "c2": c2,
        "topic": topic,
        "Topic": topic[0].upper() + topic[1:],
        "metric": metric.name,
        "va": metric.show(va),
        "vb": metric.show(vb),
        "gap": metric.gap(va, vb),
        "loss": metric.gap(part, 0),
        "v0": metric.show(v0),
        "vm": metric.show(vm),
        "v4": metric.show(v4),
        "sweep": sweep.name,
        "x1": sweep.at(1),
        "xm": sweep.at(2),
        "x4": sweep.at(4),
        "factor": factor,
        "Factor": factor[0].upper() + factor[1:],
        "r": f"0.{rng.randint(24, 58)}",
        "n": str(n),
        "k": str(round(n * rng.uniform(0.54, 0.72))),
        "raters": field.raters,
        "subset": subset,
        "Subset": subset[0].upper() + subset[1:],
        "pct": str(rng.randint(11, 34)),
        "save": str(rng.randint(8, 27)),
        "eps": metric.gap(0.01 * (metric.high - metric.low) + 10.0**-metric.decimals, 0),
        "system": field.system,
        "system_plural": field.system_plural,
        "bed_noun": field.bed,
        "bed_plural": field.bed_plural,
        "field": field.key,
        "fault": "error" if human else "failure",
        "faults": "errors" if human else "failures",
        "mishaps": "mistakes" if human else "breakdowns",
    }


def for_kind(kind: str, slots: Slots) -> Slots:
    """The slots with `gap` as the kind means it: the difference to the baseline, or what a removal costs."""
    return slots | {"gap": slots["loss"]} if kind == "part" else slots


def compose(
    rng: Random, field: Field, slots: Slots, plan: list[tuple[str, bool]], named: list[str]
) -> list[tuple[str, str]]:
    """All paragraphs in order, each with a tag: the kind of the finding it states, `not <kind>`, or nothing."""
    size = rng.choice((0.2, 0.4, 0.6, 0.8, 1.0, 1.2))
    echoed = {where: rng.sample(plan, rng.choice((1, 2))) for where in ("abstract", "conclusion")}

    def around(bank: tuple[str, ...], count: float) -> list[tuple[str, str]]:
        """Paragraphs of two or three filler sentences."""
        pool = rng.sample(bank, len(bank))
        out = []
        for _ in range(max(1, round(count * size))):
            lines, pool = pool[: (take := rng.choice((2, 3, 3)))], pool[take:]
            if lines:
                out.append((" ".join(fill(rng, field, slots, line) for line in lines), ""))
        return out

    def stated(where: str) -> list[tuple[str, str]]:
        """The findings that are repeated in the abstract or the conclusion."""
        return [
            (lead_in(rng, where) + rng.choice(form(*pair).echo).format(**for_kind(pair[0], slots)), pair[0])
            for pair in echoed[where]
        ]

    results = [(rng.choice(form(kind, strong).body).format(**for_kind(kind, slots)), kind) for kind, strong in plan]
    results += around(filler.DISCUSSION, 7)
    rng.shuffle(results)
    limits = around(filler.LIMITS, 3) + [(NOT_STUDIED[kind].format(**slots), f"not {kind}") for kind in named]
    rng.shuffle(limits)
    sections = (
        [(fill(rng, field, slots, rng.choice(filler.ABSTRACT)), ""), *stated("abstract")],
        around(filler.INTRO, 6),
        around(filler.RELATED, 8),
        around(filler.METHOD, 7),
        around(filler.SETUP, 6),
        results,
        limits,
        [*around(filler.CONCLUSION, 1), *stated("conclusion")],
    )
    texts: list[tuple[str, str]] = []
    for heading, section in zip(filler.HEADINGS, sections, strict=True):
        texts += [(heading, ""), *section]
    return texts


def form(kind: str, strong: bool) -> Wordings:
    """The wordings of one form of a finding."""
    return (STRONG if strong else WEAK)[kind]


def lead_in(rng: Random, where: str) -> str:
    """What comes before a finding that the abstract or the conclusion repeats."""
    if where == "abstract":
        return rng.choice(
            ("Several experiments were carried out under a fixed protocol. ", "The main outcome can be put briefly. ")
        )
    return rng.choice(("To sum up one of the measurements: ", "Looking back, one outcome deserves mention. "))


def fill(rng: Random, field: Field, slots: Slots, line: str) -> str:
    """A filler sentence with the paper's names and, for other people's work, drawn ones."""
    used = (slots["m"], slots["b"], slots["b2"])
    metric = next(metric for metric in field.metrics if metric.name == slots["metric"])
    foreign = {
        "author": rng.choice(AUTHORS) + rng.choice((" et al.", " and colleagues", " and " + rng.choice(AUTHORS))),
        "other": rng.choice([name for name in field.systems if not any(name in own for own in used)]),
        "num": metric.show(round(rng.uniform(metric.low, metric.high), metric.decimals)),
        "num2": f"{rng.uniform(1, 9):.1f}",
    }
    text = line.format(**(slots | foreign))
    return text[0].upper() + text[1:]
