"""Context24, figures: papers that were written by hand, a file each, and the claims about them.

A file in `context24-figures/papers/` is called `SIDE-NUMBER-CITEKEY.txt`. It holds paragraphs, behind `== elements` a
figure, panel or table a line, with its caption behind a stroke where it has one, and behind `== claims` a claim a line,
with its gold elements behind `=>`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import long_papers

FOLDER = Path(__file__).parent / "context24-figures" / "papers"
WITHHELD = ("findings",)
Record = dict[str, Any]


def splits() -> dict[str, list[Record]]:
    """The records of each side, in the order of the files."""
    found: dict[str, list[Record]] = {"train": [], "dev": [], "test": []}
    for file in sorted(FOLDER.glob("*.txt")):
        side, _, citekey = file.stem.split("-", 2)
        found[side] += records(citekey, file.read_text(encoding="utf-8"))
    return found


def records(citekey: str, text: str) -> list[Record]:
    """A record for each claim about a paper."""
    paper, _, rest = text.partition("== elements\n")
    listed, _, claims = rest.partition("== claims\n")
    elements = [element(line) for line in listed.splitlines()]
    written = [" ".join(part.split()) for part in paper.split("\n\n")]
    paragraphs = long_papers.lengthened(written, [one["label"] for one in elements], citekey)
    rows = []
    for line in claims.splitlines():
        claim, _, gold = line.partition(" => ")
        rows.append(
            {
                "claim": claim,
                "citekey": citekey,
                "paragraphs": paragraphs,
                "elements": elements,
                "findings": gold.split("; "),
            }
        )
    return rows


def element(line: str) -> Record:
    """A figure, panel or table."""
    label, _, caption = line.partition(" | ")
    return {"label": label, "caption": caption} if caption else {"label": label}
