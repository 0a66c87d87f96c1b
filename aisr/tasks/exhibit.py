"""The evidence of a record piece by piece, as a person is shown it beside a verdict."""

from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from aisr.programs.records.track1 import EvidenceItem
from aisr.programs.vision.evidence_bundle import KINDS


class Exhibit(BaseModel):
    """One piece of evidence: an item of a bundle, or a paragraph of a cited paper.

    key: "table 1" or "P12"; picture: the path that the record gives, unchecked; shown: whether the model could read it;
    gold: whether it is gold evidence; chosen: its place in the predicted evidence, from 1, or 0.
    """

    model_config = ConfigDict(extra="forbid")
    key: str
    text: str
    picture: str | None = None
    shown: bool = True
    gold: bool = False
    chosen: int = 0


def of_bundle(bundle: Sequence[EvidenceItem]) -> list[Exhibit]:
    """The items of an evidence bundle, numbered by kind as the prompt numbers them."""
    numbers: Counter[str] = Counter()
    found = []
    for item in bundle:
        kind = KINDS[item.type]
        numbers[kind] += 1
        words = " ".join(f"{item.text} {item.caption}".split())
        found.append(Exhibit(key=f"{kind} {numbers[kind]}", text=words, picture=item.img_path))
    return found
