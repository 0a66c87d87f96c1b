"""Labelled records of drafts, made of papers with planted faults: what a second look is shown, and what is right.

A planted sentence is contradicted, or goes beyond the evidence, by the kind of its fault. An untouched one counts as
supported where every number in it is borne out by a table, and it gives no cause and claims no more than a case.
"""

from collections.abc import Sequence
from typing import Any

from aisr.paper.check.checks import WHOLE, Judged, checks
from aisr.paper.draft import Draft
from aisr.paper.recompute.numbers import find_numbers
from aisr.programs.decision import causes, quantifiers
from aisr.programs.draft.record import DraftLabel
from aisr.programs.task import Said
from benchmarks.injected_errors.errors import CONTRADICTED, Fault, spots

Place = tuple[int, int]  # paragraph and sentence


def labelled(draft: Draft, faults: Sequence[Fault], name: str) -> list[Judged]:
    """The records of a paper in which faults were planted, whose ids begin with a name. Sentences whose table is not
    among what they are held against are left out."""
    known = {place: (DraftLabel.SUPPORTED, table) for place, table in _supported(draft).items()}
    for one in faults:
        label = DraftLabel.CONTRADICTED if one.kind in CONTRADICTED else DraftLabel.BEYOND
        known[one.paragraph, one.sentence] = label, one.table
    look, correctable = checks(draft, {}).second, WHOLE.correctable
    if look is None or correctable is None:
        return []
    wanted: dict[int, list[int]] = {}
    for paragraph, sentence in known:
        wanted.setdefault(paragraph, []).append(sentence)
    found: list[Judged] = []
    for check in look.checks(wanted):
        shown = _tables(getattr(check.record, "evidence_bundle", ()))
        labels = {k: Said(known[place][0]) for k, place in enumerate(check.places) if known[place][1] in shown}
        if labels:
            made = correctable.labelled(check.record, labels)
            found.append(made.model_copy(update={"id": f"{name}:{made.id}"}))
    return found


def _tables(evidence: Sequence[Any]) -> set[str]:
    """The names of the tables that are shown."""
    return {caption.partition(":")[0] for item in evidence for caption in item.table_caption}


def _supported(draft: Draft) -> dict[Place, str]:
    """The sentences that a table bears out as a whole, as far as a program can tell, and the name of that table."""
    found = {}
    for paragraph, sentence, spot in spots(draft):
        numbers = {one.start for one in find_numbers(spot.text)}
        borne_out = {one.number.start for one in (*spot.numbers, *spot.differences)}
        if numbers <= borne_out and not causes(spot.text, "") and not quantifiers(spot.text, ""):
            found[paragraph, sentence] = spot.bearing[0].table.name
    return found
