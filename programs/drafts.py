"""Plain text and Markdown files as paragraphs and evidence items."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from aisr.base.errors import UserError

MAX_BYTES = 8 * 2**20
# Neither part holds the beginning of another picture, or a text of beginnings would be read to its end from each.
PICTURE = re.compile(r"!\[((?:(?!!\[)[^\]])*+)\]\(\s*+<?+((?:(?!!\[)[^)>])++)>?+\s*+\)")
BLANK = re.compile(r"\n\s*\n")


def blocks(file: Path) -> list[str]:
    """The paragraphs of a text file, which blank lines part. Raises UserError for a file that is empty or no text."""
    if file.stat().st_size > MAX_BYTES:
        raise UserError(f"{file}: larger than {MAX_BYTES >> 20} MiB; expected text or Markdown")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{file}: not UTF-8 ({error.reason}); expected text or Markdown, not a PDF or picture"
        ) from error
    parts = [block.strip() for block in BLANK.split(text) if block.strip()]
    if not parts or "\0" in text:
        raise UserError(f"{file}: no text in there; expected text or Markdown")
    return parts


def evidence_items(files: Sequence[Path]) -> list[dict[str, Any]]:
    """The paragraphs of text files as items of an evidence bundle, and their Markdown pictures, by their captions."""
    return [item for file in files for block in blocks(file) for item in items_of(block)]


def items_of(block: str) -> Iterator[dict[str, Any]]:
    """A paragraph as items: its text, if any, then its pictures."""
    text = PICTURE.sub("", block).strip()
    if text:
        yield {"type": "text", "text": text}
    for caption, path in PICTURE.findall(block):
        yield {"type": "image", "image_caption": [caption], "img_path": path.rstrip()}
