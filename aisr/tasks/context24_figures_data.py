"""The organisers' files as records: `python -m aisr.tasks.context24_figures_data CLAIMS --papers PAPERS --out OUT`.

CLAIMS is their JSON list, such as `task1-train-dev.json`; PAPERS a JSON object with the full text of each paper under
its `citekey`. `--captions` is their folder with a JSON object a paper, text by the name of the caption's picture, or
one JSON object of such objects; `--figures` their folder of pictures, whose names are the candidates. Without that the
candidates are the claim's `figures_tables` (2025), and else the figures that have a caption, and the panels in it.

The files were made by people and programs: labels hold stray quotes and line ends, claims occur twice, texts lack line
ends, captions are quoted Python strings. What is changed is listed.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from aisr.base.files import write_whole
from aisr.programs.errors import UserError
from aisr.programs.reading.lines import explain
from aisr.programs.records.context24_figures import Context24FiguresRecord, tidy
from aisr.tasks import full_texts
from aisr.tasks.element_labels import cleaned
from aisr.tasks.paper_elements import Elements

Entry = dict[str, Any]


def main() -> int:
    """0 where the records were written, 2 where something was wrong and nothing was."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.tasks.context24_figures_data", description="Claims with the figures of their papers."
    )
    parser.add_argument("claims", type=Path, help="the organisers' claims, a JSON list")
    parser.add_argument("--papers", type=Path, required=True, help="JSON object: full text by citekey")
    parser.add_argument("--captions", type=Path, help="folder of JSON objects by citekey, or one JSON object of them")
    parser.add_argument("--figures", type=Path, help="folder with a folder of pictures a paper: FIG 1A.png, …")
    parser.add_argument("--out", type=Path, required=True, help="JSON Lines file to write")
    given = parser.parse_args()
    try:
        records, changes = converted(given.claims, given.papers, given.captions, given.figures)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    write_whole(given.out, "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records))
    for change in changes:
        print(f"  {change}")
    papers = {record["citekey"] for record in records}
    print(f"wrote {given.out}: {len(records)} claims about {len(papers)} papers; {len(changes)} changes, listed above")
    return 0


def converted(
    claims: Path, papers: Path, captions: Path | None = None, figures: Path | None = None
) -> tuple[list[Entry], list[str]]:
    """The records as JSON, and what was changed or left out, a line each. Raises UserError for a file of another form,
    and where no claim is left."""
    changes: list[str] = []
    texts = full_texts.papers(papers)
    known = Elements(captions, figures)
    records = []
    for entry in _merged(_entries(claims), changes):
        record = _record(entry, texts, known, changes)
        if record is not None:
            records.append(record)
    if not records:
        raise UserError(f"{claims}: no claim of a paper with figures; expected --captions, --figures or figures_tables")
    return records, [*changes, *known.changes]


def _entries(claims: Path) -> list[Entry]:
    """The claims as they stand in the file."""
    listed = full_texts.organisers_json(claims)
    if not isinstance(listed, list):
        raise UserError(f"{claims}: expected a JSON list of claims")
    for place, entry in enumerate(listed):
        text = ("id", "claim", "citekey")
        if not isinstance(entry, dict) or not all(isinstance(entry.get(name), str) and entry[name] for name in text):
            raise UserError(f"{claims}: entry {place}: expected an object with the texts id, claim and citekey")
        for name in ("findings", "figures_tables"):
            found = entry.get(name)
            if found is not None and not (isinstance(found, list) and all(isinstance(one, str) for one in found)):
                raise UserError(f"{claims}: entry {place}: {name}: expected a list of labels")
    return listed


def _merged(entries: list[Entry], changes: list[str]) -> Iterator[Entry]:
    """Claims whose labels are clean, each once: labelled ones of the same words about the same paper are one, which has
    the findings of all; another claim of an id that was given before gets an id of its own."""
    first: dict[tuple[str, str], Entry] = {}
    ids: dict[str, int] = {}
    kept = []
    for raw in entries:
        entry = {**raw, "findings": _findings(raw, changes)}
        before = first.setdefault((" ".join(entry["claim"].lower().split()), entry["citekey"]), entry)
        if before is not entry and (before["id"] == entry["id"] or (before["findings"] and entry["findings"])):
            before["findings"] = list(dict.fromkeys([*(before["findings"] or ()), *(entry["findings"] or ())])) or None
            changes.append(f"{entry['id']}: the same claim as {before['id']}; now one, with the findings of both")
            continue
        ids[entry["id"]] = count = ids.get(entry["id"], 0) + 1
        if count > 1:
            entry["id"] = f"{raw['id']}-{count}"
            changes.append(f"{raw['id']}: the id of another claim already; now {entry['id']}")
        kept.append(entry)
    yield from kept


def _findings(entry: Entry, changes: list[str]) -> list[str] | None:
    """The gold labels of a claim, clean; None where they are withheld."""
    if entry.get("findings") is None:
        return None
    found: list[str] = []
    for typed in entry["findings"]:
        labels = cleaned(typed)
        if labels != [typed]:
            changes.append(f"{entry['id']}: findings: {typed!r}: now {', '.join(labels) or 'left out'}")
        found += labels
    return list(dict.fromkeys(found))


def _record(entry: Entry, texts: dict[str, list[str]], known: Elements, changes: list[str]) -> Entry | None:
    """A claim with its paper; None, and a line among the changes, where there is nothing to rank."""
    key = entry["citekey"]
    elements = known.of(key, entry.get("figures_tables"))
    if not elements:
        changes.append(f"{entry['id']}: left out; of {key} no figure or table is known")
        return None
    if key not in texts:
        changes.append(f"{entry['id']}: no full text of {key}; its captions are all that is known")
    spelled = {tidy(element["label"]): element["label"] for element in elements}
    findings = [spelled.get(tidy(label), label) for label in entry["findings"] or ()]
    if lacking := [label for label in findings if tidy(label) not in spelled]:
        changes.append(f"{entry['id']}: {', '.join(lacking)}: gold, and no element of {key}; kept, and cannot be found")
    record = {
        **{name: entry[name] for name in ("id", "claim", "citekey", "dataset") if entry.get(name)},
        "paragraphs": texts.get(key, []),
        "elements": elements,
        **({"findings": findings} if entry["findings"] is not None else {}),
    }
    try:
        Context24FiguresRecord.model_validate(record)
    except ValidationError as error:
        raise UserError(f"{entry['id']}: {explain(error)}") from error
    return record


if __name__ == "__main__":
    sys.exit(main())
