"""The evidence bundle of a Track 1 record, as the text that a model reads."""

import re
from collections import Counter
from collections.abc import Sequence

from programs.records import EvidenceItem
from programs.untrusted import item as as_item

KINDS = {"text": "text", "table": "table", "image": "figure"}
LABEL = re.compile(r"(?:text|table|figure)\s*\d+", re.IGNORECASE)


def render(bundle: Sequence[EvidenceItem]) -> str:
    """One line an item, numbered by kind: `[table 1] caption` or `[text 1] paragraph`.

    Pictures are shown by their captions; a picture without one says so, so that the model knows that it exists.
    """
    numbers: Counter[str] = Counter()
    lines = []
    for item in bundle:
        kind = KINDS[item.type]
        numbers[kind] += 1
        words = as_item(f"{item.text} {item.caption}", LABEL.fullmatch)
        lines.append(f"[{kind} {numbers[kind]}] {words or '(no caption)'}")
    return "\n".join(lines) or "(no evidence was given)"
