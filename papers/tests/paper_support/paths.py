"""Where things are."""

from pathlib import Path

PAPERS = Path(__file__).parents[2]
ROOT = PAPERS.parent
SAMPLE = PAPERS / "sample"
