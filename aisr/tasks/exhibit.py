"""The evidence of a record piece by piece, as a person is shown it beside a verdict."""

from pydantic import BaseModel, ConfigDict


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
