"""One evaluation: a program, the records it was judged on, and how it did."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aisr.artifact.program_file import Loaded
from aisr.inference.evaluate import Result
from aisr.lm.client import OpenLM
from aisr.optimize.decision.ablation import Ablation


@dataclass(frozen=True)
class Evaluation:
    """program: as the user named it; seconds: wall time of judging."""

    loaded: Loaded
    program: str
    data: Path
    lm: OpenLM
    found: Result
    apart: Ablation | None
    seconds: float
    command: str

    def report(self) -> dict[str, Any]:
        """The scores, as `aisr evaluate --output` writes them."""
        told = {**self.found.report(), **self.found.confidence()}
        if self.apart is None:
            return told
        return {**told, "ablation": {name: part.report() for name, part in self.apart.results.items()}}
