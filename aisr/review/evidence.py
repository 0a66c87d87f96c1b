"""What a sentence is held against, piece by piece as the model read it, and the lines of it that stand out."""

from collections.abc import Sequence

import dspy

from aisr.programs.decision.cues import nearest_line
from aisr.programs.records.base import Record
from aisr.review.verdicts import Mark, Piece
from aisr.tasks.elsewhere import SECTION
from aisr.tasks.task import Answer, Exhibit, Task

LONGEST_NAME = 20
LONGEST_HEADING = 160
BAR = "| "  # what leads a row of a table in a prompt


def of_record(
    task: Task, record: Record, example: dspy.Example, answer: Answer | None
) -> tuple[tuple[Piece, ...], list[tuple[Mark, ...]]]:
    """The pieces of evidence of a record, and for each statement of it the marks.

    Of a task whose programs name evidence, the pieces are paragraphs, and the named ones are marked. Of any other they
    are the items of a bundle with the rows of their tables, and for each statement the line is marked that shares most
    words and numbers with it, and so is such a table row: nobody asked the model which one decided.
    """
    statements = task.labelled.statements(example)
    exhibits = task.exhibits(record, example, answer)
    if task.labelled.evidence_right is not None:
        pieces = tuple(Piece(one.key, (one.text,), one.picture) for one in exhibits)
        named = sorted((one.chosen, number) for number, one in enumerate(exhibits) if one.chosen)
        marks = tuple(Mark(number, 0, place) for place, number in named)
        return pieces, [marks for _ in statements]
    grounds = task.labelled.grounds(example)
    pieces = as_read(grounds, exhibits)
    return pieces, [_nearest(statement, grounds, pieces) for statement in statements]


def as_read(grounds: str, exhibits: Sequence[Exhibit]) -> tuple[Piece, ...]:
    """The pieces of a text that has a line an item, led by its key in brackets, and rows on lines below it."""
    pictures = {one.key: one.picture for one in exhibits}
    found: list[tuple[str, list[str]]] = []
    for line in grounds.split("\n"):
        key, closed, text = line.removeprefix("[").partition("] ")
        if closed and line.startswith("[") and key in pictures:
            found.append((key, [text]))
        elif found:
            found[-1][1].append(line.strip().removeprefix(BAR))
        else:
            found.append(("", [line]))
    return tuple(Piece(_name(key, lines[0]), tuple(lines), pictures.get(key)) for key, lines in found)


def _name(key: str, text: str) -> str:
    """What the paper calls an item, where its text begins with that ("Table 3: …"), or the section of a passage; else
    its key, which counts the items of one bundle."""
    name, kind = text.partition(":")[0], key.partition(" ")[0]
    if kind == "text" and text.startswith(SECTION) and "”: " in text[:LONGEST_HEADING]:
        return f"{text.partition('”: ')[0]}”"
    return name if len(name) <= LONGEST_NAME and name.lower().startswith(f"{kind} ") else key


def _nearest(statement: str, grounds: str, pieces: Sequence[Piece]) -> tuple[Mark, ...]:
    lines = grounds.split("\n")
    places = [Mark(piece, line) for piece, one in enumerate(pieces) for line in range(len(one.lines))]
    rows = [line for line, mark in zip(lines, places, strict=True) if mark.line]
    found = [nearest_line(statement, grounds), nearest_line(statement, "\n".join(rows))]
    return tuple(dict.fromkeys(places[lines.index(line)] for line in found if line))
