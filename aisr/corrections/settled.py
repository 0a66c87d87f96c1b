"""What several people say of one statement, settled: the last word of each, and what they agree on."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from aisr.corrections.files import Found
from aisr.tasks.task import Said

TOLD = 10  # of those who differ


class Settled(NamedTuple):
    """said: None where people differ; by: the corrections that say so, or those that differ."""

    said: Said | None
    by: tuple[Found, ...]

    def __str__(self) -> str:
        voices = [f"{one.correction.who}: {one.correction.label} ({one.place})" for one in self.by[:TOLD]]
        more = [f"and {len(self.by) - TOLD} more"] if len(self.by) > TOLD else []
        first = self.by[0].correction
        return f"{first.record_id}, statement {first.statement}: {', '.join(voices + more)}"


def settled(found: Sequence[Found], order: Sequence[str], majority: bool) -> Settled:
    """What holds of one statement. Of each person the latest correction counts; where their labels differ, none does,
    unless `majority` and more than half of the people gave it. Who agrees on the label may name different evidence: all
    of it counts, in the `order` of the record's ids."""
    last: dict[str, tuple[int, Found]] = {}
    for place, one in sorted(enumerate(found), key=lambda pair: pair[1].correction.when):
        last[one.correction.who] = (place, one)
    voices = [one for _, one in sorted(last.values(), key=lambda pair: pair[0])]
    label, count = Counter(str(one.correction.label) for one in voices).most_common(1)[0]
    if count < len(voices) and not (majority and 2 * count > len(voices)):
        return Settled(None, tuple(voices))
    agreed = tuple(one for one in voices if one.correction.label == label)
    named = {key for one in agreed for key in one.correction.evidence}
    return Settled(Said(label, tuple(key for key in order if key in named)), agreed)
