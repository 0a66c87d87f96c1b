"""The organisers' files as records: `python -m optimize.tasks.context24_text_data CLAIMS --papers PAPERS --out OUT`.

CLAIMS is a JSON list of claims, such as their `task2-train-dev.json`; PAPERS a JSON object that has the full text of
each paper under its `citekey`, as one string or as a list of paragraphs.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from optimize.base.files import write_whole
from programs.errors import UserError
from programs.reading.lines import explain
from programs.records.context24_text import Context24TextRecord

BLANK = re.compile(r"\n[^\S\n]*+\n")


def main() -> int:
    """0 where all claims were written, 2 where something was wrong and nothing was."""
    parser = argparse.ArgumentParser(
        prog="python -m optimize.tasks.context24_text_data", description="Claims with the full text of their papers."
    )
    parser.add_argument("claims", type=Path, help="the organisers' claims, a JSON list")
    parser.add_argument("--papers", type=Path, required=True, help="JSON object: full text by citekey")
    parser.add_argument("--out", type=Path, required=True, help="JSON Lines file to write")
    given = parser.parse_args()
    try:
        count = write(given.claims, given.papers, given.out)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"wrote {given.out}: {count} claims")
    return 0


def write(claims: Path, papers: Path, out: Path) -> int:
    """Write the records, and how many there are. Raises UserError for a file of another form, for a bad claim, and for
    one whose paper is not there."""
    listed, known = _read(claims), _read(papers)
    if not isinstance(listed, list):
        raise UserError(f"{claims}: expected a JSON list of claims")
    if not isinstance(known, dict):
        raise UserError(f"{papers}: expected a JSON object, the text of each paper by its citekey")
    texts = {key: _paragraphs(text, f"{papers}: {key}") for key, text in known.items()}
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


def _paragraphs(text: Any, source: str) -> list[str]:
    """The paragraphs of a paper: those of a list, or what blank lines part; each line is one where none are blank."""
    if isinstance(text, str):
        parts = BLANK.split(text.strip())
        text = parts if len(parts) > 1 else text.splitlines()
    if not isinstance(text, list) or not all(isinstance(part, str) for part in text):
        raise UserError(f"{source}: expected a text, or a list of paragraphs")
    found = [" ".join(part.split()) for part in text if part.strip()]
    if not found:
        raise UserError(f"{source}: no text in there")
    return found


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{file}: {error}; expected JSON") from error


if __name__ == "__main__":
    sys.exit(main())
