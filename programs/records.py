"""What the records of all tasks share, and the lines of their predictions."""

import ntpath
import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

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

    id: Text

    @property
    def img_paths(self) -> list[str]:
        """The pictures of a record, as paths below the image root."""
        return []

    @property
    def gold(self) -> Any:
        """The gold answer, in the form that the task's score takes; None where it is withheld."""
        return None


class Prediction(BaseModel):
    """What the prediction lines of all tasks share."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: Text | None = None

    @property
    def answer(self) -> Any:
        """What the line says, in the form that the task's score takes."""
        raise NotImplementedError

    @model_validator(mode="before")
    @classmethod
    def _not_failed(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and "failed" in raw:
            raise UserError(f"a failed record ({str(raw['failed'])[:200]}); predict again to have it judged")
        return raw
