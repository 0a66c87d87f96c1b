"""The organisers' files as records:
`python -m aisr.programs.context24_figures.convert CLAIMS --papers PAPERS --out OUT`.

CLAIMS is their JSON list, such as `task1-train-dev.json`; PAPERS a JSON object with the full text of each paper under
its `citekey`. `--captions` is their folder with a JSON object a paper, text by the name of the caption's picture, or
one JSON object of such objects; `--figures` their folder of pictures, whose names are the candidates. Without that the
candidates are the claim's `figures_tables` (2025), and else the figures that have a caption, and the panels in it.

The files were made by people and programs: labels hold stray quotes and line ends, claims occur twice, texts lack line
ends, captions are quoted Python strings. What is changed is listed.
"""

import argparse
import ast
import json
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from aisr.base.errors import UserError, exit_code
from aisr.base.files import write_whole
from aisr.base.jsonl import explain
from aisr.programs.context24_figures.citations import parts
from aisr.programs.context24_figures.record import LABEL, LONGEST, UNFIT, Context24FiguresRecord, place_of, tidy
from aisr.programs.context24_text.convert import full_texts, organisers_json
from aisr.programs.text import sentences

STRAY = re.compile(r"[\"“”'‘’`´\[\]]+")
APART = re.compile(r"(?:(?<!\s)\s++)?[,;&]\s*+|\sand\s", re.IGNORECASE)
PANEL = re.compile(r"[A-Za-z]")
SPELLED = re.compile(
    r"(?P<supplement>(?:SUPP(?:L(?:EMENT(?:ARY|AL)?)?)?|EXTENDED DATA)\.?)?\s{0,2}"
    r"(?:(?P<kind>FIG(?:URE)?S?|TAB(?:LE)?S?)\b\.?|(?P<glued>FIG|TAB)(?=S?\d))"
)
GAP = re.compile(r"(?<=\d) (?=\(?[A-Z]\)?$)|[()]|(?<=[A-Z] S) (?=\d)|(?<![.:])[.:]++$")


def cleaned(typed: str) -> list[str]:
    """The labels in what somebody typed where one belongs: none, one, or the several of `FIG 2A, FIG 2B`.

    Quotes, line ends, doubled blanks and dots at the end are left out; `Figure 2 a`, `FIG2A` and `Fig. 2(A)` become
    `FIG 2A`; a letter alone is a panel of the figure before it. What still cannot be read as a label stays in its own
    words, as long as it can stand in a line.
    """
    labels: list[str] = []
    figure = ""
    for part in APART.split(STRAY.sub("", typed)):
        label = _cleaned(part)
        if figure and PANEL.fullmatch(label):
            labels = [one for one in labels if one != figure]  # FIG 2, A and B: its panels, not all of it
            labels.append(figure + label.upper())
        else:
            place = place_of(label)
            figure = label.removesuffix(place.panel) if place else ""
            labels.append(label)
    return list(dict.fromkeys(label for label in labels if label and len(label) <= LONGEST and not UNFIT.search(label)))


def squeezed(label: str) -> str:
    """Letters, digits and dashes of a label, by which file names know it: `CAPTION FIG1S1` is about `FIG 1S1`."""
    return re.sub(r"[^A-Z0-9-]", "", label.upper())


def _cleaned(part: str) -> str:
    flat = " ".join(part.split())
    if LABEL.fullmatch(flat):
        return flat
    spelled = SPELLED.sub(_spelled, tidy(flat), count=1)
    spelled = GAP.sub("", " ".join(spelled.split()))
    return spelled if LABEL.fullmatch(spelled) else flat


def _spelled(match: re.Match[str]) -> str:
    kind = (match["kind"] or match["glued"])[:3]
    return f"{'SUPP ' if match['supplement'] else ''}{kind} "


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
        self._known: dict[tuple[str, tuple[str, ...]], list[Listed]] = {}

    def of(self, citekey: str, listed: Sequence[str] | None = None) -> list[Listed]:
        """The elements of a paper: those that have a picture, or else those `listed`, or else those with a caption and
        the panels that it tells apart. Raises UserError for a citekey that is no name of a file."""
        if Path(citekey).name != citekey or citekey in (".", ".."):
            raise UserError(f"citekey {citekey[:80]!r}: expected a name, such as li2022molecular")
        key = (citekey, tuple(listed or ()))
        if key not in self._known:
            self._known[key] = self._made(*key)
        return self._known[key]

    def _made(self, citekey: str, listed: Sequence[str]) -> list[Listed]:
        captions = self._captions_of(citekey)
        folder = self._figures / citekey if self._figures else None
        pictures = {}
        if folder is not None and folder.is_dir():
            files = sorted(file.name for file in folder.iterdir() if file.suffix.lower() in PICTURES)
            pictures = {Path(name).stem: f"{citekey}/{name}" for name in files if CAPTION not in name}
        named = pictures or dict.fromkeys(listed) or dict.fromkeys(_figure_labels(captions))
        elements: dict[str, Listed] = {}
        for typed, picture in named.items():
            labels = cleaned(typed)
            if labels != [typed]:
                self.changes.append(f"{citekey}: element {typed!r}: now {', '.join(labels) or 'left out'}")
            for label in labels:
                element = {"label": label, "caption": _caption_of(label, captions), "img_path": picture or ""}
                elements.setdefault(tidy(label), {name: text for name, text in element.items() if text})
        return sorted(elements.values(), key=lambda element: _by_number(element["label"]))

    def _captions_of(self, citekey: str) -> dict[str, str]:
        """The captions of a paper by the squeezed labels of what they are about."""
        raw: Any = None
        if self._together is not None:
            raw = self._together.get(citekey)
        elif self._captions is not None and (file := self._captions / f"{citekey}.json").is_file():
            raw = organisers_json(file)
        if raw is None:
            return {}
        if not isinstance(raw, dict) or not all(isinstance(text, str) for text in raw.values()):
            raise UserError(f"captions of {citekey}: expected a JSON object, a text by the name of each figure")
        captions = {}
        for name in sorted(raw, key=lambda name: _by_number(Path(name).stem)):
            text = readable(raw[name])
            if text:
                captions[squeezed(Path(name).stem.replace(CAPTION, ""))] = text
            elif raw[name].strip("'\" \n"):
                self.changes.append(f"{citekey}: {name}: what was read is no caption; left out")
        return captions


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


def _figure_labels(captions: dict[str, str]) -> Iterable[str]:
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


Entry = dict[str, Any]


def main() -> None:
    """The command; where something is wrong it raises UserError, and nothing is written."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.programs.context24_figures.convert", description="Claims with the figures of their papers."
    )
    parser.add_argument("claims", type=Path, help="the organisers' claims, a JSON list")
    parser.add_argument("--papers", type=Path, required=True, help="JSON object: full text by citekey")
    parser.add_argument("--captions", type=Path, help="folder of JSON objects by citekey, or one JSON object of them")
    parser.add_argument("--figures", type=Path, help="folder with a folder of pictures a paper: FIG 1A.png, …")
    parser.add_argument("--out", type=Path, required=True, help="JSON Lines file to write")
    options = parser.parse_args()
    records, changes = convert(options.claims, options.papers, options.captions, options.figures)
    write_whole(options.out, "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records))
    for change in changes:
        print(f"  {change}")
    papers = {record["citekey"] for record in records}
    print(
        f"wrote {options.out}: {len(records)} claims about {len(papers)} papers; {len(changes)} changes, listed above"
    )


def convert(
    claims: Path, papers: Path, captions: Path | None = None, figures: Path | None = None
) -> tuple[list[Entry], list[str]]:
    """The records as JSON, and what was changed or left out, a line each. Raises UserError for a file of another form,
    and where no claim is left."""
    changes: list[str] = []
    texts = full_texts(papers)
    known = Elements(captions, figures)
    records = []
    for entry in _merged(_entries(claims), changes):
        record = _record(entry, texts, known, changes)
        if record is not None:
            records.append(record)
    if not records:
        raise UserError(f"{claims}: no claim of a paper with figures; expected --captions, --figures or figures_tables")
    return records, [*changes, *known.changes]


def _entries(claims: Path) -> list[Entry]:
    """The claims as they stand in the file."""
    listed = organisers_json(claims)
    if not isinstance(listed, list):
        raise UserError(f"{claims}: expected a JSON list of claims")
    for place, entry in enumerate(listed):
        text = ("id", "claim", "citekey")
        if not isinstance(entry, dict) or not all(isinstance(entry.get(name), str) and entry[name] for name in text):
            raise UserError(f"{claims}: entry {place}: expected an object with the texts id, claim and citekey")
        for name in ("findings", "figures_tables"):
            labels = entry.get(name)
            if labels is not None and not (isinstance(labels, list) and all(isinstance(one, str) for one in labels)):
                raise UserError(f"{claims}: entry {place}: {name}: expected a list of labels")
    return listed


def _merged(entries: list[Entry], changes: list[str]) -> Iterator[Entry]:
    """Claims whose labels are clean, each once: labelled ones of the same words about the same paper are one, which has
    the findings of all; another claim of an id that was given before gets an id of its own."""
    first: dict[tuple[str, str], Entry] = {}
    ids: dict[str, int] = {}
    kept = []
    for raw in entries:
        entry = {**raw, "findings": _findings(raw, changes)}
        before = first.setdefault((" ".join(entry["claim"].lower().split()), entry["citekey"]), entry)
        if before is not entry and (before["id"] == entry["id"] or (before["findings"] and entry["findings"])):
            before["findings"] = list(dict.fromkeys([*(before["findings"] or ()), *(entry["findings"] or ())])) or None
            changes.append(f"{entry['id']}: the same claim as {before['id']}; now one, with the findings of both")
            continue
        ids[entry["id"]] = count = ids.get(entry["id"], 0) + 1
        if count > 1:
            entry["id"] = f"{raw['id']}-{count}"
            changes.append(f"{raw['id']}: the id of another claim already; now {entry['id']}")
        kept.append(entry)
    yield from kept


def _findings(entry: Entry, changes: list[str]) -> list[str] | None:
    """The gold labels of a claim, clean; None where they are withheld."""
    if entry.get("findings") is None:
        return None
    findings: list[str] = []
    for typed in entry["findings"]:
        labels = cleaned(typed)
        if labels != [typed]:
            changes.append(f"{entry['id']}: findings: {typed!r}: now {', '.join(labels) or 'left out'}")
        findings += labels
    return list(dict.fromkeys(findings))


def _record(entry: Entry, texts: dict[str, list[str]], known: Elements, changes: list[str]) -> Entry | None:
    """A claim with its paper; None, and a line among the changes, where there is nothing to rank."""
    key = entry["citekey"]
    elements = known.of(key, entry.get("figures_tables"))
    if not elements:
        changes.append(f"{entry['id']}: left out; of {key} no figure or table is known")
        return None
    if key not in texts:
        changes.append(f"{entry['id']}: no full text of {key}; its captions are all that is known")
    spelled = {tidy(element["label"]): element["label"] for element in elements}
    findings = [spelled.get(tidy(label), label) for label in entry["findings"] or ()]
    if lacking := [label for label in findings if tidy(label) not in spelled]:
        changes.append(f"{entry['id']}: {', '.join(lacking)}: gold, and no element of {key}; kept, and cannot be found")
    record = {
        **{name: entry[name] for name in ("id", "claim", "citekey", "dataset") if entry.get(name)},
        "paragraphs": texts.get(key, []),
        "elements": elements,
        **({"findings": findings} if entry["findings"] is not None else {}),
    }
    try:
        Context24FiguresRecord.model_validate(record)
    except ValidationError as error:
        raise UserError(f"{entry['id']}: {explain(error)}") from error
    return record


if __name__ == "__main__":
    sys.exit(exit_code(main))
