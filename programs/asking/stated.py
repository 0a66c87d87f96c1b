"""How likely a model says each label is, for models that give no log-probabilities.

Beside each label it writes one short string: the percent of that label, then the likeliest other label and its
percent, as in "70, Overstate 20". Of the forms that name a runner-up it takes the fewest tokens, and nothing in it can
break an answer: what cannot be read leaves the label as a vote.

Labelled records that stand in a prompt as demos leave it out: nobody knows how likely their labels are, and chances
made up for them would be an example of how sure to be that rests on nothing.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dspy

from aisr.programs import questions

FIELD = questions.SURE
FORM = (
    "how likely that label is in percent, then the likeliest other label and its percent, such as "
    '"{example}". Be honest: of all that you call 70, seven in ten should be right'
)
USUAL = "85, Unsupported Entity 10"  # as long as an answer usually is
MOST = 99.0  # percent: whoever says 100 is not believed the last one
ROUNDING = 1.0  # percent by which stated numbers may sum to more than 100
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}|nan|inf)(?![\w])", re.IGNORECASE)


def asked(labels: Sequence[str], slots: str = "") -> str:
    """What the output field is described as. slots: what is said before, where there is one for each sentence."""
    return slots + FORM.format(example=f"70, {labels[1]} 20")


def stating(
    signature: type[dspy.Signature], labels: Sequence[str], place: int = -1, slots: str = ""
) -> type[dspy.Signature]:
    """A signature that also asks how likely the label is: among its outputs at `place`, -1 for the end. slots: as in
    `asked`; the field is then a list."""
    field: Any = dspy.OutputField(desc=asked(labels, slots))
    wider: type[dspy.Signature] = signature.insert(place, FIELD, field, list[str] if slots else str)
    return wider


def in_form(row: Mapping[str, Any], outputs: Iterable[str], said: Sequence[str]) -> str | list[str]:
    """What the field of a demo holds: a text, or a list where its labels are one. said: of each, or one of all."""
    labels = next((row[name] for name in outputs if isinstance(row.get(name), list) and "label" in name), None)
    if labels is None:
        return said[0]
    return list(said) if len(said) == len(labels) else [said[0]] * len(labels)


def complete(demo: Mapping[str, Any], outputs: Iterable[str]) -> bool:
    """Whether a demo holds an answer: all output fields but how likely its labels are, which nobody knows of a labelled
    record."""
    return all(name in demo for name in outputs if name != FIELD)


def stated(value: Any, label: str, labels: Sequence[str]) -> list[float] | None:
    """The probability of each label, in the order of `labels`, as a value of the field states it beside `label`.

    What it leaves open is shared evenly among the labels that it does not name. None where it states none, or
    impossible ones: not a number, negative, over 100, more than that together.
    """
    text = _text(value)
    found: dict[str, float] = {}
    begin = 0
    for match in NUMBER.finditer(text):
        named = _last_label(text[begin : match.start()], labels)
        name = named or (label if not found else None)
        begin = match.end()
        number = float(match[0])
        if not (math.isfinite(number) and 0 <= number <= 100):
            return None
        if name is not None and name not in found:
            found[name] = number
    if label not in found:
        return None
    if max(found.values()) <= 1:  # shares of 1, not percents
        found = {name: 100 * number for name, number in found.items()}
    if not found[label] or sum(found.values()) > 100 + ROUNDING:
        return None
    found[label] = min(found[label], MOST)
    total = max(100.0, sum(found.values()))
    unnamed = [name for name in labels if name not in found]
    rest = (total - sum(found.values())) / len(unnamed) if unnamed else 0.0
    mass = [found.get(name, rest) for name in labels]
    return [number / math.fsum(mass) for number in mass]


def says_nothing(rows: Sequence[Sequence[float] | None]) -> bool:
    """Whether several labels of one answer were all stated as certain: a habit, not a probability."""
    return len(rows) > 1 and all(row is not None and max(row) >= MOST / 100 for row in rows)


def _text(value: Any) -> str:
    """A value of the field as one line, whatever a model made of its type."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(one)}" for key, one in list(value.items())[:20])
    if isinstance(value, list | tuple):
        return ", ".join(_text(one) for one in value[:20])
    return str(value)[:1000]


def _last_label(text: str, labels: Sequence[str]) -> str | None:
    """The label that is named last in a text; of two that end together the longer: "Unsupported Entity" is no
    Supported."""
    places = [(text.lower().rfind(name.lower()), len(name), name) for name in labels]
    found = [(place + long, long, name) for place, long, name in places if place >= 0]
    return max(found)[2] if found else None
