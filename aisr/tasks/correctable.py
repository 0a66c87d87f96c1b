"""What a task adds so that a person's corrections of verdicts become labelled records of it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from aisr.base.digests import of_text


class Said(NamedTuple):
    """What a person says of a statement: its label, and the ids of the evidence that shows it."""

    label: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Correctable:
    """Where in a record what people correct stands.

    statements and evidence: the texts of a record that are judged, and those that each of them is held against;
    said: the label of each statement in an answer;
    around: what else of a record is judged with them, such as the paragraph that they stand in;
    bare: a record without its labels; labelled: the same with what people say of its statements by their number, from
    0, in the place of its own labels; statements that neither has a label for are left out. Raises ValueError where the
    record does not take it;
    nameable: the ids of evidence that may be named, in the record's order; most: how many at most; 0: none are.
    """

    statements: Callable[[Any], Sequence[str]]
    evidence: Callable[[Any], Sequence[str]]
    said: Callable[[Any], Sequence[str]]
    bare: Callable[[Any], Any]
    labelled: Callable[[Any, Mapping[int, Said]], Any]
    around: Callable[[Any], str] = lambda record: ""
    nameable: Callable[[Any], Sequence[str]] = lambda record: ()
    most: int = 0

    def digests(self, record: Any) -> list[str]:
        """For each statement one of its words and of its evidence: another where either changes, and the same where
        something else in the record does."""
        evidence = digest(self.evidence(record))  # once, however many statements a record has
        return [digest([statement, evidence]) for statement in self.statements(record)]

    def content(self, record: Any) -> str:
        """A digest of all that is judged, and of all that it is held against."""
        return digest([*self.statements(record), "", *self.evidence(record), "", self.around(record)])


def digest(texts: Sequence[str]) -> str:
    """Of texts in their order. Halves of characters, which a PDF may hold, count like any other."""
    return of_text(json.dumps(list(texts)))
