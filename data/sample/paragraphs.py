"""Track 1 paragraphs without error: the exhibits shown, the facts stated and what the text item reports beyond them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from random import Random

import wording
from facts import Fact, facts_of, setup_of
from papers import Exhibit, Paper

SUPPORTED = "Supported"


@dataclass
class Sentence:
    """One claim sentence with its labels; `fact` is the true fact behind it."""

    text: str
    types: list[str]
    fact: Fact
    exhibit: Exhibit
    own: bool = True


@dataclass
class Draft:
    """A record in the making: the exhibits shown, what the text item reports beyond them, and the sentences so far."""

    paper: Paper
    exhibits: list[Exhibit]
    has_text: bool
    reports: dict[str, Fact] = field(default_factory=dict)
    sentences: list[Sentence] = field(default_factory=list)


def word(rng: Random, fact: Fact, templates: dict[str, tuple[str, ...]] = wording.CLAIMS) -> str:
    """One wording of the fact, 8 to 30 words long where one exists."""
    texts = [template.format(**fact.slots) for template in templates[fact.kind]]
    fitting = [text for text in texts if 8 <= len(text.split()) <= 30] or texts
    text = rng.choice(fitting)
    text = re.sub(r"\b([Aa]) (?=(?:[aeio]|AUROC|F1))", r"\1n ", text)
    return text[0].upper() + text[1:]


def with_tail(rng: Random, text: str, tails: tuple[str, ...], **slots: str) -> str:
    """The sentence with one of the tails in place of its full stop."""
    return text.removesuffix(".") + rng.choice(tails).format(**slots)


def draft(rng: Random, paper: Paper) -> Draft:
    """Draws the exhibits, the paragraph's true sentences and what the text item says of causes and robustness."""
    chosen = rng.sample(paper.exhibits, min(len(paper.exhibits), rng.choice((1, 1, 2, 2))))
    chosen.sort(key=paper.exhibits.index)
    record = Draft(paper, chosen, rng.random() < 0.85)
    size = rng.choice((2, 3, 3, 4, 4, 4, 5, 5, 6))
    if rng.random() < 0.5:
        exhibit = rng.choice(chosen)
        setup = setup_of(paper, exhibit)
        record.sentences.append(Sentence(word(rng, setup), [SUPPORTED], setup, exhibit))
    pool = [(exhibit, fact) for exhibit in chosen for fact in facts_of(rng, paper, exhibit)]
    rng.shuffle(pool)
    seen: set[tuple[str, ...]] = set()
    for exhibit, fact in pool:
        key = subject(fact, exhibit)
        if len(record.sentences) < size and key not in seen:
            seen.add(key)
            record.sentences.append(Sentence(true_wording(rng, fact, exhibit), [SUPPORTED], fact, exhibit))
    order = {exhibit.label: index for index, exhibit in enumerate(chosen)}
    setups = [s for s in record.sentences if s.fact.kind.startswith("setup")]
    rest = [s for s in record.sentences if not s.fact.kind.startswith("setup")]
    record.sentences = setups + sorted(rest, key=lambda s: order[s.exhibit.label])
    if record.has_text:
        report_extras(rng, record)
    return record


def subject(fact: Fact, exhibit: Exhibit) -> tuple[str, ...]:
    """Facts with the same subject say nearly the same thing and do not stand in one paragraph."""
    kind = {"over": "best", "all-over": "all", "all-best": "all", "exception": "best", "hard": "range"}.get(
        fact.kind, fact.kind
    )
    return (
        kind,
        exhibit.label,
        fact.slots["bed"] if kind != "all" else "",
        fact.slots.get("c", "") if kind == "ablate" else "",
    )


def true_wording(rng: Random, fact: Fact, exhibit: Exhibit) -> str:
    """The fact in words, now and then with a further system that is behind as well."""
    text = word(rng, fact)
    third = [s for s in exhibit.systems if s not in (fact.slots["a"], fact.slots.get("b"))]
    if fact.kind == "best" and third and rng.random() < 0.2:
        return with_tail(rng, text, wording.ALSO_TAILS, c=rng.choice(third))
    return text


def leading(record: Draft) -> list[Sentence]:
    """The sentences that show the paper's own system in front on a named bed."""
    return [
        s
        for s in record.sentences
        if s.fact.leads and s.fact.slots["a"] == record.paper.hero and s.fact.kind != "all-best"
    ]


def extra(rng: Random, record: Draft, kind: str, base: Fact, taken: str = "") -> Fact:
    """A cause or a robustness statement about the lead in `base`."""
    pool = record.paper.field.mechanisms if kind == "cause" else record.paper.field.conditions
    slot = "mechanism" if kind == "cause" else "condition"
    names = (("a", "system"), ("bed", "bed"))
    return Fact(kind, base.slots | {slot: rng.choice([item for item in pool if item != taken])}, (), names)


def report_extras(rng: Random, record: Draft) -> None:
    """Lets the text item report a cause (45 %) or a robustness check (35 %), mostly taken up by a claim sentence."""
    for kind, chance in (("cause", 0.45), ("wide", 0.35)):
        bases = leading(record)
        if not bases or rng.random() > chance or record.reports:
            continue
        base = rng.choice(bases)
        fact = extra(rng, record, kind, base.fact)
        record.reports[kind] = fact
        if rng.random() < 0.85:
            state_extra(rng, record, base, fact, [SUPPORTED])


def state_extra(rng: Random, record: Draft, base: Sentence, fact: Fact, types: list[str]) -> None:
    """Adds the cause or condition to the base sentence as a tail, or as a sentence of its own after it."""
    tails = wording.CAUSE_TAILS if fact.kind == "cause" else wording.WIDE_TAILS
    tailed = with_tail(rng, base.text, tails, **fact.slots)
    if rng.random() < 0.5 and len(tailed.split()) <= 34 and base.own:
        base.text, base.types, base.own = tailed, types, False
        return
    place = record.sentences.index(base) + 1
    record.sentences.insert(place, Sentence(word(rng, fact), types, fact, base.exhibit, own=False))
