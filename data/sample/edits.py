"""The planted errors of Track 1: each changes one sentence so that exactly its label becomes true."""

from __future__ import annotations

from random import Random

import wording
from facts import Fact, facts_of
from papers import Paper, listing
from paragraphs import SUPPORTED, Draft, Sentence, extra, leading, state_extra, with_tail, word

CAUSAL = "Unsupported Causal Mechanistic"
ENTITY = "Unsupported Entity"
SCOPE = "Scope Overgeneralization"
CONTRADICTION = "Contradiction"
SCOPE_AND_ENTITY = f"{SCOPE} + {ENTITY}"


class NoRoom(Exception):
    """The drawn paragraph offers no sentence for the wanted edit."""


def plant(rng: Random, record: Draft, label: str) -> None:
    """Plants one error of the given label; raises NoRoom where the paragraph has no place for it."""
    ways = {
        CAUSAL: plant_cause,
        SCOPE: plant_scope,
        ENTITY: plant_entity,
        CONTRADICTION: plant_contradiction,
        SCOPE_AND_ENTITY: plant_scope_entity,
    }
    ways[label](rng, record)


def untouched(record: Draft) -> list[Sentence]:
    """Sentences still free for an edit."""
    return [s for s in record.sentences if s.own and s.types == [SUPPORTED] and s.fact.kind in wording.CLAIMS]


def pick(rng: Random, sentences: list[Sentence]) -> Sentence:
    """One of the sentences, or NoRoom."""
    if not sentences:
        raise NoRoom
    return rng.choice(sentences)


def plant_cause(rng: Random, record: Draft) -> None:
    """A mechanism that nothing in the evidence reports (another one may be reported)."""
    reported = record.reports.get("cause")
    base = pick(rng, [s for s in untouched(record) if s in leading(record)])
    state_extra(
        rng,
        record,
        base,
        extra(rng, record, "cause", base.fact, reported.slots["mechanism"] if reported else ""),
        [CAUSAL],
    )


def plant_scope(rng: Random, record: Draft) -> None:
    """A condition never checked, a one-bed finding stated for all beds, or a leap to any bed."""
    free = untouched(record)
    beaten = any(
        fact.kind == "exception" for exhibit in record.exhibits for fact in facts_of(rng, record.paper, exhibit)
    )
    narrow = [
        s for s in free if s.fact.kind in ("ablate", "trend", "largest", "plateau", *(() if beaten else ("lead",)))
    ]
    leaders = [s for s in free if s in leading(record)]
    way = rng.choice(("condition", "beds", "beds", "leap"))
    if way == "beds" and narrow:
        sentence = rng.choice(narrow)
        plural, noun = record.paper.field.bed_plural, record.paper.field.bed
        wide_bed = rng.choice((f"all {plural}", f"every {noun}", f"any {noun}"))
        sentence.text = word(rng, sentence.fact._replace(slots=sentence.fact.slots | {"bed": wide_bed}))
        sentence.types, sentence.own = [SCOPE], False
    elif (
        way == "leap"
        and not beaten
        and (bases := [s for s in leaders if s.fact.kind == "lead"] + [s for s in free if s.fact.kind == "all-best"])
    ):
        base = rng.choice(bases)
        text = rng.choice(wording.LEAPS).format(**base.fact.slots)
        record.sentences.insert(
            record.sentences.index(base) + 1, Sentence(text, [SCOPE], base.fact, base.exhibit, own=False)
        )
    else:
        base = pick(rng, leaders)
        reported = record.reports.get("wide")
        taken = reported.slots["condition"] if reported else ""
        state_extra(rng, record, base, extra(rng, record, "wide", base.fact, taken), [SCOPE])


def plant_contradiction(rng: Random, record: Draft) -> None:
    """The fact with a number, a direction or a ranking turned into what the exhibit denies."""
    sentence = pick(rng, [s for s in untouched(record) if s.fact.lies])
    lies = [sentence.fact._replace(slots=sentence.fact.slots | lie) for lie in sentence.fact.lies]
    changed = [
        (lie, template)
        for lie in lies
        for template in wording.CLAIMS[sentence.fact.kind]
        if template.format(**lie.slots) != template.format(**sentence.fact.slots)
    ]
    lie, template = rng.choice(changed)
    sentence.text, sentence.types, sentence.own = word(rng, lie, {lie.kind: (template,)}), [CONTRADICTION], False


def plant_entity(rng: Random, record: Draft) -> None:
    """A name of the evidence exchanged for one that the paper never uses, or such a name added."""
    sentence = pick(rng, [s for s in untouched(record) if s.fact.names])
    fact = sentence.fact
    if fact.kind == "best" and rng.random() < 0.3:
        sentence.text = with_tail(
            rng, word(rng, fact), wording.ALSO_TAILS, c=rng.choice(foreign(record.paper, "system"))
        )
        sentence.types, sentence.own = [ENTITY], False
    else:
        slot, kind = rng.choice(fact.names)
        slots = foreign_slots(rng, record.paper, fact, slot, kind)
        before = fact.slots[slot]
        fitting = tuple(
            t for t in wording.CLAIMS[fact.kind] if "{" + slot + "}" in t or (slot == "metric" and "{am}" in t)
        )
        if not fitting or slots[slot] == before:
            raise NoRoom
        sentence.text = word(rng, fact._replace(slots=slots), {fact.kind: fitting})
        sentence.types, sentence.own = [ENTITY], False


def plant_scope_entity(rng: Random, record: Draft) -> None:
    """Two labels at once: the lead is said to hold on every bed, a foreign one among them."""
    sentence = pick(rng, [s for s in untouched(record) if s.fact.kind == "all-best"])
    beds = (*sentence.exhibit.beds, rng.choice(foreign(record.paper, "bed")))
    text = rng.choice(
        (
            "{a} leads on every {bed_noun} that was tried, including {beds}.",
            "The {most} {metric} always goes to {a}, on all {bed_plural} and even on {last}.",
            "{a} is in front on any {bed_noun}, be it {beds}.",
        )
    )
    sentence.text = text.format(**(sentence.fact.slots | {"beds": listing(beds), "last": beds[-1]}))
    sentence.types, sentence.own = [SCOPE, ENTITY], False


def foreign(paper: Paper, kind: str) -> list[str]:
    """Names of the paper's field that the paper itself never uses."""
    pool, used = (paper.field.systems, paper.systems) if kind == "system" else (paper.field.beds, paper.beds)
    return [name for name in pool if name not in used]


def foreign_slots(rng: Random, paper: Paper, fact: Fact, slot: str, kind: str) -> dict[str, str]:
    """The fact's slots with one name exchanged; a metric only for one of the same unit and direction."""
    slots = dict(fact.slots)
    if kind == "metric":
        own = next(metric for metric in paper.metrics if metric.name == slots["metric"])
        twins = [
            m
            for m in paper.field.metrics
            if m not in paper.metrics and (m.unit, m.higher, m.decimals) == (own.unit, own.higher, own.decimals)
        ]
        if not twins:
            raise NoRoom
        twin = rng.choice(twins)
        return slots | {"metric": twin.name, "am": twin.article}
    inside = [name for name in (paper.systems if kind == "system" else paper.beds) if name in slots[slot]]
    new = rng.choice(foreign(paper, kind))
    return slots | {slot: slots[slot].replace(rng.choice(inside), new)}
