"""The organisers' files as records: `python -m aisr.programs.averitec.convert FILE --documents STORE --out OUT`.

Reads their JSON list (or JSON Lines), gives each claim its place in it as `claim_id`, and puts the best excerpts of its
pages beside it, so that a record holds all that is needed to judge it.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aisr.base.errors import UserError, exit_code
from aisr.base.files import replacing
from aisr.base.jsonl import valid_texts
from aisr.programs.averitec.record import excerpts, pages

PASSAGES = 200  # of a claim's pages; questions are answered from these alone
SUFFIXES = (".json", ".jsonl")


def main() -> None:
    """Run the command; where something is wrong it raises UserError, and nothing is written."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.programs.averitec.convert", description="Claims with the best excerpts of their documents."
    )
    parser.add_argument("file", type=Path, help="the organisers' claims, a JSON list or JSON Lines")
    parser.add_argument("--documents", type=Path, required=True, help="folder with 0.json, 1.json, …: pages by claim")
    parser.add_argument("--out", type=Path, required=True, help="JSON Lines file to write")
    parser.add_argument("--passages", type=int, default=PASSAGES, help=f"passages a claim; {PASSAGES} by default")
    options = parser.parse_args()
    count = write(options.file, options.documents, options.out, options.passages)
    print(f"wrote {options.out}: {count} claims")


def write(file: Path, documents: Path, out: Path, passages: int = PASSAGES) -> int:
    """Write the records, and return how many there are. They take their place when all are done. Raises UserError for a
    file that holds no claims, for a claim without pages, and where `out` exists."""
    if out.exists():
        raise UserError(f"{out} exists; choose another --out or remove it")
    if passages < 1:
        raise UserError(f"--passages {passages}: expected 1 or more")
    count = 0
    with replacing(out) as new:
        for count, claim in enumerate(_claims(file), start=1):
            number = claim.setdefault("claim_id", count - 1)
            if not isinstance(claim.get("claim"), str):
                raise UserError(f"{file}: entry {count - 1}: claim: missing; expected the text of a claim")
            best = excerpts(claim["claim"], pages(_pages_of(documents, number)), passages)
            claim["documents"] = [page.model_dump() for page in best]
            new.write(json.dumps(claim, ensure_ascii=False).encode() + b"\n")
    return count


def _claims(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the entries of a JSON list, or of JSON Lines. Raises UserError for anything else."""
    try:
        text = file.read_text(encoding="utf-8")
        is_list = text.lstrip().startswith("[")
        entries = json.loads(text) if is_list else [json.loads(row) for row in text.split("\n") if row.strip()]
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{file}: {error}; expected a JSON list of claims, or a claim a line") from error
    if not entries or not all(isinstance(claim, dict) for claim in entries):
        raise UserError(f"{file}: expected a JSON list of claims, or a claim a line")
    yield from map(valid_texts, entries)


def _pages_of(folder: Path, number: Any) -> Path:
    """Return the file of a claim's pages. Raises UserError where there is none."""
    for suffix in SUFFIXES:
        if isinstance(number, int) and (file := folder / f"{number}{suffix}").is_file():
            return file
    raise UserError(f"{folder}: no {number!r}{SUFFIXES[0]} in there; expected the pages of each claim by its number")


if __name__ == "__main__":
    sys.exit(exit_code(main))
