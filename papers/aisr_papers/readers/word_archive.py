"""A Word file as parts: a zip from a stranger, of which each part is unpacked within limits."""

import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from posixpath import join, normpath
from xml.etree.ElementTree import Element

from aisr import UserError
from aisr_papers.draft import Picture
from aisr_papers.readers.xml_tree import parse_xml

MOST_BYTES = 50 * 2**20  # of the file
MOST_PART = 30 * 2**20  # of a part, unpacked
MOST_DIRECTORY = 2**20  # bytes of the list of its parts; some 70 a part
DEEPEST = 200  # elements in elements; a text box within a table has some 40
EXPECTED = "a paper that Word saved as .docx"
NEXT = "open it in Word and save it anew"


class Archive:
    """The parts of a Word file. Raises UserError where it is none."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            with file.open("rb") as opened:
                content = opened.read(MOST_BYTES + 1)
            if len(content) > MOST_BYTES:
                raise UserError(f"{file}: larger than {MOST_BYTES >> 20} MiB; expected {EXPECTED}")
            end = content[-(2**16) - 22 :]
            place = end.rfind(b"PK\5\6")  # the record behind the list of parts, with the length of that
            length = int.from_bytes(end[place + 12 : place + 16], "little")
            if place >= 0 and (length > MOST_DIRECTORY or b"PK\6\7" in end):
                raise UserError(f"{file}: more parts than a paper has; expected {EXPECTED}")
            self._zip = zipfile.ZipFile(BytesIO(content))
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            why = f"not a Word file, or a broken one ({error}); expected {EXPECTED}"
            raise UserError(f"{file}: {why}; save an old or encrypted one as .docx without a password") from error

    def read(self, name: str, most: int = MOST_PART) -> bytes | None:
        """A part; None where there is none of that name."""
        try:
            part = self._zip.getinfo(name)
        except KeyError:
            return None
        if part.flag_bits & 1 or part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UserError(f"{self.file}: {name} is encrypted or packed in an odd way; expected {EXPECTED}")
        try:
            with self._zip.open(part) as opened:
                content = opened.read(most + 1)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError) as error:
            raise UserError(f"{self.file}: {name} is broken ({error}); {NEXT}") from error
        if len(content) > most:
            raise UserError(f"{self.file}: {name} unpacks to more than {most >> 20} MiB; expected {EXPECTED}")
        return content

    def tree(self, name: str) -> Element | None:
        """A part that is XML; None where there is none of that name."""
        content = self.read(name)
        return None if content is None else parse_xml(content, self.file, DEEPEST, EXPECTED)

    def targets(self, name: str) -> dict[str, str]:
        """The parts that a part links to, by the id of the link; a link to the outside is left out."""
        folder, _, last = name.rpartition("/")
        links = self.tree(join(folder, "_rels", f"{last}.rels"))
        return {
            link.get("Id", ""): normpath(join("/", folder, link.get("Target", ""))).lstrip("/")
            for link in (links if links is not None else ())
            if link.get("TargetMode") != "External"
        }


def read_picture(picture: Picture) -> bytes:
    """A picture within a Word file. Raises UserError where it cannot be unpacked."""
    content = Archive(picture.file).read(picture.member)
    if content is None:
        raise UserError(f"{picture.file}: no {picture.member} in it")
    return content
