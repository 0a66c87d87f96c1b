"""Builders of records, files and random corpora that several tests share."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from PIL import Image

from aisr.programs.track1 import CLAIM_LABELS

S, CAUSAL, ENTITY, SCOPE, CONTRA = CLAIM_LABELS
Row = dict[str, Any]


def claim_row(
    *types: Sequence[str] | None, number: int = 1, text: str = "", pictures: Sequence[str] = (), **more: Any
) -> Row:
    """A Track 1 record in the official format, one sentence for each entry of `types` (None: withheld), which says the
    first of them."""
    texts = [f"Row {number}.{k} is {labels[0] if labels else 'there'}." for k, labels in enumerate(types, start=1)]
    sentences = [{"sentence": each, "types": labels} for each, labels in zip(texts, types, strict=True)]
    tables = [{"type": "table", "table_caption": ["Table 1."], "img_path": path} for path in pictures]
    return {
        "claim_text": text or " ".join(texts),
        "evidence_bundle": tables or [{"type": "text", "text": f"Row {number} is what it is."}],
        "sentence_label": [{key: value for key, value in row.items() if value is not None} for row in sentences],
        **more,
    }


def citation_row(
    label: str | None = "Supported",
    evidence: Sequence[str] = ("P2",),
    number: int = 1,
    paragraphs: int = 4,
    text: str = "",
    **more: Any,
) -> Row:
    """A Track 2 record in the official format (label None: withheld), whose claim says which label is right, about a
    paper whose paragraphs P1, P2, … all mention it."""
    paper = {f"P{k}": f"Model {number}, part {k}." for k in range(1, paragraphs + 1)}
    claim_text = text or f"Model {number} is {label} by {' and '.join(evidence) or 'nothing'}."
    row = {"claim_text": claim_text, "cited_paper_full_text": [{k: v} for k, v in paper.items()]}
    gold = {"label": label, "evidence_para_ids": list(evidence), "evidence_texts": {k: paper[k] for k in evidence}}
    return row | (gold if label else {}) | more


def write(path: Path, rows: Iterable[object]) -> Path:
    """One JSON value a line; bytes and strings stand as they are."""
    lines = (row if isinstance(row, bytes | str) else json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_bytes(b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in lines))
    return path


def read_rows(path: Path) -> list[Row]:
    """The values of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def beginning(source: Path, count: int, target: Path) -> Path:
    """The first lines of a file, as a file."""
    target.write_bytes(b"".join(source.read_bytes().splitlines(keepends=True)[:count]))
    return target


def picture(path: Path, size: tuple[int, int] = (60, 40), color: str = "red", **how: Any) -> Path:
    """A plain picture in the format of its suffix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(how.pop("mode", "RGB"), size, color).save(path, **how)
    return path


def draw_claims(rng: Random, records: int, sentences: int = 5) -> list[list[list[str]]]:
    """Gold labels of a Track 1 corpus, one label a sentence, with `sentences` sentences in each record."""
    return [[[label] for label in rng.choices(CLAIM_LABELS, [6, 1, 1, 1, 1], k=sentences)] for _ in range(records)]
