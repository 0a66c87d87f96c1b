"""The organisers' files as records: `python -m aisr.programs.averitec.convert FILE --documents STORE --out OUT`.

Reads their JSON list (or JSON Lines), gives each claim its place in it as `claim_id`, and puts the best excerpts of its
pages beside it, so that a record holds all that is needed to judge it. With --index all passages of its pages are in a
file beside the records too, which the record names and questions search. A claim's pages are read once: what was found
in them is kept by their digest, and a conversion that was stopped goes on there.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from aisr.base.errors import UserError, exit_code
from aisr.base.files import digest_file, replacing
from aisr.programs.averitec.documents import PAGES, SUFFIX, build, pages, reduced
from aisr.programs.averitec.record import Document
from aisr.programs.records import valid_texts
from aisr.programs.text_store import TextStore

PASSAGES = 200  # of a claim's pages; questions are answered from these alone
SUFFIXES = (".json", ".jsonl")
KEPT = Path(".aisr") / "pages"  # beside what is written


def main() -> None:
    """The command; where something is wrong it raises UserError, and nothing is written."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.programs.averitec.convert", description="Claims with the best excerpts of their documents."
    )
    parser.add_argument("file", type=Path, help="the organisers' claims, a JSON list or JSON Lines")
    parser.add_argument("--documents", type=Path, required=True, help="folder with 0.json, 1.json, …: pages by claim")
    parser.add_argument("--out", type=Path, required=True, help="JSON Lines file to write")
    parser.add_argument("--passages", type=int, default=PASSAGES, help=f"passages a claim; {PASSAGES} by default")
    parser.add_argument("--index", action="store_true", help="write all pages into files that questions can search")
    options = parser.parse_args()
    count = write(options.file, options.documents, options.out, options.passages, options.index)
    print(f"wrote {options.out}: {count} claims")


def write(file: Path, documents: Path, out: Path, passages: int = PASSAGES, index: bool = False) -> int:
    """Write the records, and how many there are; with `index` also a file of all passages of each claim's pages. The
    records take their place when all are done. Raises UserError for a file that holds no claims, for a claim without
    pages, and where `out` is there already."""
    if out.exists():
        raise UserError(f"{out} is there already; choose another --out or remove it")
    if passages < 1:
        raise UserError(f"--passages {passages}: expected 1 or more")
    count = 0
    with replacing(out) as new, TextStore(out.parent / KEPT, TypeAdapter(list[Document])) as known:
        for count, claim in enumerate(claims(file), start=1):
            number = claim.setdefault("claim_id", count - 1)
            if not isinstance(claim.get("claim"), str):
                raise UserError(f"{file}: entry {count - 1}: claim: missing; expected the text of a claim")
            held = _pages_of(documents, number)
            digest = digest_file(held)
            if index:
                claim["store"] = f"{PAGES}/{digest}{SUFFIX}"
                excerpts = build(pages(held), out.parent / claim["store"]).excerpts(claim["claim"], passages)
            else:
                key = json.dumps([digest, claim["claim"], passages])
                excerpts = known.once(key, partial(_reduced, claim["claim"], held, passages))
            claim["documents"] = [page.model_dump() for page in excerpts]
            new.write(json.dumps(claim, ensure_ascii=False).encode() + b"\n")
    return count


def _reduced(claim: str, held: Path, passages: int) -> list[Document]:
    return reduced(claim, pages(held), passages)


def claims(file: Path) -> Iterator[dict[str, Any]]:
    """The entries of a JSON list, or of JSON Lines. Raises UserError for anything else."""
    try:
        text = file.read_text(encoding="utf-8")
        entries = (
            json.loads(text)
            if text.lstrip().startswith("[")
            else [json.loads(row) for row in text.split("\n") if row.strip()]
        )
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{file}: {error}; expected a JSON list of claims, or a claim a line") from error
    if not entries or not all(isinstance(claim, dict) for claim in entries):
        raise UserError(f"{file}: expected a JSON list of claims, or a claim a line")
    yield from map(valid_texts, entries)


def _pages_of(folder: Path, number: Any) -> Path:
    """The file of a claim's pages. Raises UserError where there is none."""
    for suffix in SUFFIXES:
        if isinstance(number, int) and (file := folder / f"{number}{suffix}").is_file():
            return file
    raise UserError(f"{folder}: no {number!r}{SUFFIXES[0]} in there; expected the pages of each claim by its number")


if __name__ == "__main__":
    sys.exit(exit_code(main))
