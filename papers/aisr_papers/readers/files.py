"""The files of a paper's folder: read from below that folder, or below one further up that the user names, and within
limits."""

import re
import unicodedata
from itertools import product
from pathlib import Path
from urllib.parse import unquote

from aisr import UserError
from aisr_papers.draft import Place, Unread

MAX_BYTES = 2 * 2**20  # of a file; a thesis has half of it
MAX_TOTAL = 6 * 2**20
MAX_FILES = 300
MAX_NOTES = 500
MAX_NAMED = 2_000  # files that a paper may name
MAX_NAME = 255  # characters of a path that a paper may name
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff")
OUT = "leads out of the paper's folder; --root DIR lets files below DIR be read"
NOT_DRAWN = (".eps", ".ps", ".svg")
CONVERTED = ("-eps-converted-to.pdf", ".pdf", ".png", ".jpg")
QUOTES = re.compile(r'["{}]')
CONTROL = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 127])  # tabs and ends of lines stay


class Files:
    """Reads files below a folder. `unread`, what could not be read, grows while a paper is read.

    base: the folder that names begin at, that of the main file; root: the folder that all is read below, by default the
    base. Raises UserError for a root that is no folder, or does not hold the base.
    """

    def __init__(self, base: Path, root: Path | None = None) -> None:
        self.base = base.resolve()
        self.folder = (root or base).resolve()
        if not self.folder.is_dir() or not self.base.is_relative_to(self.folder):
            raise UserError(f"--root {root}: expected a folder that holds the paper; its main file is in {base}")
        self._out = f"leads out of --root {root}" if root else OUT
        self.unread: list[Unread] = []
        self.verbatim: set[str] = set()  # environments of LaTeX that the paper declares for text as it is typed
        self._reasons: set[str] = set()
        self._read_files: set[Path] = set()
        self._bytes = 0
        self._names = 0

    def note_unread(self, place: Place, why: str) -> None:
        """Note what could not be read; the same reason at the same place once. The last note says that there are
        more."""
        if len(self.unread) < MAX_NOTES and (note := Unread(place, why)) not in self.unread[-20:]:
            last = len(self.unread) == MAX_NOTES - 1
            self.unread.append(Unread(place, "here and behind, more was not read than is listed") if last else note)

    def note_once(self, place: Place, why: str) -> None:
        """Note a reason where it is met first."""
        if why not in self._reasons:
            self._reasons.add(why)
            self.note_unread(place, why)

    def name(self, file: Path) -> str:
        """Return a file as places name it: from the folder, with `/`."""
        return file.relative_to(self.folder).as_posix()

    def find(self, name: str, place: Place, endings: tuple[str, ...] = ("",)) -> Path | None:
        """Return the file that a paper names, with the first ending that there is one with; None, with a note, where
        there is none below the folder. A link that leads out of the folder counts as none."""
        file, why = self._look_up(name, endings)
        if file is None:
            self.note_unread(place, why)
        return file

    def find_input(self, name: str, place: Place) -> Path | None:
        """Return the LaTeX file that a file puts in, by its name from the main file's folder, or from its own, as in
        chapters that can be set alone."""
        file, why = self._look_up(name, (".tex", ""))
        if file is None:
            file, why = self._look_up(name, (".tex", ""), str((self.folder / place.file).parent))
        if file is None:
            self.note_unread(place, why)
        return file

    def _look_up(self, name: str, endings: tuple[str, ...], below: str = "") -> tuple[Path | None, str]:
        """Return a file by its name, or why there is none. below: the folder that the name begins at."""
        quoted = ascii(name[:80])
        self._names += 1
        if self._names > MAX_NAMED:
            return None, f"more than {MAX_NAMED} files are named; the rest is left out"
        if len(name) > MAX_NAME or not name.strip() or not name.isprintable():
            return None, f"{quoted}: not the name of a file"
        why = f"{quoted}: no such file"
        for ending in endings:
            try:
                file = (self.base / below / (name + ending)).resolve()
                if not file.is_relative_to(self.folder):
                    why = f"{quoted}: {self._out}"
                elif file.is_file():
                    return file, ""
            except (OSError, RuntimeError, ValueError):  # a name too long for the disk, or a circle of links
                continue
        return None, why

    def read_text(self, file: Path, place: Place) -> str | None:
        """Return the text of a file; None, with a note, where it is too large or cannot be read. place: what names
        it."""
        name = self.name(file)
        try:
            size = file.stat().st_size
            if size > MAX_BYTES or self._bytes + size > MAX_TOTAL or len(self._read_files) >= MAX_FILES:
                limits = f"{MAX_BYTES >> 20} MiB a file, {MAX_TOTAL >> 20} MiB and {MAX_FILES} files a paper"
                self.note_unread(place, f"{name}: beyond the limits ({limits})")
                return None
            raw = _read_beginning(file)
        except OSError as error:
            self.note_unread(place, f"{name}: {error.strerror or error}")
            return None
        self._bytes += size
        self._read_files.add(file)
        return self._decode(raw, name)

    def peek_text(self, file: Path) -> str:
        """Return a file whose text is looked through before or after it is read; empty where it cannot be."""
        try:
            return _read_beginning(file).decode("utf-8", "replace")
        except OSError:
            return ""

    def find_picture(self, name: str, place: Place, folders: tuple[str, ...] = ("",)) -> Path | None:
        """Return the picture or drawing that a paper names. For an EPS or SVG it is what was made of it and lies beside
        it, if any: LaTeX puts in no other."""
        endings = ("", *PICTURES, ".pdf", ".svg", ".eps")
        # As it is written; without LaTeX's quotes and braces; `%20` as a blank; accents in one sign or in two.
        bare = QUOTES.sub("", name)
        plain = unquote(bare)
        names = dict.fromkeys([name, bare, plain, *(unicodedata.normalize(form, plain) for form in ("NFC", "NFD"))])
        reasons: list[str] = []
        for folder, one in product(folders, names):
            file, why = self._look_up(one, endings, folder)
            if file is not None:
                return self._converted(file) if file.suffix.lower() in NOT_DRAWN else file
            reasons.append(why)
        self.note_unread(place, reasons[0])
        return None

    def _converted(self, file: Path) -> Path:
        """Return what was made of an EPS or SVG; that itself where nothing was."""
        for ending in CONVERTED:
            converted = file.with_name(file.stem + ending)
            if converted.is_file() and converted.resolve().is_relative_to(self.folder):
                return converted.resolve()
        return file

    def _decode(self, raw: bytes, name: str) -> str:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            self.note_unread(Place(name, line), "not UTF-8; the file is read as Latin-1")
            text = raw.decode("latin-1")
        lines = text.replace("\r\n", "\n").replace("\r", "\n")
        plain = lines.translate(CONTROL)
        if len(plain) != len(lines):
            self.note_unread(Place(name), f"{len(lines) - len(plain)} control characters are left out")
        return plain


def without_accents(text: str) -> str:
    """Return a text whose letters with accents are plain ones, and whose ligatures are letters."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def parse_count(text: str, default: int = 1, digits: int = 3) -> int:
    """Return a number of columns, rows or arguments that a paper names; the default where it is none, or too long."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else default


def _read_beginning(file: Path) -> bytes:
    """Return no more than a file may have, whatever size the disk states."""
    with file.open("rb") as stream:
        return stream.read(MAX_BYTES)


def find_main_file(path: Path) -> Path:
    """Return the main file of a LaTeX paper: the file itself, or that of a folder. Raises UserError where there is
    none, or more than one that could be it."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise UserError(f"{path}: no such file; expected a LaTeX file or the folder of a paper")
    texts = [file for file in sorted(path.glob("*.tex")) if file.is_file()]
    files = [file for file in texts if rb"\documentclass" in _read_beginning(file)]
    usual = [file for file in files if file.stem in ("main", "paper", "ms")]
    if len(files) == 1 or len(usual) == 1:
        return (usual or files)[0]
    names = ", ".join(file.name for file in files[:5]) or "none"
    raise UserError(rf"{path}: expected one .tex file with \documentclass in it, found {names}; name the file itself")
