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

from pydantic import Field

from aisr.base.errors import UserError, exit_code
from aisr.base.files import write_whole
from aisr.base.jsonl import read_list, valid_texts
from aisr.programs.context24_text.task import Context24TextRecord
from aisr.programs.records import Text
from aisr.programs.text import sentences, words

BLANK = re.compile(r"\n[^\S\n]*+\n")
LINE_END = re.compile(r"\r\n?|\n")
LONGEST = 250  # words of a line; a longer one is no paragraph, but a paper that lost its line ends
WORDS = 120  # of the paragraphs that such a line is cut into, at most, unless one sentence is longer


def organisers_json(file: Path) -> Any:
    """Return the content of a file of the organisers, in whole characters. Raises UserError for what is no JSON."""
    try:
        return valid_texts(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{file}: {error}; expected JSON") from error


def full_texts(file: Path) -> dict[str, list[str]]:
    """Return the paragraphs of each paper of a JSON object, by its key. Raises UserError for anything else."""
    texts = organisers_json(file)
    if not isinstance(texts, dict):
        raise UserError(f"{file}: expected a JSON object, the text of each paper by its citekey")
    return {key: paragraphs(text, f"{file}: {key}") for key, text in texts.items()}


def paragraphs(text: Any, source: str) -> list[str]:
    """Return the paragraphs of a paper: those of a list, or what blank lines part; each line is one where none are
    blank, and a line of more than `LONGEST` words is cut between sentences. Raises UserError for what is no text."""
    if isinstance(text, str):
        parts = BLANK.split(text.strip())
        text = parts if len(parts) > 1 else LINE_END.split(text)
    if not isinstance(text, list) or not all(isinstance(part, str) for part in text):
        raise UserError(f"{source}: expected a text, or a list of paragraphs")
    result: list[str] = []
    for line in (words(part) for part in text if part.strip()):
        piece: list[str] = []
        for sentence in map(str.split, sentences(" ".join(line)) if len(line) > LONGEST else ()):
            if piece and len(piece) + len(sentence) > WORDS:
                result.append(" ".join(piece))
                piece = []
            piece += sentence
        result.append(" ".join(piece or line))
    if not result:
        raise UserError(f"{source}: no text in there")
    return result


class _Claim(Context24TextRecord):
    """A claim of the organisers' file, whose paper is in another."""

    citekey: Text
    paragraphs: list[str] = Field(default_factory=list)


def write(claims: Path, papers: Path, out: Path) -> int:
    """Write the records, and return how many there are. Raises UserError for a file of another form, for a bad claim,
    and for one whose paper is not there."""
    texts = full_texts(papers)
    lines = []
    for place, claim in enumerate(read_list(claims, _Claim)):
        if claim.citekey not in texts:
            raise UserError(
                f"{claims}: entry {place}: citekey: no paper {claim.citekey!r} among the {len(texts)} papers"
            )
        record = claim.model_copy(update={"paragraphs": texts[claim.citekey]})
        lines.append(json.dumps(record.model_dump(), ensure_ascii=False))
    write_whole(out, "".join(f"{line}\n" for line in lines))
    return len(lines)


def main() -> None:
    """Run the command; where something is wrong it raises UserError, and nothing is written."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.programs.context24_text.convert", description="Claims with the full text of their papers."
    )
    parser.add_argument("claims", type=Path, help="the organisers' claims, a JSON list")
    parser.add_argument("--papers", type=Path, required=True, help="JSON object: full text by citekey")
    parser.add_argument("--out", type=Path, required=True, help="JSON Lines file to write")
    options = parser.parse_args()
    count = write(options.claims, options.papers, options.out)
    print(f"wrote {options.out}: {count} claims")


if __name__ == "__main__":
    sys.exit(exit_code(main))
