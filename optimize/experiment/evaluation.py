"""One evaluation: a program, the records it was judged on, and how it did."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aisr.artifact.program import Loaded
from aisr.lm.client import OpenLM
from aisr.predict.evaluate import Result


@dataclass(frozen=True)
class Evaluation:
    """program: as the user named it; seconds: wall time of judging."""

    loaded: Loaded
    program: str
    data: Path
    lm: OpenLM
    found: Result
    seconds: float
    command: str

    def report(self) -> dict[str, Any]:
        """The scores, as `aisr evaluate --output` writes them."""
        return {**self.found.report(), **self.found.confidence()}
