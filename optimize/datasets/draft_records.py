"""Labelled records of drafts, made of papers with planted faults: what a second look is shown, and what is right.

A planted sentence is contradicted, or goes beyond the evidence, by the kind of its fault. An untouched one counts as
supported where every number in it is borne out by a table, and it gives no cause and claims no more than a case.
"""

from collections.abc import Sequence

from aisr.arithmetic.numbers import in_text
from aisr.optimize.datasets.paper_faults import CONTRADICTED, Fault, spots
from aisr.paper.draft import Draft
from aisr.programs.decision.cues import causes, quantifiers
from aisr.programs.labels import DraftLabel
from aisr.programs.records.draft import DraftRecord, JudgedSentence
from aisr.tasks.paper_checks import checks

Place = tuple[int, int]  # paragraph and sentence


def labelled(draft: Draft, faults: Sequence[Fault], name: str) -> list[DraftRecord]:
    """The records of a paper in which faults were planted, whose ids begin with a name. Sentences whose table is not
    among what they are held against are left out."""
    known = {place: (DraftLabel.SUPPORTED, table) for place, table in _supported(draft).items()}
    for one in faults:
        label = DraftLabel.CONTRADICTED if one.kind in CONTRADICTED else DraftLabel.BEYOND
        known[one.paragraph, one.sentence] = label, one.table
    look = checks(draft, {}).second
    if look is None:
        return []
    wanted: dict[int, list[int]] = {}
    for paragraph, sentence in known:
        wanted.setdefault(paragraph, []).append(sentence)
    found = []
    for check in look.checks(wanted):
        record = check.record
        if not isinstance(record, DraftRecord):
            continue
        shown = [caption for item in record.evidence_bundle for caption in item.table_caption]
        judged = [
            JudgedSentence(sentence=one.sentence, label=known[place][0])
            for place, one in zip(check.places, record.sentences, strict=True)
            if any(caption.partition(":")[0] == known[place][1] for caption in shown)
        ]
        if judged:
            found.append(record.model_copy(update={"id": f"{name}:{record.id}", "sentences": judged}))
    return found


def _supported(draft: Draft) -> dict[Place, str]:
    """The sentences that a table bears out as a whole, as far as a program can tell, and the name of that table."""
    found = {}
    for paragraph, sentence, spot in spots(draft):
        numbers = {one.start for one in in_text(spot.text)}
        borne_out = {one.number.start for one in (*spot.numbers, *spot.differences)}
        if numbers <= borne_out and not causes(spot.text, "") and not quantifiers(spot.text, ""):
            found[paragraph, sentence] = spot.bearing[0].table.name
    return found
