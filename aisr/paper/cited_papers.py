"""Cited papers: a folder of them, found by key, DOI or title; each a PDF, JATS XML, text or Markdown, as paragraphs."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, ParseError

from aisr.paper.draft import Draft, Place, Unread, Work
from aisr.paper.readers.pdf import DOI
from aisr.paper.readers.pdf import read as read_pdf
from aisr.paper.readers.pdf_blocks import REFERENCES
from aisr.paper.readers.pdf_process import LIMITS, Limits
from aisr.programs.errors import UserError

# --- JATS, the XML of publishers, as paragraphs with headings; tables as rows, without the list of references.
#
# The file comes from a stranger: no entity of its own is expanded, nothing is fetched, and what is nested or large
# beyond what a paper is, is refused.

MOST_XML_BYTES = 30 * 2**20
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
    if file.stat().st_size > MOST_XML_BYTES:
        raise UserError(f"{file}: larger than {MOST_XML_BYTES >> 20} MiB; expected the JATS XML of one paper")
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


# --- One cited paper: a PDF, JATS XML, text or Markdown, as paragraphs with headings, and what it says of itself.

MOST_BYTES = 8 * 2**20
SUFFIXES = {".xml": "JATS", ".nxml": "JATS", ".pdf": "PDF", ".md": "text", ".markdown": "text", ".txt": "text"}
BLANK = re.compile(r"\n[ \t]*+\n")
HASHES = re.compile(r"#{1,6}\s+")
FIRST = 3_000  # characters that a paper says its own DOI in


class Source(NamedTuple):
    """What a file holds. titles: all that it may be called; doi: its own, or empty; notes: what of it was not read."""

    paragraphs: tuple[str, ...]
    titles: tuple[str, ...]
    doi: str
    notes: tuple[Unread, ...] = ()


def source(file: Path, limits: Limits = LIMITS) -> Source:
    """A paper by its suffix. Raises UserError where it cannot be read."""
    kind = SUFFIXES.get(file.suffix.lower())
    if kind is None:
        raise UserError(f"{file}: expected a PDF, JATS XML (.xml), text (.txt) or Markdown (.md)")
    if kind == "JATS":
        found = article(file)
        return Source(found.paragraphs, (found.title,), found.doi)
    if kind == "PDF":
        draft = read_pdf(file, limits)
        return Source(tuple(_of_draft(draft)), (draft.title,), _doi(_first_page(draft)), draft.unread)
    paragraphs = _of_text(file)
    return Source(tuple(paragraphs), (paragraphs[0].splitlines()[0],), _doi("\n".join(paragraphs)))


def _of_draft(draft: Draft) -> Iterator[str]:
    """Headings and paragraphs as they stand, and then tables and figures; nothing that is hidden."""
    above: tuple[str, ...] = ()
    for paragraph in draft.paragraphs:
        text = " ".join(sentence.text for sentence in paragraph.sentences if not sentence.hidden)
        if not text:
            continue
        same = 0
        while above[same : same + 1] == paragraph.headings[same : same + 1] != ():
            same += 1
        yield from paragraph.headings[same:]
        above = paragraph.headings
        yield text
    for one in draft.floats.values():
        yield "\n".join([f"{one.name}: {one.caption}", *one.rows.split("\n")])


def _first_page(draft: Draft) -> str:
    return " ".join(
        sentence.text for paragraph in draft.paragraphs for sentence in paragraph.sentences if sentence.place.page == 1
    )


def _doi(text: str) -> str:
    found = DOI.search(text[:FIRST])
    return found[0].rstrip(".,;)").lower() if found else ""


def _of_text(file: Path) -> list[str]:
    """The paragraphs of a text, which blank lines part, without a list of references."""
    with file.open("rb") as opened:
        content = opened.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UserError(f"{file}: larger than {MOST_BYTES >> 20} MiB; expected the text of one paper")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: not UTF-8 ({error.reason}); save it as UTF-8") from error
    if "\0" in text:
        raise UserError(f"{file}: not text, there are zero bytes in it")
    found: list[str] = []
    listed = False
    for block in (block.strip() for block in BLANK.split(text)):
        hashes = HASHES.match(block)
        said = block[hashes.end() :] if hashes else block
        if REFERENCES.fullmatch(said):
            listed = True
        elif hashes:
            listed = False
        if said and not listed:
            found.append(said if "\t" in said or said.count("|") > 1 else " ".join(said.split()))
    if not found:
        raise UserError(f"{file}: no text in it; expected the text of one paper")
    return found


MOST_FILES = 2_000
SIGN = re.compile(r"[^\W_]+")
LEAST_TITLE = 20  # letters; two titles where one goes on behind the other's end are the same from this length
KINDS = tuple(dict.fromkeys(SUFFIXES.values()))  # of two files of one work, the first kind is the better to read


class CitedPapers(NamedTuple):
    """papers: key of a work -> paragraph id (P1, P2, …) -> text, headings among them; files: key -> the file that it
    was read from; unread: files that could not be read or told apart, and what of the others was not read."""

    papers: Mapping[str, Mapping[str, str]]
    files: Mapping[str, Path]
    unread: tuple[Unread, ...]


class _Match(NamedTuple):
    """How a file was found: 0 by its name, 1 by what it says of itself; lower is surer."""

    way: int
    kind: int
    file: Path
    source: Source


def read(folder: Path, works: Mapping[str, Work], limits: Limits = LIMITS) -> CitedPapers:
    """The papers in a folder that are works of a bibliography. Raises UserError where there is no such folder."""
    matches: dict[str, list[_Match]] = {}
    unread: list[Unread] = []
    for file in _files(folder):
        place = Place(file.name)
        if why := _refused(file, folder):
            unread.append(Unread(place, why))
            continue
        try:
            found = source(file, limits)
        except (UserError, OSError) as error:
            unread.append(Unread(place, str(error).removeprefix(f"{file}: ")))
            continue
        way, keys = _found_by(file, found, works)
        if len(keys) != 1:
            unread.append(Unread(place, _not_one(keys, found)))
            continue
        kind = KINDS.index(SUFFIXES[file.suffix.lower()])
        matches.setdefault(keys[0], []).append(_Match(way, kind, file, found))
    papers: dict[str, Mapping[str, str]] = {}
    files: dict[str, Path] = {}
    for key, found_for in sorted(matches.items()):
        best = min(match[:2] for match in found_for)
        chosen = [match for match in found_for if match[:2] == best]
        for match in found_for:
            if len(chosen) > 1 and match in chosen:
                others = ", ".join(other.file.name for other in chosen if other is not match)
                unread.append(Unread(Place(match.file.name), f"ambiguous: {others} is a file for {key} as well"))
            elif match not in chosen:
                unread.append(Unread(Place(match.file.name), f"left aside: {key} is read from {chosen[0].file.name}"))
        if len(chosen) == 1:
            (one,) = chosen
            papers[key] = {f"P{number}": text for number, text in enumerate(one.source.paragraphs, start=1)}
            files[key] = one.file
            unread += [Unread(note.place._replace(file=one.file.name), note.reason) for note in one.source.notes]
    return CitedPapers(papers, files, tuple(unread))


def _files(folder: Path) -> list[Path]:
    try:
        found = sorted(file for file in folder.iterdir() if not file.name.startswith("."))
    except OSError as error:
        raise UserError(
            f"{folder}: no folder of cited papers ({error.strerror}); expected one of PDFs, JATS or text"
        ) from error
    if len(found) > MOST_FILES:
        raise UserError(f"{folder}: {len(found):,} files; expected the cited papers alone, {MOST_FILES:,} at most")
    return found


def _refused(file: Path, folder: Path) -> str | None:
    """Why a file is not looked into: what is read is sent to an LM and shown, and a pipe or device never ends."""
    try:
        found = file.resolve(strict=True)
        if not found.is_relative_to(folder.resolve()):
            return "a link that leads out of the folder; put the file itself there"
        if found.is_dir():
            return f"a folder; only what lies in {folder.name or folder}/ itself is read: put its papers there"
        return None if found.is_file() else "no file but a pipe, a device or the like"
    except (OSError, RuntimeError) as error:  # a link to nothing, a circle of links
        return f"cannot be opened ({getattr(error, 'strerror', None) or 'a circle of links'})"


def _found_by(file: Path, found: Source, works: Mapping[str, Work]) -> tuple[int, list[str]]:
    """How a file is found, and the keys of the works that it may be."""
    name = _plain(file.stem)
    for way, keys in enumerate((_named(file.stem, name, works), _said(found, works))):
        if keys:
            return way, keys
    return 1, []


def _named(stem: str, name: str, works: Mapping[str, Work]) -> list[str]:
    exact = [key for key in works if key.casefold() == stem.casefold()]
    if exact or not name:
        return exact
    close = [key for key, work in works.items() if name in (_plain(key), _plain(work.doi))]
    return close or [key for key, work in works.items() if _same_title(name, _plain(work.title))]


def _said(found: Source, works: Mapping[str, Work]) -> list[str]:
    by_doi = [key for key, work in works.items() if found.doi and work.doi.lower() == found.doi]
    titles = [_plain(title) for title in found.titles]
    return by_doi or [key for key, work in works.items() if any(_same_title(t, _plain(work.title)) for t in titles)]


def _plain(text: str) -> str:
    """Letters and digits alone, small, without accents."""
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", text[:1_000]) if not unicodedata.combining(sign))
    return "".join(SIGN.findall(bare.casefold()))


def _same_title(one: str, other: str) -> bool:
    if not one or not other:
        return False
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= LEAST_TITLE and long.startswith(short))


def _not_one(keys: list[str], found: Source) -> str:
    if keys:
        return f"ambiguous: it may be {', '.join(keys)}; name it by its key"
    titles = next((title for title in found.titles if title), "no title was found in it")
    return f"no work of the bibliography by name, DOI or title ({titles[:80]}); name it by its key"
