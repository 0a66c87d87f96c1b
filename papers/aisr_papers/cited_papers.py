"""Cited papers: a folder of them, found by key, DOI or title; each a PDF, JATS XML, text or Markdown, as paragraphs."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from aisr import UserError
from aisr_papers.citations import find_doi
from aisr_papers.draft import Draft, Place, Unread, Work
from aisr_papers.passages import MAX_SPAN, lay_out, spread
from aisr_papers.readers.files import parse_count, without_accents
from aisr_papers.readers.formulas import SCRIPT, bare_indices, mathml, script_mark, without_marks
from aisr_papers.readers.pdf import read as read_pdf
from aisr_papers.readers.pdf_blocks import REFERENCES
from aisr_papers.readers.pdf_process import LIMITS, Limits
from aisr_papers.readers.xml_tree import local_name, parse_xml

# --- JATS, the XML of publishers, as paragraphs with headings; tables as rows, without the list of references.
#
# The file comes from a stranger: no entity of its own is expanded, nothing is fetched, and what is nested or large
# beyond what a paper is, is refused.

MOST_XML_BYTES = 30 * 2**20
DEEPEST = 60  # elements in elements; a table in a section of an appendix takes some 15
CELLS = ("td", "th")
MOST_REPEATED = 100_000  # columns and rows that cells span beside their own: their words are repeated in each
PASSED_OVER = {"ref-list", "fn-group", "fn", "glossary", "processing-meta", "supplementary-material", "object-id"}
BLOCKS = {
    *("sec", "p", "list", "list-item", "def-list", "disp-quote", "boxed-text", "statement", "app", "ack", "abstract")
}
BLANKS = re.compile(r"\s+")
MANY_BLANKS = re.compile(r" {2,}")
NUMBERED = ("bibr", "fn")  # references to works and notes
DIGITS = re.compile(r"[0-9,;–\s-]+")
BETWEEN = re.compile(r"[,;–\s-]+")
OPEN = re.compile(r"[\[(,;–\s-]\s?$")


class Source(NamedTuple):
    """The content of a cited paper. Title and DOI, its own, are empty where unknown."""

    paragraphs: tuple[str, ...]  # headings among them, in order
    title: str
    doi: str
    notes: tuple[Unread, ...] = ()  # what of it was not read


def read_jats(file: Path) -> Source:
    """Return the article in a JATS file. Raises UserError where there is none, or it is broken, hostile or too
    large."""
    if file.stat().st_size > MOST_XML_BYTES:
        raise UserError(f"{file}: larger than {MOST_XML_BYTES >> 20} MiB; expected the JATS XML of one paper")
    root = parse_xml(file.read_bytes(), file, DEEPEST, "the JATS XML of one paper")
    article = next((one for one in root.iter() if local_name(one) == "article"), None)
    if article is None:
        raise UserError(f"{file}: XML, but no JATS article (its root is <{local_name(root)[:40]}>)")
    dois = (one for one in article.iter() if local_name(one) == "article-id" and one.get("pub-id-type") == "doi")
    cells = [one for one in article.iter() if local_name(one) in CELLS]
    if sum(_span(one, "colspan") * _span(one, "rowspan") - 1 for one in cells) > MOST_REPEATED:
        raise UserError(
            f"{file}: tables whose cells span more than {MOST_REPEATED:,} others; expected those of one paper"
        )
    doi = next(map(_text, dois), "")
    title = next((_text(one) for one in article.iter() if local_name(one) == "article-title"), "")
    paragraphs = _article_texts(article)
    if not paragraphs:
        raise UserError(f"{file}: a JATS article without text; expected one with an abstract or body")
    return Source(tuple(paragraphs), title, doi.lower())


def _article_texts(article: Element) -> list[str]:
    """Headings, paragraphs and floats of the abstract, the body and what stands behind it."""
    blocks: list[list[str]] = [[]]
    for one in article:
        if local_name(one) == "front":
            for abstract in (part for part in one.iter() if local_name(part) == "abstract"):
                titled = any(local_name(part) == "title" for part in abstract)
                blocks += [] if titled else [["Abstract"]]
                _add_text(abstract, blocks)
        elif local_name(one) in ("body", "back"):
            _add_text(one, blocks)
    return [text for block in blocks if (text := _line(block))]


def _add_text(element: Element, blocks: list[list[str]]) -> None:
    """Append the words of an element to the last block. What is a block or float begins a new one, and ends it."""
    name = local_name(element)
    last = "".join(blocks[-1][-3:]).rstrip(SCRIPT)
    if not name or name in PASSED_OVER:
        return
    if name in ("table-wrap", "fig"):
        blocks += [[_float(element)], []]
        return
    if name in ("inline-formula", "tex-math", "disp-formula"):
        blocks[-1].append(_formula(element) if name != "disp-formula" else f" {_formula(element)} ")
        return
    if (
        name == "xref"
        and element.get("ref-type") in NUMBERED
        and DIGITS.fullmatch("".join(element.itertext()))
        and last
        and (_is_raised(element) or not OPEN.search(last))
    ):
        return  # the raised number of a note or work
    if name == "sup" and any(local_name(part) == "xref" for part in element):
        return
    if name == "math":
        blocks[-1].append(bare_indices(mathml(element)))
        return
    if name in BLOCKS:
        blocks.append([])
    elif name in ("sup", "sub"):
        blocks[-1].append(script_mark(name, last))
    elif name == "break":
        blocks[-1].append(" ")
    blocks[-1] += [BLANKS.sub(" ", element.text)] if element.text else []
    for one, tail in _parts(element):
        if one is not None:
            _add_text(one, blocks)
        blocks[-1] += [BLANKS.sub(" ", tail)] if tail else []
    if name in ("sup", "sub"):
        blocks[-1].append(SCRIPT)
    elif name == "label":
        blocks[-1].append(" ")
    elif name in BLOCKS or name == "title":
        blocks.append([])


def _parts(element: Element) -> Iterator[tuple[Element | None, str]]:
    """Return the elements in another, each with the text behind it, without what parts raised numbers of works: in 1,2
    the comma, and where one of both numbers is no link that, too."""
    parts: list[Element | None] = [None, *element, None]
    for before, one, behind in zip(parts, parts[1:], parts[2:], strict=False):
        if one is None:
            continue
        tail = one.tail or ""
        is_split = _is_raised(one) and _is_raised(behind) and BETWEEN.fullmatch(tail)
        raised = "".join(one.itertext()) if local_name(one) == "sup" else ""
        is_behind = _is_number(before) and before is not None and not (before.tail or "").strip(",;– ")
        if BETWEEN.fullmatch(raised):
            is_part = is_behind and _is_number(behind)
        else:  # 2- before a number of a work is a charge
            goes_on = is_behind and BETWEEN.match(raised) is not None
            begins = raised[-1:] in (",", ";") and not tail.strip() and _is_number(behind)
            is_part = DIGITS.fullmatch(raised) is not None and (goes_on or begins)
        yield None if is_part else one, "" if is_split else tail


def _is_number(element: Element | None) -> bool:
    """Return whether it is the number of a work, or some that are raised together."""
    if element is None:
        return False
    is_reference = local_name(element) == "xref" and element.get("ref-type") in NUMBERED
    return is_reference or (local_name(element) == "sup" and any(map(_is_number, element)))


def _is_raised(element: Element | None) -> bool:
    """Return whether it is the raised number of a work."""
    return element is not None and _is_number(element) and any(local_name(one) == "sup" for one in element.iter())


def _line(pieces: Iterable[str]) -> str:
    return MANY_BLANKS.sub(" ", without_marks("".join(pieces)).replace("\u2212", "-")).strip(" ")


def _text(element: Element) -> str:
    """Return the words of an element in one line."""
    blocks: list[list[str]] = [[]]
    _add_text(element, blocks)
    return _line(" ".join("".join(block) for block in blocks))


def _float(element: Element) -> str:
    """Return a figure or table: label and caption in a line, and the rows of a table below it, with tabs between
    cells."""
    label = " ".join(_text(one) for one in element if local_name(one) == "label")
    caption = " ".join(_text(one) for one in element if local_name(one) == "caption")
    head = f"{label.rstrip('.:')}: {caption}" if label and caption else label or caption
    cells = [
        [(_text(one), _span(one, "colspan"), _span(one, "rowspan")) for one in row if local_name(one) in CELLS]
        for row in _rows(element)
    ]
    rows = lay_out(spread(cells))
    return f"{head}\n{rows}" if rows else head


def _rows(element: Element) -> Iterator[Element]:
    """Return the rows of a table; those of a table within a cell are text of that."""
    for one in element:
        if local_name(one) == "tr":
            yield one
        elif local_name(one) not in CELLS:
            yield from _rows(one)


def _span(cell: Element, name: str) -> int:
    """Return how many columns (`colspan`) or rows (`rowspan`) a cell takes."""
    return min(max(parse_count(cell.get(name, "1")), 1), MAX_SPAN)


def _formula(element: Element) -> str:
    """Return a formula by its MathML, whose text can be read; `[formula]` for another."""
    math = next((one for one in element.iter() if local_name(one) == "math"), None)
    return (bare_indices(mathml(math)) if math is not None else "") or "[formula]"


# --- One cited paper: a PDF, JATS XML, text or Markdown, as paragraphs with headings, with its own title and DOI.

SUFFIXES = {".xml": "JATS", ".nxml": "JATS", ".pdf": "PDF", ".md": "text", ".markdown": "text", ".txt": "text"}
HASHES = re.compile(r"#{1,6}\s+")
MOST_TEXT_BYTES = 8 * 2**20
BLANK_LINES = re.compile(r"\n\s*\n")
FIRST = 3_000  # characters that a paper says its own DOI in


def read_source(file: Path, limits: Limits = LIMITS) -> Source:
    """Return a paper by its suffix. Raises UserError where it cannot be read."""
    kind = SUFFIXES.get(file.suffix.lower())
    if kind is None:
        raise UserError(f"{file}: expected a PDF, JATS XML (.xml), text (.txt) or Markdown (.md)")
    if kind == "JATS":
        return read_jats(file)
    if kind == "PDF":
        draft = read_pdf(file, limits)
        first_page = (one.text for paragraph in draft.paragraphs for one in paragraph.sentences if one.place.page == 1)
        return Source(tuple(_draft_texts(draft)), draft.title, _own_doi(" ".join(first_page)), draft.unread)
    paragraphs = _read_text(file)
    return Source(tuple(paragraphs), paragraphs[0].splitlines()[0], _own_doi("\n".join(paragraphs)))


def _draft_texts(draft: Draft) -> Iterator[str]:
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
        yield f"{one.name}: {one.caption}\n{one.rows}"


def _own_doi(text: str) -> str:
    return find_doi(text[:FIRST]).rstrip(".;)").lower()


def _read_text(file: Path) -> list[str]:
    """Return the paragraphs of a text, which blank lines part, without a list of references."""
    if file.stat().st_size > MOST_TEXT_BYTES:
        raise UserError(f"{file}: larger than {MOST_TEXT_BYTES >> 20} MiB; expected text or Markdown")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: not UTF-8 ({error.reason}); expected text or Markdown") from error
    if "\0" in text:
        raise UserError(f"{file}: no text in there; expected text or Markdown")
    paragraphs: list[str] = []
    in_references = False
    for block in filter(None, map(str.strip, BLANK_LINES.split(text))):
        hashes = HASHES.match(block)
        words = block[hashes.end() :] if hashes else block
        if REFERENCES.fullmatch(words):
            in_references = True
        elif hashes:
            in_references = False
        if words and not in_references:
            paragraphs.append(words if "\t" in words or words.count("|") > 1 else " ".join(words.split()))
    if not paragraphs:
        raise UserError(f"{file}: no text in it; expected the text of one paper")
    return paragraphs


# --- The papers of a folder, each linked to its work: by the name of the file, or else by its own DOI or title.

SIGN = re.compile(r"[^\W_]+")
LEAST_TITLE = 20  # letters; two titles where one goes on behind the other's end are the same from this length
KINDS = tuple(dict.fromkeys(SUFFIXES.values()))  # of two files of one work, the first kind is the better to read


class CitedPapers(NamedTuple):
    """The papers of a folder."""

    papers: Mapping[str, Mapping[str, str]]  # key of a work -> paragraph id (P1, P2, …) -> text, headings among them
    # Files that could not be read or linked to one work, and what of the others was not read.
    unread: tuple[Unread, ...]


def read(folder: Path, works: Mapping[str, Work], limits: Limits = LIMITS) -> CitedPapers:
    """Return the papers in a folder that are works of a bibliography. Of several files of a work one is read: what is
    named after it rather than what says so itself, and JATS rather than PDF rather than text. None of two of one kind
    that say so themselves."""
    matches: list[tuple[bool, int, Path, str, Source]] = []
    unread: list[Unread] = []
    for file in sorted(one for one in folder.iterdir() if not one.name.startswith(".")):
        try:
            _check_place(file, folder)
            source = read_source(file, limits)
            by_name = _keys_by_name(file.stem, works)
            key = _only_key(by_name or _keys_by_content(source, works), source)
        except OSError as error:  # also of a link to nothing
            unread.append(Unread(Place(file.name), f"cannot be opened ({error.strerror})"))
        except UserError as error:
            unread.append(Unread(Place(file.name), str(error).removeprefix(f"{file}: ")))
        else:
            matches.append((not by_name, KINDS.index(SUFFIXES[file.suffix.lower()]), file, key, source))
    papers: dict[str, Mapping[str, str]] = {}
    files: dict[str, str] = {}
    equal = Counter((by_content, kind, key) for by_content, kind, _, key, _ in matches)
    for by_content, kind, file, key, source in sorted(matches, key=lambda match: match[:3]):
        if by_content and equal[by_content, kind, key] > 1 and key not in papers:
            unread.append(Unread(Place(file.name), f"ambiguous: another file is {key} as well by its DOI or title"))
        elif key in papers:
            unread.append(Unread(Place(file.name), f"left aside: {key} is read from {files[key]}"))
        else:
            papers[key] = {f"P{number}": text for number, text in enumerate(source.paragraphs, start=1)}
            files[key] = file.name
            unread += [Unread(note.place._replace(file=file.name), note.reason) for note in source.notes]
    return CitedPapers(papers, tuple(unread))


def _check_place(file: Path, folder: Path) -> None:
    """Raises UserError for what is not looked into: what is read is sent to an LM and printed, and a pipe or device
    never ends."""
    try:
        path = file.resolve(strict=True)
    except RuntimeError as error:  # of Python before 3.13
        raise UserError("a circle of links; put the file itself there") from error
    if not path.is_relative_to(folder.resolve()):
        raise UserError("a link that leads out of the folder; put the file itself there")
    if not path.is_file():
        raise UserError(f"no file; only those in {folder.name or folder}/ itself are read")


def _keys_by_name(stem: str, works: Mapping[str, Work]) -> list[str]:
    """Return the keys of the works that a file may be by its name."""
    name = _plain(stem)
    exact = [key for key in works if key.casefold() == stem.casefold()]
    if exact or not name:
        return exact
    close = [key for key, work in works.items() if name in (_plain(key), _plain(work.doi))]
    return close or [key for key, work in works.items() if _same_title(name, _plain(work.title))]


def _keys_by_content(source: Source, works: Mapping[str, Work]) -> list[str]:
    """Return the keys of the works that a file may be by its own DOI or title."""
    by_doi = [key for key, work in works.items() if source.doi and work.doi.lower() == source.doi]
    title = _plain(source.title)
    return by_doi or [key for key, work in works.items() if _same_title(title, _plain(work.title))]


def _plain(text: str) -> str:
    """Letters and digits alone, small, without accents."""
    return "".join(SIGN.findall(without_accents(text[:1_000]).casefold()))


def _same_title(one: str, other: str) -> bool:
    if not one or not other:
        return False
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= LEAST_TITLE and long.startswith(short))


def _only_key(keys: Sequence[str], source: Source) -> str:
    """Return the one of these keys. Raises UserError where there is none, or more than one."""
    if len(keys) == 1:
        return keys[0]
    if keys:
        raise UserError(f"ambiguous: it may be {', '.join(keys)}; name it by its key")
    title = source.title or "no title was found in it"
    raise UserError(f"no work of the bibliography by name, DOI or title ({title[:80]}); name it by its key")
