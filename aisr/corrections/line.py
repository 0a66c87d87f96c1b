"""One correction: what a person says of one verdict. A line of a JSON Lines file."""

import unicodedata
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from aisr.base.digests import LENGTH
from aisr.programs.errors import UserError

MOST_NAMED = 50  # ids of evidence
SKEW = timedelta(days=1)  # by which clocks may differ
CONTROLS = {"Cc", "Cf", "Cs", "Co"}  # not Cn: a character that browsers know already may be newer than Python's tables


def _one_line(text: str) -> str:
    if any(unicodedata.category(sign) in CONTROLS for sign in text):
        raise UserError("control characters; expected one line of printable text")
    return text.strip()


Id = Annotated[str, Field(min_length=1, max_length=1000)]
Name = Annotated[str, AfterValidator(_one_line), Field(min_length=1, max_length=200)]
Digest = Annotated[str, Field(pattern=rf"^[0-9a-f]{{{LENGTH}}}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Judged(_Strict):
    """The verdict that a person was shown: its label, None where there was none; the digest of the program that gave
    it and the LM that was asked, where these are known."""

    label: Annotated[str, Field(max_length=200)] | None = None
    program: Annotated[str, Field(max_length=200)] | None = None
    lm: Annotated[str, Field(max_length=500)] | None = None


class Correction(_Strict):
    """Either `label`, which is the verdict's own where somebody agrees, with the ids of the `evidence` that shows it;
    or `dismissed`, why a flag is not to come back, which is no label.

    task: its name; None for a flag that no model raised; record_id and statement: the record and the number of its
    statement, from 0; sentence: the words of that; digest: of these and the evidence (`Correctable.digests`, for a
    label), by which both are known again; record: the whole record in the task's own format, where it stands nowhere
    else.
    """

    format: Literal[1] = 1
    task: Annotated[str, Field(max_length=100)] | None = None
    record_id: Id | None = None
    statement: Annotated[int, Field(ge=0, le=100_000)] = 0
    sentence: Annotated[str, Field(max_length=100_000)]
    verdict: Judged = Judged()
    label: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    evidence: Annotated[list[Id], Field(max_length=MOST_NAMED)] = []
    dismissed: Annotated[str, Field(max_length=2000)] | None = None
    who: Name
    when: AwareDatetime
    digest: Digest
    record: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.label is None) == (self.dismissed is None):
            raise UserError("expected either a label, or why the flag is dismissed")
        if self.label is not None and (self.task is None or self.record_id is None):
            raise UserError("a label without task or record_id; expected what it is a label of")
        return self


def ahead(said: Correction, now: datetime) -> str | None:
    """Why the time of a correction cannot be true: it would have the last word whatever anybody says later."""
    return f"said at {said.when:%Y-%m-%d}, which is yet to come" if said.when - now > SKEW else None
