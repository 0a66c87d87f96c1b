"""A draft and what it must be faithful to, as plain text or Markdown files, read as a record like any other."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aisr.programs.errors import UserError
from aisr.programs.text import sentences
from aisr.programs.track1.record import Track1Record
from aisr.programs.track2.record import Track2Record

MAX_BYTES = 8 * 2**20
# Neither part holds the beginning of another picture, or a text of beginnings would be read to its end from each.
PICTURE = re.compile(r"!\[((?:(?!!\[)[^\]])*+)\]\(\s*+<?+((?:(?!!\[)[^)>])++)>?+\s*+\)")
BLANK = re.compile(r"\n\s*\n")


def claim_record(draft: str, evidence: Sequence[Path]) -> Track1Record:
    """One paragraph against evidence files: each paragraph of a file is an item, and so is each Markdown picture, by
    its caption. Raises UserError where one is empty."""
    found = sentences(draft)
    if not found:
        raise UserError("the draft is empty; expected one paragraph")
    return sentences_record(found, [item for file in evidence for block in blocks(file) for item in _items(block)])


def sentences_record(said: Sequence[str], bundle: Sequence[Mapping[str, Any]]) -> Track1Record:
    """Sentences of one paragraph against an evidence bundle."""
    return Track1Record.model_validate(
        {
            "id": "draft",
            "claim_text": " ".join(said),
            "evidence_bundle": list(bundle),
            "sentence_label": [{"sentence": sentence} for sentence in said],
        }
    )


def citation_record(draft: str, paper: Path) -> Track2Record:
    """One claim against the paragraphs P1, P2, … of a paper. Raises UserError where one is empty."""
    claim = " ".join(draft.split())
    if not claim:
        raise UserError("the draft is empty; expected one claim")
    return paragraphs_record(claim, [" ".join(block.split()) for block in blocks(paper)])


def paragraphs_record(claim: str, paragraphs: Sequence[str]) -> Track2Record:
    """A claim against paragraphs, which are named P1, P2, …."""
    named = [{f"P{k}": text} for k, text in enumerate(paragraphs, start=1)]
    return Track2Record.model_validate({"id": "draft", "claim_text": claim, "cited_paper_full_text": named})


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
    found = [block.strip() for block in BLANK.split(text) if block.strip()]
    if not found or "\0" in text:
        raise UserError(f"{file}: no text in there; expected text or Markdown")
    return found


def _items(block: str) -> list[dict[str, Any]]:
    pictures = [
        {"type": "image", "image_caption": [caption], "img_path": path.rstrip()}
        for caption, path in PICTURE.findall(block)
    ]
    text = PICTURE.sub("", block).strip()
    return ([{"type": "text", "text": text}] if text else []) + pictures
