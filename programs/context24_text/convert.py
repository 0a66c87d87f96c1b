"""The organisers' files as records: `python -m aisr.programs.context24_text.convert CLAIMS --papers PAPERS --out OUT`.

CLAIMS is a JSON list of claims, such as their `task2-train-dev.json`; PAPERS a JSON object that has the full text of
each paper under its `citekey`, as one string or as a list of paragraphs. A text that is one long line is cut into
paragraphs of whole sentences.
"""

import argparse
import json
import re
import sys
from pathlib import Path

from pydantic import Field

from aisr.base.errors import UserError, exit_code
from aisr.base.files import write_whole
from aisr.base.jsonl import read_as, read_list
from aisr.programs.context24_text.task import Context24TextRecord
from aisr.programs.records import Text
from aisr.programs.text import pieces, words

BLANK = re.compile(r"\n[^\S\n]*+\n")
LONGEST = 250  # words of a line; a longer one is no paragraph, but a paper that lost its line ends
WORDS = 120  # of the paragraphs that such a line is cut into, at most


def full_texts(file: Path) -> dict[str, list[str]]:
    """Return the paragraphs of each paper of a JSON object, by its key. Raises UserError for anything else."""
    return {key: paragraphs(text) for key, text in read_as(dict[str, str | list[str]], file).items()}


def paragraphs(text: str | list[str]) -> list[str]:
    """Return the paragraphs of a paper: those of a list, or what blank lines part; each line is one where none are
    blank, and a line of more than `LONGEST` words is cut between sentences."""
    if isinstance(text, str):
        parts = BLANK.split(text.strip())
        text = parts if len(parts) > 1 else text.splitlines()
    result: list[str] = []
    for line in filter(str.strip, text):
        result += pieces(line, WORDS) if len(line.split()) > LONGEST else [" ".join(words(line))]
    return result


class Claim(Context24TextRecord):
    """A claim of the organisers' file, whose paper is in another."""

    citekey: Text
    paragraphs: list[str] = Field(default_factory=list)


def main() -> None:
    """Run the command; where something is wrong it raises UserError, and nothing is written."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.programs.context24_text.convert", description="Claims with the full text of their papers."
    )
    parser.add_argument("claims", type=Path, help="the organisers' claims, a JSON list")
    parser.add_argument("--papers", type=Path, required=True, help="JSON object: full text by citekey")
    parser.add_argument("--out", type=Path, required=True, help="JSON Lines file to write")
    options = parser.parse_args()
    claims, texts = read_list(options.claims, Claim), full_texts(options.papers)
    lines = []
    for claim in claims:
        if not texts.get(claim.citekey):
            raise UserError(f"{options.papers}: no text of {claim.citekey!r}, the paper of claim {claim.id}")
        record = {**claim.model_dump(), "paragraphs": texts[claim.citekey]}
        lines.append(json.dumps(record, ensure_ascii=False))
    write_whole(options.out, "".join(f"{line}\n" for line in lines))
    print(f"wrote {options.out}: {len(lines)} claims")


if __name__ == "__main__":
    sys.exit(exit_code(main))
