"""The organisers' full texts: each paper as paragraphs, whatever became of its lines when it was parsed."""

import json
import re
from pathlib import Path
from typing import Any

from aisr.programs.errors import UserError
from aisr.programs.reading.characters import all_whole
from aisr.programs.text.sentences import sentences, words

BLANK = re.compile(r"\n[^\S\n]*+\n")
LINE_END = re.compile(r"\r\n?|\n")
LONGEST = 250  # words of a line; a longer one is no paragraph, but a paper that lost its line ends
WORDS = 120  # of the paragraphs that such a line is cut into, at most, unless one sentence is longer


def organisers_json(file: Path) -> Any:
    """What a file of the organisers holds, in whole characters. Raises UserError for what is no JSON."""
    try:
        return all_whole(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{file}: {error}; expected JSON") from error


def papers(file: Path) -> dict[str, list[str]]:
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
    found = [piece for part in text if part.strip() for piece in _cut(" ".join(words(part)))]
    if not found:
        raise UserError(f"{source}: no text in there")
    return found


def _cut(line: str) -> list[str]:
    """A line, in pieces of whole sentences where it is too long."""
    if line.count(" ") < LONGEST:
        return [line]
    pieces: list[list[str]] = [[]]
    for sentence in sentences(line):
        said = sentence.split()
        if pieces[-1] and len(pieces[-1]) + len(said) > WORDS:
            pieces.append([])
        pieces[-1] += said
    return [" ".join(piece) for piece in pieces]
