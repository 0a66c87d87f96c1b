"""What the organisers keep of a paper's figures and tables: pictures by their names, and captions that were read off
pictures of captions."""

import ast
import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from aisr.programs.errors import UserError
from aisr.programs.records.context24_figures import place_of, tidy
from aisr.programs.retrieval.elements.captions import parts
from aisr.programs.text.sentences import sentences
from aisr.tasks.element_labels import cleaned, squeezed
from aisr.tasks.full_texts import organisers_json

PICTURES = (".png", ".jpg", ".jpeg")
CAPTION = "CAPTION"  # in the name of a picture of a caption, and not of a figure
PYTHON_TEXT = re.compile(r"""'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*\"""")  # a text as Python prints it
MISSING = re.compile(r"\[MISSING_PAGE_\w+(?::\d+)?\]")  # what the reader of captions writes where it saw nothing
INVENTED = re.compile(r"\s*(?:#|\*\s|\*\*(?!\(|fig|tab|supp)|\\begin)", re.IGNORECASE)  # a list, a heading: no caption
HEAD = re.compile(r"\b(?:fig(?:ure)?s?|tab(?:le)?s?|scheme|box|panel)\b", re.IGNORECASE)
PIECE = re.compile(r"-\d+$")  # of a caption that goes on over pages
NUMBER = re.compile(r"\d+")

Listed = dict[str, str]  # an element of a record: label, and where there is one caption and img_path


class Elements:
    """The figures and tables of papers. changes: what was done to their labels and captions, a line each."""

    def __init__(self, captions: Path | None, figures: Path | None) -> None:
        if figures is not None and not figures.is_dir():
            raise UserError(f"--figures {figures}: no such folder; expected one with a folder of pictures a paper")
        if captions is not None and not captions.exists():
            raise UserError(f"--captions {captions}: not there; expected a folder of JSON objects, or one JSON object")
        self.changes: list[str] = []
        self._captions = captions
        self._figures = figures
        self._together = organisers_json(captions) if captions is not None and captions.is_file() else None
        if not isinstance(self._together, dict | None):
            raise UserError(f"--captions {captions}: expected a JSON object, captions by citekey")
        self._found: dict[tuple[str, tuple[str, ...]], list[Listed]] = {}

    def of(self, citekey: str, listed: Sequence[str] | None = None) -> list[Listed]:
        """The elements of a paper: those that have a picture, or else those `listed`, or else those with a caption and
        the panels that it tells apart. Raises UserError for a citekey that is no name of a file."""
        if Path(citekey).name != citekey or citekey in (".", ".."):
            raise UserError(f"citekey {citekey[:80]!r}: expected a name, such as li2022molecular")
        asked = (citekey, tuple(listed or ()))
        if asked not in self._found:
            self._found[asked] = self._made(*asked)
        return self._found[asked]

    def _made(self, citekey: str, listed: Sequence[str]) -> list[Listed]:
        captions = self._captions_of(citekey)
        folder = self._figures / citekey if self._figures else None
        pictures = {}
        if folder is not None and folder.is_dir():
            files = sorted(file.name for file in folder.iterdir() if file.suffix.lower() in PICTURES)
            pictures = {Path(name).stem: f"{citekey}/{name}" for name in files if CAPTION not in name}
        named = pictures or dict.fromkeys(listed) or dict.fromkeys(_told_apart(captions))
        found: dict[str, Listed] = {}
        for typed, picture in named.items():
            labels = cleaned(typed)
            if labels != [typed]:
                self.changes.append(f"{citekey}: element {typed!r}: now {', '.join(labels) or 'left out'}")
            for label in labels:
                element = {"label": label, "caption": _caption_of(label, captions), "img_path": picture or ""}
                found.setdefault(tidy(label), {name: text for name, text in element.items() if text})
        return sorted(found.values(), key=lambda element: _by_number(element["label"]))

    def _captions_of(self, citekey: str) -> dict[str, str]:
        """The captions of a paper by the squeezed labels of what they are about."""
        told: Any = None
        if self._together is not None:
            told = self._together.get(citekey)
        elif self._captions is not None and (file := self._captions / f"{citekey}.json").is_file():
            told = organisers_json(file)
        if told is None:
            return {}
        if not isinstance(told, dict) or not all(isinstance(text, str) for text in told.values()):
            raise UserError(f"captions of {citekey}: expected a JSON object, a text by the name of each figure")
        found = {}
        for name in sorted(told, key=lambda name: _by_number(Path(name).stem)):
            text = readable(told[name])
            if text:
                found[squeezed(Path(name).stem.replace(CAPTION, ""))] = text
            elif told[name].strip("'\" \n"):
                self.changes.append(f"{citekey}: {name}: what was read is no caption; left out")
        return found


def readable(read: str) -> str:
    """A caption as it was read, in one line, without Python's quotes, marks of what was missed and sentences that the
    reader wrote again and again; "" for what is no caption."""
    text = MISSING.sub(" ", _unquoted(read.strip()))
    if INVENTED.match(text) and not HEAD.search(text):
        return ""
    return " ".join(dict.fromkeys(sentence for part in text.split("\n\n") for sentence in sentences(part)))


def _unquoted(text: str) -> str:
    """What a text says that Python printed with quotes around it; any other text as it is."""
    if PYTHON_TEXT.fullmatch(text):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of escapes that mean nothing
                return str(ast.literal_eval(text))
        except (SyntaxError, ValueError):
            pass
    return text


def _caption_of(label: str, captions: dict[str, str]) -> str:
    """The caption with a label's name, with the pieces that follow it on other pages."""
    name = squeezed(label)
    pieces = [text for key, text in captions.items() if key == name or PIECE.sub("", key) == name]
    return " ".join(dict.fromkeys(pieces))


def _told_apart(captions: dict[str, str]) -> Iterable[str]:
    """Labels of figures by their captions, each with its panels behind it."""
    whole = dict.fromkeys(PIECE.sub("", key) if PIECE.sub("", key) in captions else key for key in captions)
    for key in whole:
        (label,) = cleaned(key) or ("",)
        place = place_of(label)
        if place is not None:
            yield label
            if not place.panel:
                yield from (f"{label}{panel}" for panel in sorted(parts(_caption_of(label, captions)).panels))


def _by_number(label: str) -> str:
    """What sorts FIG 10 behind FIG 2, and panels behind their figure."""
    return NUMBER.sub(lambda digits: digits[0].zfill(6), label)
