"""JATS, the XML of publishers, as paragraphs with headings; tables as rows, without the list of references.

The file comes from a stranger: no entity of its own is expanded, nothing is fetched, and what is nested or large beyond
what a paper is, is refused.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, ParseError

from aisr.programs.errors import UserError

MOST_BYTES = 30 * 2**20
DEEPEST = 60  # elements in elements; a table in a section of an appendix takes some 15
MOST_ELEMENTS = 500_000
MINUS = "\u2212"
MOST_COLUMNS = 60  # that a cell may say it spans
PASSED_OVER = {"ref-list", "fn-group", "fn", "glossary", "processing-meta", "supplementary-material", "object-id"}
BLOCKS = {"sec", "p", "table-wrap", "fig", "list", "def-list", "disp-quote", "boxed-text", "disp-formula", "statement"}
BLOCKS |= {"table-wrap-group", "fig-group", "app", "app-group", "ack", "list-item", "table-wrap-foot", "alternatives"}
DIGITS = re.compile(r"[0-9,;–\s-]+")
OPEN = re.compile(r"[\[(,;–-]\s?$")


class Article(NamedTuple):
    """title and doi: as its head states them, empty where it does not; paragraphs: headings among them, in order."""

    title: str
    doi: str
    paragraphs: tuple[str, ...]


def article(file: Path) -> Article:
    """The article in a JATS file. Raises UserError where there is none, or it is broken, hostile or too large."""
    root = _root(file)
    found = next((one for one in root.iter() if _name(one) == "article"), None)
    if found is None:
        raise UserError(f"{file}: XML, but no JATS article (its root is <{_name(root)[:40]}>)")
    doi = next((_text(one) for one in found.iter() if _is_doi(one)), "")
    title = next((_text(one) for one in found.iter() if _name(one) == "article-title"), "")
    paragraphs = [text for part in _parts(found) for text in part if text]
    if not paragraphs:
        raise UserError(f"{file}: a JATS article without text; expected one with an abstract or body")
    return Article(title, doi.lower(), tuple(paragraphs))


def _root(file: Path) -> Element:
    try:
        from defusedxml import DefusedXmlException
        from defusedxml.ElementTree import iterparse
    except ModuleNotFoundError as error:
        raise UserError("reading JATS needs defusedxml; `pip install 'aisr[paper]'` brings it") from error
    if file.stat().st_size > MOST_BYTES:
        raise UserError(f"{file}: larger than {MOST_BYTES >> 20} MiB; expected the JATS XML of one paper")
    depth = count = 0
    root: Element | None = None
    try:
        for event, element in iterparse(str(file), events=("start", "end")):
            if event == "end":
                depth -= 1
                continue
            root = element if root is None else root
            depth, count = depth + 1, count + 1
            if depth > DEEPEST or count > MOST_ELEMENTS:
                raise UserError(f"{file}: nested or long beyond what a paper is; expected the JATS XML of one paper")
    except DefusedXmlException as error:
        raise UserError(f"{file}: declares entities of its own, which are not expanded; expected plain JATS") from error
    except UserError:
        raise
    except (ParseError, ValueError, LookupError) as error:  # broken; an encoding that is none or not what it says
        raise UserError(f"{file}: not XML ({str(error)[:100]}); expected JATS") from error
    if root is None:
        raise UserError(f"{file}: not XML (empty); expected JATS")
    return root


def _name(element: Element) -> str:
    """The name of an element without its namespace; empty for comments and the like."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _is_doi(element: Element) -> bool:
    return _name(element) == "article-id" and element.get("pub-id-type") == "doi"


def _parts(found: Element) -> Iterator[Iterable[str]]:
    for one in found:
        if _name(one) == "front":
            for abstract in (part for part in one.iter() if _name(part) == "abstract"):
                titled = any(_name(part) == "title" for part in abstract)
                yield [*([] if titled else ["Abstract"]), *_blocks(abstract)]
        elif _name(one) in ("body", "back"):
            yield _blocks(one)


def _blocks(element: Element) -> Iterator[str]:
    """The headings, paragraphs, captions and tables in an element, in order."""
    label = ""
    for one in element:
        name = _name(one)
        if name in PASSED_OVER:
            continue
        if name == "label":
            label = _text(one)
        elif name == "title":
            yield f"{label} {_text(one)}".strip()
        elif name == "p":
            yield _text(one)
            yield from _blocks_within(one)
        elif name in ("table-wrap", "fig"):
            yield _float(one)
        elif name == "disp-formula":
            continue
        else:
            yield from _blocks(one) if any(_name(part) in BLOCKS for part in one) else [_text(one)]


def _blocks_within(paragraph: Element) -> Iterator[str]:
    """Blocks that stand inside of a paragraph: a list, a table, a figure."""
    for one in paragraph:
        if _name(one) in ("table-wrap", "fig"):
            yield _float(one)
        elif _name(one) in BLOCKS - {"disp-formula"}:
            yield from _blocks(one)


def _float(element: Element) -> str:
    """A figure or table: label and caption in a line, and the rows of a table below it, with tabs between cells."""
    label = " ".join(_text(one) for one in element if _name(one) == "label")
    caption = " ".join(_text(part) for one in element if _name(one) == "caption" for part in one)
    head = f"{label.rstrip('.:')}: {caption}" if label and caption else label or caption
    rows = ["\t".join(_cells(row)) for row in element.iter() if _name(row) == "tr"]
    return "\n".join([head, *rows])


def _cells(row: Element) -> Iterator[str]:
    for cell in row:
        if _name(cell) in ("td", "th"):
            spans = cell.get("colspan", "1")
            columns = min(int(spans), MOST_COLUMNS) if spans.isdecimal() and len(spans) < 4 else 1
            yield from [_text(cell)] * max(columns, 1)


def _text(element: Element) -> str:
    """What an element says, in one line, without the blocks in it."""
    pieces: list[str] = []
    _gather(element, pieces)
    return " ".join("".join(pieces).replace(MINUS, "-").split())


def _gather(element: Element, pieces: list[str]) -> None:
    """Put what an element says behind the pieces, of which none is empty: the last of them says what stands before."""
    if element.text:
        pieces.append(element.text)
    for one in element:
        name = _name(one)
        if name in ("inline-formula", "tex-math"):
            pieces.append(_formula(one))
        elif name == "disp-formula":
            pieces.append(f" {_formula(one)} ")
        elif name in BLOCKS - {"p"} or name in PASSED_OVER:
            pieces.append(" ")
        elif name == "xref" and one.get("ref-type") in ("bibr", "fn") and _is_raised(one, pieces):
            pass  # the number of a note or work
        elif name == "sup" and all(_name(part) == "xref" for part in one) and len(one) and not (one.text or "").strip():
            pass
        elif name in ("break", "p"):
            pieces.append(" ")
            _gather(one, pieces)
        elif name == "sup" and pieces and pieces[-1][-1].isalnum():
            pieces.append("^")
            _gather(one, pieces)
        elif name:
            _gather(one, pieces)
        if one.tail:
            pieces.append(one.tail)


def _is_raised(element: Element, pieces: list[str]) -> bool:
    """Whether a reference is a mere number behind a word, not one in brackets."""
    before = pieces[-1] if pieces else ""
    return bool(DIGITS.fullmatch("".join(element.itertext()))) and not OPEN.search(before) and before[-1:].strip() != ""


def _formula(element: Element) -> str:
    """A formula by its MathML, whose text can be read; another is only said to stand there."""
    math = next((one for one in element.iter() if _name(one) == "math"), None)
    said = "".join("".join(math.itertext()).split()) if math is not None else ""
    return said or "[formula]"
