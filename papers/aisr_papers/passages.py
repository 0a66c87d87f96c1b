"""Running text as sentences with their places, the tables and figures that it refers to, and the rows of tables."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from aisr.text import INVISIBLE
from aisr_papers.citations import Entry, WorkIndex, cited_in_words
from aisr_papers.draft import Float, Paragraph, Place, Sentence, split_sentences

# --- References to tables and figures: "Table 3", "Figs. 2 and 3", "Figures 1–3", "Fig. 2(a)".

KIND = re.compile(r"\b(?P<kind>fig(?:ure)?|tab(?:le)?|tbl)(?P<many>s?)\b\.?\s{0,3}", re.IGNORECASE)
# "3", "2.1", "A1", "S.2", "IV"; not the beginning of "3.5 points" or "12 %", where a list of numbers ends.
NUMBER = re.compile(r"(?:(?:[A-Z]\.?)?\d{1,4}+(?:\.\d{1,3}+)?+|[IVX]{1,6}+)(?=[a-h]?(?![\w%]|\s?%|[.,]\d))")
PARTS = re.compile(r"[a-h](?!\w)(?:[-–,/][a-h](?!\w))*+|\s?\([a-h]\)(?:\s{0,3}(?:,|and|&|[-–])\s{0,3}\([a-h]\))*+")
PART = re.compile(r"([-–]?)\s{0,3}\(?\b([a-h])\b")
MORE = re.compile(r"\s{0,3}(?:(?P<till>[-–—]|to\b|through\b)|,?\s{0,3}(?:and|or|&)(?!\w)|(?P<comma>,)|/)\s{0,3}")
LONGEST_RANGE = 20  # floats; "Tables 1-400" is no reference


def float_names(text: str) -> tuple[str, ...]:
    """Return the floats that a text refers to: `Table 3`, `Figure 2a`; in order, each once."""
    names: dict[str, None] = {}
    for opening in KIND.finditer(text):
        kind = "Figure" if opening["kind"].lower().startswith("fig") else "Table"
        for number in _numbers(text, opening.end(), bool(opening["many"])):
            names[f"{kind} {number}"] = None
    return tuple(names)


def keys_by_name(floats: Mapping[str, Float]) -> dict[str, str]:
    """Return name of a float, in small letters -> its key; the first one's, where two have a name."""
    return {one.name.casefold(): key for key, one in reversed(list(floats.items()))}


def float_keys(text: str, keys: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys of the floats that a text refers to by name. A part that is no float of its own stands for the
    whole figure. keys: as `keys_by_name` returns them."""
    matches = (keys.get(name.casefold()) or keys.get(name.rstrip("abcdefgh").casefold()) for name in float_names(text))
    return tuple(dict.fromkeys(key for key in matches if key))


def _numbers(text: str, begin: int, many: bool) -> Iterator[str]:
    """Return the numbers of a list that begins there, ranges written out."""
    last, till = "", False
    while number := NUMBER.match(text, begin):
        if last and "." in number[0] and "." not in last:  # "Table 3 and 4.5 points"
            return
        begin = number.end()
        if till and last.isdigit() and number[0].isdigit() and 0 < int(number[0]) - int(last) <= LONGEST_RANGE:
            yield from map(str, range(int(last) + 1, int(number[0])))
        last = number[0]
        letters, begin = _letters(text, begin)
        yield from (f"{last}{letter}" for letter in letters or [""])
        more = MORE.match(text, begin)
        # "In Table 3, 12 systems" is no list: behind a singular only "and" and a dash go on.
        if more is None or (more["comma"] and not many):
            return
        begin, till = more.end(), more["till"] is not None


def _letters(text: str, begin: int) -> tuple[list[str], int]:
    """Return the parts of a figure behind its number, "a", "(a) and (b)", "a-c", and where they end."""
    parts = PARTS.match(text, begin)
    letters: list[str] = []
    for till, part in PART.findall(parts[0] if parts else ""):
        letters += map(chr, range(ord(letters[-1]) + 1, ord(part))) if till and letters else ()
        letters.append(part)
    return letters, parts.end() if parts else begin


# --- Pieces of text with their lines, joined and cut into sentences.


class Piece(NamedTuple):
    """Some text of one line of a file."""

    text: str
    place: Place
    float_keys: tuple[str, ...] = ()  # of the floats that it refers to
    work_keys: tuple[str, ...] = ()  # of the works that it cites
    close: bool = False  # it belongs to the sentence before, though that has ended (a citation behind the full stop)


class Flat(NamedTuple):
    """Text with single blanks, and where each piece of it begins."""

    text: str
    pieces: list[tuple[int, Piece]]


def flatten(pieces: Iterable[Piece]) -> Flat:
    """Return the pieces as one text, without characters that nobody sees: a soft hyphen or a zero-width space within a
    number would make another number of it."""
    texts: list[str] = []
    starts: list[tuple[int, Piece]] = []
    length = 0
    open_blank = True  # nothing, or a blank, stands before
    for one in pieces:
        piece = one._replace(text=INVISIBLE.sub("", one.text))
        if piece.close and texts and not open_blank and texts[-1][-1] in ".!?":
            stop = texts[-1][-1]
            texts[-1] = texts[-1][:-1]
            text = f" {piece.text}{stop}"
            starts.append((length - 1, piece))
            texts.append(text)
            length += len(text) - 1
            continue
        words = " ".join(piece.text.split())
        before = "" if open_blank or not piece.text[:1].isspace() else " "
        after = " " if piece.text[-1:].isspace() and (words or not (open_blank or before)) else ""
        starts.append((length + len(before), piece))
        text = before + words + after
        if text:
            texts.append(text)
            length += len(text)
            open_blank = text.endswith(" ")
    return Flat("".join(texts).rstrip(), starts)


def build_paragraphs(
    blocks: Iterable[tuple[Iterable[Piece], tuple[str, ...], bool]],
    floats: Mapping[str, Float],
    works: Mapping[str, Entry],
) -> tuple[Paragraph, ...]:
    """Return blocks that have words as paragraphs, each sentence at the line that it begins in, with what it refers to
    and cites. blocks: their pieces, the headings above them, and whether no reader sees them."""
    float_names = keys_by_name(floats)
    index = WorkIndex((key, one.people) for key, one in works.items() if one.people is not None)
    paragraphs = []
    for pieces, headings, hidden in blocks:
        text, starts = flatten(pieces)
        sentences: list[Sentence] = []
        begin = number = 0
        for sentence in split_sentences(text):
            begin = text.index(sentence, begin)
            end = begin + len(sentence)
            place = starts[max(0, number - 1)][1].place
            float_refs, work_refs = list[str](), list[str]()
            while number < len(starts) and starts[number][0] < end:
                start, piece = starts[number]
                place = piece.place if start <= begin else place
                float_refs += piece.float_keys
                work_refs += piece.work_keys
                number += 1
            float_refs += float_keys(sentence, float_names)
            work_refs += cited_in_words(sentence, index, works)
            refs = tuple(dict.fromkeys(float_refs)), tuple(dict.fromkeys(work_refs))
            sentences.append(Sentence(sentence, place, refs[0], refs[1], hidden))
            begin = end
        if any(map(str.isalnum, text)):
            paragraphs.append(Paragraph(tuple(sentences), headings))
    return tuple(paragraphs)


# --- The rows of tables as text: a row a line, tabs between cells.

MAX_SPAN = 50  # columns or rows that one cell takes
LONGEST_REPEATED = 200  # characters of a cell that is repeated in each column or row that it takes
BOLD = "\ue000"  # leads a cell in bold while a table is laid out; for private use, no paper has a meaning for it
BAR = "∣"  # stands for a bar within a cell: bars part the cells of a table in prompts


def lay_out(rows: list[list[tuple[str, int, int]]]) -> str:
    """Return a table as lines. rows: of each cell the words, the columns and the rows that it takes.

    A cell of several columns or rows is repeated in each, so that every number stands below its heading. A row of one
    cell below the first is the name of a section, which stands there once.
    """
    lines: list[str] = []
    hanging: dict[int, tuple[str, int]] = {}  # column -> words of a cell from above, rows that it still takes
    for row in rows:
        line: list[str] = []
        for text, column_span, row_span in row:
            text = text.replace("|", BAR)
            repeated = text if len(text) <= LONGEST_REPEATED else ""
            if lines and len(row) == 1:
                column_span = 1
            column = len(line)
            above, left = hanging.get(column, ("", 0))
            if left:
                hanging[column] = (above, left - 1)
                text = text or above
            line += [text, *[repeated] * (min(column_span, MAX_SPAN) - 1)]
            if row_span > 1:
                hanging[column] = (repeated, min(row_span, MAX_SPAN) - 1)
        if any(line):
            lines.append("\t".join(line))
    return "\n".join(lines)


Cells = list[tuple[str, int, int]]  # of a row: of each the words, the columns and the rows that it takes


def spread(rows: Iterable[Cells]) -> list[Cells]:
    """Return the rows of a table of HTML or JATS, which name a cell of several rows once, with that cell in each of
    them, at its column. Rows without cells are left out."""
    result: list[Cells] = []
    hanging: dict[int, tuple[str, int, int]] = {}  # column -> what takes that and, as its rows say, the rows below
    for row in rows:
        cells: Cells = []
        column, rest, below = 0, row[::-1], dict[int, tuple[str, int, int]]()
        while rest or column in hanging:
            text, columns, count = hanging.pop(column) if column in hanging else rest.pop()
            if count > 1:
                below[column] = (text[:LONGEST_REPEATED], columns, min(count, MAX_SPAN) - 1)
            cells.append((text, columns, 1))
            column += max(columns, 1)
        hanging = below
        result += [cells] if cells else []
    return result


CONTINUES = re.compile(r"[.,±(+^*†‡%]")  # what a number goes on with in its next column


def join_columns(rows: list[Cells], joints: Mapping[int, str]) -> list[Cells]:
    """Return the rows with the cells of two columns made one where the paper prints something between these, as the
    point of a number, or sets them side by side and the right one goes on with the number. joints: the left one of two
    columns -> what is between."""
    at = {
        column: text
        for column, text in joints.items()
        if text or any(CONTINUES.match(row[column + 1][0].lstrip(BOLD)) for row in rows if _is_single(row, column + 1))
    }
    return [_join(row, at) for row in rows] if at else rows


def _is_single(row: Cells, column: int) -> bool:
    """Return whether each cell of a row up to a column takes one."""
    return column < len(row) and all(columns == 1 for _, columns, _ in row[: column + 1])


def _join(row: Cells, joints: Mapping[int, str]) -> Cells:
    joined: Cells = []
    column, left = 0, -1  # the column of the last single cell
    for text, columns, rows in row:
        if columns == 1 and column - 1 in joints and left == column - 1:
            first = joined[-1][0]
            both = f"{first}{joints[left]}{text.replace(BOLD, '')}" if first and text else first or text
            joined[-1] = (f"{both})" if both.count("(") > both.count(")") else both, *joined[-1][1:])
        else:
            inner = sum(column <= one < column + columns - 1 for one in joints)
            joined.append((text, columns - inner, rows))
        left = column if columns == 1 else -1
        column += columns
    return joined


def fill_upwards(rows: list[Cells]) -> list[Cells]:
    """Return the rows with what stands in the last of its rows, which take fewer than 0, in the first of them."""
    filled = [list(row) for row in rows]
    for number, row in enumerate(rows):
        for place, (text, columns, count) in enumerate(row):
            if count >= 0:
                continue
            filled[number][place] = (text, columns, 1)
            above = number
            while above > max(0, number + max(count, -MAX_SPAN) + 1) and _is_free(filled, above - 1, place):
                above -= 1
            filled[above][place] = (text, columns, number - above + 1)
            if above < number:
                filled[number][place] = ("", columns, 1)
    return filled


def _is_free(rows: list[Cells], number: int, place: int) -> bool:
    """Return whether a cell is empty, and none above it takes its row too."""
    above = [row[place][2] for row in rows[max(0, number - MAX_SPAN) : number] if place < len(row)]
    is_taken = any(count > len(above) - one for one, count in enumerate(above))
    return rows[number][place : place + 1] == [("", 1, 1)] and not is_taken


def mark_bold(text: str, bold: bool) -> str:
    """Return the words of a cell, with a mark where they are bold."""
    bare = text.replace(BOLD, "")
    return f"{BOLD}{bare}" if bold and bare else bare


def split_bold(rows: str) -> tuple[str, frozenset[tuple[int, int]]]:
    """Return a table without the marks of bold cells, and where these are: row and column, from 0."""
    lines = [line.split("\t") for line in rows.split("\n")] if BOLD in rows else []
    bold = frozenset(
        (row, column) for row, line in enumerate(lines) for column, cell in enumerate(line) if BOLD in cell
    )
    return rows.replace(BOLD, ""), bold
