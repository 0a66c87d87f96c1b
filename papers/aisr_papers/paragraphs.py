"""Plain text and Markdown files as paragraphs."""

import re
from pathlib import Path

from aisr import UserError

MAX_BYTES = 8 * 2**20
BLANK = re.compile(r"\n\s*\n")


def read_paragraphs(file: Path) -> list[str]:
    """Return the paragraphs of a text file, which blank lines part. Raises UserError for a file that is empty or no
    text."""
    if file.stat().st_size > MAX_BYTES:
        raise UserError(f"{file}: larger than {MAX_BYTES >> 20} MiB; expected text or Markdown")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{file}: not UTF-8 ({error.reason}); expected text or Markdown, not a PDF or picture"
        ) from error
    paragraphs = [block.strip() for block in BLANK.split(text) if block.strip()]
    if not paragraphs or "\0" in text:
        raise UserError(f"{file}: no text in there; expected text or Markdown")
    return paragraphs
