"""The organisers' files as records: `python -m aisr.programs.averitec.convert FILE --documents STORE --out OUT`.

Reads their JSON list, gives each claim its place in it as `claim_id`, and puts the best excerpts of its pages beside
it, so that a record holds all that is needed to judge it.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from aisr.base.errors import UserError, exit_code
from aisr.base.files import replacing
from aisr.base.jsonl import explain, read_list, valid_texts
from aisr.programs.averitec.record import Document, passages_of
from aisr.programs.records import Text
from aisr.programs.retrieval import bm25, indexed, order

PASSAGES = 200  # of a claim's pages; questions are answered from these alone


class Claim(BaseModel):
    """An entry of the organisers' list, whose other fields go into the record as they are."""

    model_config = ConfigDict(extra="allow")
    claim: Text
    claim_id: int | None = None


def main() -> None:
    """Run the command; where something is wrong it raises UserError, and nothing is written."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.programs.averitec.convert", description="Claims with the best excerpts of their documents."
    )
    parser.add_argument("file", type=Path, help="the organisers' claims, a JSON list")
    parser.add_argument("--documents", type=Path, required=True, help="folder with 0.json, 1.json, …: pages by claim")
    parser.add_argument("--out", type=Path, required=True, help="JSON Lines file to write")
    options = parser.parse_args()
    if options.out.exists():  # what it holds took long
        raise UserError(f"{options.out} exists; choose another --out or remove it")
    claims = read_list(options.file, Claim)
    with replacing(options.out) as new:
        for place, claim in enumerate(claims):
            number = place if claim.claim_id is None else claim.claim_id
            best = excerpts(claim.claim, pages(options.documents / f"{number}.json"))
            record = {
                **claim.model_dump(),
                "claim_id": number,
                "documents": [page.model_dump() for page in best],
            }
            new.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
    print(f"wrote {options.out}: {len(claims)} claims")


def pages(file: Path) -> Iterator[Document]:
    """Yield the pages of a claim's file, a JSON object a line. Raises UserError, naming the line, for anything else.

    The `type` of a line, which says of some pages that they are gold, is not read."""
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: {error}; expected the pages of each claim by its number") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield Document.model_validate(valid_texts(json.loads(line)))
            except (ValueError, RecursionError) as error:
                reason = explain(error) if isinstance(error, ValidationError) else error
                raise UserError(f"{file}:{number}: {reason}; expected a page with url and url2text") from error


def excerpts(claim: str, documents: Iterable[Document]) -> list[Document]:
    """Return excerpts of pages, in their order: the `PASSAGES` that match a claim best by BM25, each with the one
    before it and the one after it on its page. Those that touch are one excerpt."""
    passages = list(passages_of(documents).values())
    best = order(bm25(claim, [passage.text for passage in passages]))[:PASSAGES]
    indexed.cache_clear()  # of the next claim there are as many pages again
    kept = {
        near
        for place in map(int, best)
        for near in (place - 1, place, place + 1)
        if 0 <= near < len(passages) and passages[near].url == passages[place].url
    }
    # Places that follow each other on a page are as far from their number as the one before.
    touching = groupby(enumerate(sorted(kept)), key=lambda pair: (pair[1] - pair[0], passages[pair[1]].url))
    return [
        Document(url=url, text=" ".join(passages[place].text for _, place in places)) for (_, url), places in touching
    ]


if __name__ == "__main__":
    sys.exit(exit_code(main))
