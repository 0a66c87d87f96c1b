"""What the arithmetic of `check-paper --lm none` finds: `python -m aisr.optimize.studies.arithmetic FILE…`.

A file is a paper (.tex, .md, .pdf), or labelled records of Track 1 (.jsonl) whose evidence has tables as text. Prints
for each what was looked at, what was recomputed and held, and every finding; of records with the label of its sentence,
so that false alarms are those beside Supported.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from aisr.arithmetic.recompute import recomputed
from aisr.commands.display import note
from aisr.paper.draft import Draft, Float, Paragraph, Place, Sentence
from aisr.paper.open import read
from aisr.programs.errors import UserError
from aisr.programs.reading.lines import read as read_records
from aisr.programs.text.table import CELL, rows_of
from aisr.tasks.paper_tasks import CLAIMS

RECORDS = ".jsonl"


def main() -> int:
    """0 where all files could be read, 2 where one could not."""
    parser = argparse.ArgumentParser(prog="python -m aisr.optimize.studies.arithmetic", description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    try:
        for file in parser.parse_args().files:
            study(file)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def study(file: Path) -> None:
    """Print what is found in a file. Raises UserError where it cannot be read."""
    drafts = list(of_records(file)) if file.suffix == RECORDS else [(read(file), dict[int, str]())]
    sentences = sum(len(paragraph.sentences) for draft, _ in drafts for paragraph in draft.paragraphs)
    tables = sum(bool(one.rows) for draft, _ in drafts for one in draft.floats.values())
    held, findings = 0, list[str]()
    for draft, labels in drafts:
        for one in recomputed(draft):
            held += one.fact.holds
            if not one.fact.holds:
                label = "a table" if one.paragraph is None else labels.get(one.sentence, "unlabelled")
                findings.append(f"  [{label}] {one.fact.label}: {one.fact.said}: {one.fact.computed}")
    note(f"{file}: {sentences} sentences, {tables} tables: {held} statements hold, {len(findings)} findings")
    for finding in findings:
        note(finding)


def of_records(file: Path) -> Iterator[tuple[Draft, dict[int, str]]]:
    """Each record with tables as a draft of one paragraph, and the labels of its sentences by their positions."""
    for record in read_records(file, CLAIMS.record, CLAIMS.name):
        floats = {}
        for number, item in enumerate(record.evidence_bundle, start=1):
            said, rows = rows_of(item.text or "")
            if rows:
                cells = "\n".join(row.replace(CELL, "\t") for row in rows)
                caption = " ".join(item.table_caption or [said])
                floats[str(number)] = Float(
                    str(number), f"Table {number}", "table", caption, Place(file.name, 1), cells
                )
        if floats:
            sentences = tuple(Sentence(text, Place(file.name, 1), tuple(floats)) for text in record.sentences)
            gold = {place: str(types[0]) for place, types in enumerate(record.gold or [])}
            yield Draft(file.parent, record.id, (Paragraph(sentences),), floats, {}), gold


if __name__ == "__main__":
    sys.exit(main())
