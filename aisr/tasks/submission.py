"""What evaluation servers take."""

import json
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from aisr.base.files import replacing
from aisr.programs.errors import UserError

# Entries of a zip carry a date; a fixed one makes the same predictions give the same file.
DATE = (2026, 1, 1, 0, 0, 0)


class Submission(Protocol):
    """Writes what a task's server takes. file: the name that its content goes by there."""

    @property
    def file(self) -> str: ...

    def write(self, lines: Sequence[dict[str, Any]], out: Path) -> None:
        """Write checked lines, in the order of the test inputs. Raises UserError where `out` holds something else."""


@dataclass(frozen=True)
class FlatZip:
    """A flat zip of JSON Lines files, one a track, as the shared task's server takes it.

    beside: the files of other tracks, which a zip that is there already keeps, so that one zip can hold all.
    """

    file: str
    beside: frozenset[str] = frozenset()

    def write(self, lines: Sequence[dict[str, Any]], out: Path) -> None:
        content = {self.file: "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()}
        if out.exists():
            content |= _kept(out, self.beside - {self.file})
        with replacing(out) as new, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as file:
            for name in sorted(content):
                file.writestr(zipfile.ZipInfo(name, DATE), content[name], zipfile.ZIP_DEFLATED)


def _kept(out: Path, names: frozenset[str]) -> dict[str, bytes]:
    """Those files of a zip that have these names. Raises UserError where they cannot be read."""
    found: dict[str, bytes] = {}
    name = ""
    try:
        with zipfile.ZipFile(out) as old:
            for name in sorted(names & set(old.namelist())):
                found[name] = old.read(name)
    # What Python raises at one that is torn, encrypted, or packed in a way that it does not know.
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        what = f", and its {name} cannot be read ({error})" if name else " and is no zip"
        raise UserError(f"{out} is there already{what}; choose another --out") from error
    return found
