"""The files that evaluation servers take."""

import json
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from aisr.base.errors import UserError
from aisr.base.files import replacing

# Entries of a zip carry a date; a fixed one makes the same predictions give the same file.
DATE = (2026, 1, 1, 0, 0, 0)


class Submission:
    """What a task's server takes: a flat zip of one JSON Lines file, as that of the shared task does. A task with
    another form, or whose server refuses some answers, has a subclass."""

    def __init__(self, file: str, beside: Iterable[str] = ()) -> None:
        """file: the name that the content goes by there; beside: files of other tasks that a zip keeps which exists
        already, so that one zip can hold all."""
        self.file = file
        self.beside = frozenset(beside)

    def problem(self, record: Any, answer: Any) -> str | None:
        """Return what the evaluator would refuse in an answer to a record; None for nothing."""
        return None

    def fallback(self, record: Any) -> Any:
        """Return the commonest answer, to fill in a failed record. Raises UserError where there is none."""
        raise UserError("this task has no answer to fill in; predict the failed records again")

    def fields(self, record: Any) -> dict[str, Any]:
        """Return the fields of a line of a record beside its answer."""
        return {"id": record.id}

    def write(self, lines: Sequence[dict[str, Any]], out: Path) -> None:
        """Write checked lines, in the order of the test inputs. Raises UserError where `out` holds something else."""
        content = {self.file: "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()}
        if out.exists():
            try:
                with zipfile.ZipFile(out) as old:
                    content |= {name: old.read(name) for name in {*old.namelist()} & (self.beside - {self.file})}
            # What Python raises at one that is torn, encrypted, or packed in a way that it does not know.
            except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
                raise UserError(
                    f"{out} is there already, and no zip that can be kept ({error}); choose another --out"
                ) from error
        with replacing(out) as new, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as file:
            for name in sorted(content):
                file.writestr(zipfile.ZipInfo(name, DATE), content[name], zipfile.ZIP_DEFLATED)
