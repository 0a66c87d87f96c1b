"""Base classes of records (lines of a task's inputs) and of predictions.

A record subclasses `Record`; `CorrectableRecord` where people can correct its labels; `SentenceRecord` where its
statements are sentences that are judged by one evidence bundle.
"""

import ntpath
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from aisr.base.files import digest_texts
from aisr.programs.errors import UserError


def _below_a_folder(path: str | None) -> str | None:
    """A path that cannot leave the folder that it is read in, whatever that is."""
    if path is None or path == "":
        return None
    drive, rest = ntpath.splitdrive(path)
    if drive or rest.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", path):
        raise UserError(f"{path[:80]!r} leads out of the image folder; expected a path such as images/figure.jpg")
    return path


Text = Annotated[str, Field(min_length=1)]
PicturePath = Annotated[str | None, AfterValidator(_below_a_folder)]


class Record(BaseModel):
    """What the records of all tasks share. `id` is given by `read` where the file has none."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    # What makes records of the organisers' files, where these have another form: a module with its arguments, `{file}`
    # for their claims.
    converter: ClassVar[str] = ""
    max_evidence: ClassVar[int] = 0  # ids that a person may name as the evidence of a statement

    id: Text

    @classmethod
    def from_draft(cls, text: str, evidence: Sequence[Path] = (), paper: Path | None = None) -> Self:
        """A text of one's own as a record, with the files that it must be faithful to: evidence that a paragraph
        reports on, or a cited paper. Raises UserError where one is empty, and for a task that takes no drafts."""
        raise UserError("this task takes no drafts")

    @property
    def img_paths(self) -> list[str]:
        """The pictures of a record, as paths below the image root."""
        return []

    @property
    def gold(self) -> Any:
        """The gold answer, in the form that the task's score takes; None where it is withheld."""
        return None


class StatementLabel(NamedTuple):
    """The label that a person gives a statement, and the ids of the evidence for it."""

    label: str
    evidence: tuple[str, ...] = ()


class CorrectableRecord(Record):
    """A record whose labels people can correct, statement by statement."""

    @property
    def statements(self) -> list[str]:
        """The texts that are judged."""
        raise NotImplementedError

    @property
    def evidence_parts(self) -> list[str]:
        """The texts that each statement is judged by."""
        raise NotImplementedError

    @property
    def context(self) -> str:
        """What else is judged with the statements, such as the paragraph that they stand in."""
        return ""

    @property
    def evidence_ids(self) -> list[str]:
        """The ids of evidence that may be named, in the record's order."""
        return []

    def without_labels(self) -> Self:
        """The record without its labels."""
        raise NotImplementedError

    def with_labels(self, labels: Mapping[int, StatementLabel]) -> Self:
        """The record with these labels in the place of its own, by the number of their statement, from 0; statements
        without any label are left out. Raises ValueError where the record does not take one."""
        raise NotImplementedError

    def statement_digests(self) -> list[str]:
        """For each statement a digest of its words and of its evidence: another where either changes, and the same
        where something else in the record does."""
        evidence = digest_texts(self.evidence_parts)  # once, however many statements a record has
        return [digest_texts([statement, evidence]) for statement in self.statements]

    def content_digest(self) -> str:
        """A digest of all that is judged, and of all that it is judged by."""
        return digest_texts([*self.statements, "", *self.evidence_parts, "", self.context])


def _as_captions(value: Any) -> Any:
    """A caption is a list of strings; a lone string or null is read as such a list."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


Captions = Annotated[list[str], BeforeValidator(_as_captions)]


class EvidenceItem(BaseModel):
    """One item of an evidence bundle: a paragraph of text, or a picture of a table or figure with its captions."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: Literal["text", "table", "image"]
    text: str = ""
    table_caption: Captions = []
    image_caption: Captions = []
    img_path: PicturePath = None

    @property
    def caption(self) -> str:
        """All captions of the item, in one line."""
        return " ".join([*self.table_caption, *self.image_caption])


class SentenceRecord(CorrectableRecord):
    """Sentences that are judged by one evidence bundle; a subclass has them in a field of its own."""

    evidence_bundle: list[EvidenceItem]

    @property
    def img_paths(self) -> list[str]:
        """The pictures of the evidence bundle, as paths below the image root."""
        return [item.img_path for item in self.evidence_bundle if item.img_path]

    @property
    def evidence_parts(self) -> list[str]:
        """The items of the bundle, as JSON."""
        return [item.model_dump_json() for item in self.evidence_bundle]

    def with_field(self, name: str, value: Any) -> Self:
        """The record with another value of a field. Raises ValueError where that does not fit."""
        return type(self).model_validate({**self.model_dump(), name: value})


class Prediction(BaseModel):
    """What the prediction lines of all tasks share."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: Text | None = None

    @property
    def answer(self) -> Any:
        """What the line says, in the form that the task's score takes."""
        raise NotImplementedError

    @staticmethod
    def line(answer: Any) -> dict[str, Any]:
        """An answer as the fields of a line; the reverse of `answer`."""
        raise NotImplementedError

    @model_validator(mode="before")
    @classmethod
    def _not_failed(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and "failed" in raw:
            raise UserError(f"a failed record ({str(raw['failed'])[:200]}); predict again to have it judged")
        return raw
