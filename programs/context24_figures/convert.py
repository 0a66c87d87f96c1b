"""The organisers' files as records:
`python -m aisr.programs.context24_figures.convert CLAIMS --papers PAPERS --out OUT`.

CLAIMS is their JSON list, such as `task1-train-dev.json`; PAPERS a JSON object with the full text of each paper under
its `citekey`. `--captions` is their folder with a JSON object a paper, text by the name of the caption's picture;
`--figures` their folder of pictures, whose names are the candidates (2024); else they are the claim's `figures_tables`
(2025).

The files were made by people and programs: labels hold stray quotes and line ends, claims occur twice, texts lack line
ends, captions are quoted Python strings. What is changed is printed.
"""

import argparse
import ast
import json
import re
import sys
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from aisr.base.errors import UserError, exit_code
from aisr.base.files import write_whole
from aisr.base.jsonl import read_as, read_list
from aisr.metrics.context24_figures import LABEL, place_of, tidy
from aisr.programs.context24_figures.task import LONGEST, UNFIT
from aisr.programs.context24_text.convert import full_texts
from aisr.programs.records import Text
from aisr.programs.text import sentences

# --- Labels

STRAY = re.compile(r"[\"“”'‘’`´\[\]]+")
APART = re.compile(r"(?:(?<!\s)\s++)?[,;&]\s*+|\sand\s", re.IGNORECASE)
PANEL = re.compile(r"[A-Za-z]")
SPELLED = re.compile(
    r"(?P<supplement>(?:SUPP(?:L(?:EMENT(?:ARY|AL)?)?)?|EXTENDED DATA)\.?)?\s{0,2}"
    r"(?:(?P<kind>FIG(?:URE)?S?|TAB(?:LE)?S?)\b\.?|(?P<glued>FIG|TAB)(?=S?\d))"
)
GAP = re.compile(r"(?<=\d) (?=\(?[A-Z]\)?$)|[()]|(?<=[A-Z] S) (?=\d)|(?<![.:])[.:]++$")


def cleaned(typed: str) -> list[str]:
    """Return the labels in what somebody typed where one belongs: none, one, or the several of `FIG 2A, FIG 2B`.

    Quotes, line ends, doubled blanks and dots at the end are left out; `Figure 2 a`, `FIG2A` and `Fig. 2(A)` become
    `FIG 2A`; a letter alone is a panel of the figure before it. What still cannot be read as a label stays in its own
    words, as long as it can stand in a line.
    """
    labels: list[str] = []
    figure = ""
    for part in APART.split(STRAY.sub("", typed)):
        label = _cleaned(" ".join(part.split()))
        if figure and PANEL.fullmatch(label):
            labels = [one for one in labels if one != figure]  # FIG 2, A and B: its panels, not all of it
            labels.append(figure + label.upper())
        else:
            place = place_of(label)
            figure = label.removesuffix(place.panel) if place else ""
            labels.append(label)
    return list(dict.fromkeys(label for label in labels if label and len(label) <= LONGEST and not UNFIT.search(label)))


def _labels(typed: str, where: str) -> list[str]:
    """Return the same, and print them where they are not what was typed."""
    labels = cleaned(typed)
    if labels != [typed]:
        print(f"  {where} {typed!r}: now {', '.join(labels) or 'left out'}")
    return labels


def _cleaned(label: str) -> str:
    """Return one label as labels are spelt; as it is where it cannot be read as one."""
    if LABEL.fullmatch(label):
        return label
    spelled = SPELLED.sub(
        lambda match: f"{'SUPP ' if match['supplement'] else ''}{(match['kind'] or match['glued'])[:3]} ",
        tidy(label),
        count=1,
    )
    spelled = GAP.sub("", " ".join(spelled.split()))
    return spelled if LABEL.fullmatch(spelled) else label


# --- Figures, tables and their captions

PICTURES = (".png", ".jpg", ".jpeg")
CAPTION = "CAPTION"  # in the name of a picture of a caption, and not of a figure
PYTHON_TEXT = re.compile(r"""'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*\"""")  # a text as Python prints it
MISSING = re.compile(r"\[MISSING_PAGE_\w+(?::\d+)?\]")  # what the reader of captions writes where it saw nothing
INVENTED = re.compile(r"\s*(?:#|\*\s|\*\*(?!\(|fig|tab|supp)|\\begin)", re.IGNORECASE)  # a list, a heading: no caption
HEAD = re.compile(r"\b(?:fig(?:ure)?s?|tab(?:le)?s?|scheme|box|panel)\b", re.IGNORECASE)
PIECE = re.compile(r"-\d+$")  # of a caption that goes on over pages
NUMBER = re.compile(r"\d+")

Element = dict[str, str]  # of a record: label, and where there is one caption and img_path


def elements_of(citekey: str, listed: Sequence[str], captions: Path | None, figures: Path | None) -> list[Element]:
    """Return the elements of a paper: those that have a picture, or else those `listed`."""
    texts = captions_of(captions / f"{citekey}.json") if captions else {}
    folder = figures / citekey if figures else None
    pictures = {
        file.stem: f"{citekey}/{file.name}"
        for file in (sorted(folder.iterdir()) if folder and folder.is_dir() else ())
        if file.suffix.lower() in PICTURES and CAPTION not in file.name
    }
    elements: dict[str, Element] = {}
    for typed, picture in (pictures or dict.fromkeys(listed, "")).items():
        for label in _labels(typed, f"{citekey}: element"):
            element = {"label": label, "caption": _caption_of(label, texts), "img_path": picture}
            elements.setdefault(tidy(label), {name: text for name, text in element.items() if text})
    return sorted(elements.values(), key=lambda element: _by_number(element["label"]))


def captions_of(file: Path) -> dict[str, str]:
    """Return the captions of a paper by the squeezed labels of what they are about; none where there is no file."""
    raw = read_as(dict[str, str], file) if file.is_file() else {}
    captions = {}
    for name in sorted(raw, key=lambda name: _by_number(Path(name).stem)):
        if text := readable(raw[name]):
            captions[_squeezed(Path(name).stem.replace(CAPTION, ""))] = text
        elif raw[name].strip("'\" \n"):
            print(f"  {file.stem}: {name}: what was read is no caption; left out")
    return captions


def readable(read: str) -> str:
    """Return a caption as it was read, in one line, without Python's quotes, marks of what was missed and sentences
    that the reader wrote again and again; "" for what is no caption."""
    text = read.strip()
    if PYTHON_TEXT.fullmatch(text):
        with suppress(SyntaxError, ValueError), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that mean nothing
            text = str(ast.literal_eval(text))
    text = MISSING.sub(" ", text)
    if INVENTED.match(text) and not HEAD.search(text):
        return ""
    return " ".join(dict.fromkeys(sentence for part in text.split("\n\n") for sentence in sentences(part)))


def _caption_of(label: str, captions: dict[str, str]) -> str:
    """Return the caption with a label's name, with the pieces that follow it on other pages."""
    name = _squeezed(label)
    pieces = [text for key, text in captions.items() if key == name or PIECE.sub("", key) == name]
    return " ".join(dict.fromkeys(pieces))


def _by_number(label: str) -> str:
    """Return what sorts FIG 10 behind FIG 2, and panels behind their figure."""
    return NUMBER.sub(lambda digits: digits[0].zfill(6), label)


def _squeezed(label: str) -> str:
    """Return letters, digits and dashes of a label, as in names of files: `CAPTION FIG1S1` is about `FIG 1S1`."""
    return re.sub(r"[^A-Z0-9-]", "", label.upper())


# --- Claims


class Claim(BaseModel):
    """An entry of the organisers' list. findings: the gold labels; None where they are withheld."""

    model_config = ConfigDict(extra="ignore")

    id: Text
    claim: Text
    citekey: Annotated[str, Field(pattern=r"^[^./\\][^/\\]*$")]  # a file and a folder have its name
    dataset: str | None = None
    findings: list[str] | None = None
    figures_tables: list[str] | None = None


def convert(
    claims: Sequence[Claim], texts: Mapping[str, list[str]], captions: Path | None, figures: Path | None
) -> list[dict[str, Any]]:
    """Return the records as JSON, and print what was changed or left out. texts: the paragraphs of papers."""
    known: dict[tuple[str, ...], list[dict[str, Any]]] = {}  # by paper and the labels that its claims list
    records = []
    for claim in _merged(claims):
        listed = claim.figures_tables or []
        place = (claim.citekey, *listed)
        if place not in known:
            known[place] = elements_of(claim.citekey, listed, captions, figures)
        elements = known[place]
        if not elements:
            print(f"  {claim.id}: left out; of {claim.citekey} no figure or table is known")
            continue
        if claim.citekey not in texts:
            print(f"  {claim.id}: no full text of {claim.citekey}; its captions are all that is known")
        record = {
            **claim.model_dump(include={"id", "claim", "citekey", "dataset"}, exclude_none=True),
            "paragraphs": texts.get(claim.citekey, []),
            "elements": elements,
        }
        if claim.findings is not None:
            spelled = {tidy(element["label"]): element["label"] for element in elements}
            record["findings"] = [spelled.get(tidy(label), label) for label in claim.findings]
            if lacking := [label for label in claim.findings if tidy(label) not in spelled]:
                print(
                    f"  {claim.id}: {', '.join(lacking)}: gold, and no element of its paper; kept, and not to be found"
                )
        records.append(record)
    return records


def _merged(claims: Sequence[Claim]) -> list[Claim]:
    """Return claims whose labels are clean, each once: labelled ones of the same words about the same paper are one,
    which has the findings of all; another claim of an id that was given before gets an id of its own."""
    first: dict[tuple[str, str], Claim] = {}
    ids: Counter[str] = Counter()
    kept = []
    for claim in claims:
        if claim.findings is not None:
            labels = [label for typed in claim.findings for label in _labels(typed, f"{claim.id}: findings:")]
            claim.findings = list(dict.fromkeys(labels))
        before = first.setdefault((" ".join(claim.claim.lower().split()), claim.citekey), claim)
        if before is not claim and (before.id == claim.id or (before.findings and claim.findings)):
            before.findings = list(dict.fromkeys([*(before.findings or ()), *(claim.findings or ())])) or None
            print(f"  {claim.id}: the same claim as {before.id}; now one, with the findings of both")
            continue
        ids[claim.id] += 1
        if (count := ids[claim.id]) > 1:
            print(f"  {claim.id}: the id of another claim already; now {claim.id}-{count}")
            claim.id = f"{claim.id}-{count}"
        kept.append(claim)
    return kept


def main() -> None:
    """Run the command; where something is wrong it raises UserError, and nothing is written."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.programs.context24_figures.convert", description="Claims with the figures of their papers."
    )
    parser.add_argument("claims", type=Path, help="the organisers' claims, a JSON list")
    parser.add_argument("--papers", type=Path, required=True, help="JSON object: full text by citekey")
    parser.add_argument("--captions", type=Path, help="folder with a JSON object a paper: li2022molecular.json, …")
    parser.add_argument("--figures", type=Path, help="folder with a folder of pictures a paper: FIG 1A.png, …")
    parser.add_argument("--out", type=Path, required=True, help="JSON Lines file to write")
    options = parser.parse_args()
    for folder in (options.captions, options.figures):
        if folder and not folder.is_dir():
            raise UserError(f"{folder}: no such folder; expected one with the captions or pictures of each paper")
    claims, texts = read_list(options.claims, Claim), full_texts(options.papers)
    records = convert(claims, texts, options.captions, options.figures)
    if not records:
        raise UserError(
            f"{options.claims}: no claim of a paper with figures; expected --figures, or figures_tables of claims"
        )
    write_whole(options.out, "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records))
    papers = {record["citekey"] for record in records}
    print(f"wrote {options.out}: {len(records)} claims about {len(papers)} papers; what was changed is listed above")


if __name__ == "__main__":
    sys.exit(exit_code(main))
