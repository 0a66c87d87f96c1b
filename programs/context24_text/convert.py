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
from typing import Any

from pydantic import ValidationError

from aisr.base.errors import UserError, exit_code
from aisr.base.files import write_whole
from aisr.base.jsonl import explain, valid_texts
from aisr.programs.context24_text.record import Context24TextRecord
from aisr.programs.text import sentences, words

BLANK = re.compile(r"\n[^\S\n]*+\n")
LINE_END = re.compile(r"\r\n?|\n")
LONGEST = 250  # words of a line; a longer one is no paragraph, but a paper that lost its line ends
WORDS = 120  # of the paragraphs that such a line is cut into, at most, unless one sentence is longer


def organisers_json(file: Path) -> Any:
    """What a file of the organisers holds, in whole characters. Raises UserError for what is no JSON."""
    try:
        return valid_texts(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{file}: {error}; expected JSON") from error


def full_texts(file: Path) -> dict[str, list[str]]:
    """The paragraphs of each paper of a JSON object, by its key. Raises UserError for anything else."""
    known = organisers_json(file)
    if not isinstance(known, dict):
        raise UserError(f"{file}: expected a JSON object, the text of each paper by its citekey")
    return {key: paragraphs(text, f"{file}: {key}") for key, text in known.items()}


def paragraphs(text: Any, source: str) -> list[str]:
    """The paragraphs of a paper: those of a list, or what blank lines part; each line is one where none are blank, and
    a line of more than `LONGEST` words is cut between sentences. Raises UserError for what is no text."""
    if isinstance(text, str):
        parts = BLANK.split(text.strip())
        text = parts if len(parts) > 1 else LINE_END.split(text)
    if not isinstance(text, list) or not all(isinstance(part, str) for part in text):
        raise UserError(f"{source}: expected a text, or a list of paragraphs")
    pieces = [piece for part in text if part.strip() for piece in _cut(" ".join(words(part)))]
    if not pieces:
        raise UserError(f"{source}: no text in there")
    return pieces


def _cut(line: str) -> list[str]:
    """A line, in pieces of whole sentences where it is too long."""
    if line.count(" ") < LONGEST:
        return [line]
    pieces: list[list[str]] = [[]]
    for sentence in sentences(line):
        length = len(sentence.split())
        if pieces[-1] and len(pieces[-1]) + length > WORDS:
            pieces.append([])
        pieces[-1] += sentence.split()
    return [" ".join(piece) for piece in pieces]


def main() -> None:
    """The command; where something is wrong it raises UserError, and nothing is written."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.programs.context24_text.convert", description="Claims with the full text of their papers."
    )
    parser.add_argument("claims", type=Path, help="the organisers' claims, a JSON list")
    parser.add_argument("--papers", type=Path, required=True, help="JSON object: full text by citekey")
    parser.add_argument("--out", type=Path, required=True, help="JSON Lines file to write")
    options = parser.parse_args()
    count = write(options.claims, options.papers, options.out)
    print(f"wrote {options.out}: {count} claims")


def write(claims: Path, papers: Path, out: Path) -> int:
    """Write the records, and how many there are. Raises UserError for a file of another form, for a bad claim, and for
    one whose paper is not there."""
    listed = organisers_json(claims)
    if not isinstance(listed, list):
        raise UserError(f"{claims}: expected a JSON list of claims")
    texts = full_texts(papers)
    lines = [_record(entry, texts, f"{claims}: entry {place}") for place, entry in enumerate(listed)]
    write_whole(out, "".join(f"{line}\n" for line in lines))
    return len(lines)


def _record(entry: Any, texts: dict[str, list[str]], source: str) -> str:
    """A claim with the text of its paper, as a line."""
    key = entry.get("citekey") if isinstance(entry, dict) else None
    if not isinstance(key, str) or key not in texts:
        raise UserError(f"{source}: citekey: no paper {key!r} in --papers; it has {len(texts)}")
    try:
        record = Context24TextRecord.model_validate({**entry, "paragraphs": texts[key]})
    except ValidationError as error:
        raise UserError(f"{source}: {explain(error)}") from error
    return json.dumps(record.model_dump(), ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(exit_code(main))
