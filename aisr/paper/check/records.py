"""Checks, the records that a judge of a paper is given with the sentences they stand for; which sentences state what
tables, figures or results can bear out; and captions and notes of tables against their own cells."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from aisr.base.files import digest_text
from aisr.paper.citations import find_marks
from aisr.paper.draft import Float, Sentence, caption_sentences
from aisr.paper.recompute.grid import Grid, find_mentions
from aisr.paper.recompute.numbers import Number, find_numbers
from aisr.programs.draft.record import DraftRecord
from aisr.programs.text import tokens
from aisr.programs.track1.record import Track1Record
from aisr.programs.track2.record import Track2Record

MOST_TABLE = 4_000  # tokens of a table that a question shows in full; few papers have one of half as many
LEFT_OUT = "(rows are left out here)"


class Check(NamedTuple):
    """A record to judge."""

    record: Track1Record | Track2Record | DraftRecord
    # Of each sentence that it has to judge, a single one for a Track2Record: the position of its paragraph in the
    # draft, and its own in the paragraph.
    places: tuple[tuple[int, int], ...]
    work: str | None = None  # the key of the cited work for a Track2Record


def rows_within(rows: str, named: Sequence[int], most: int) -> str:
    """The rows of a table; of one of more than `most` tokens its head, then those that are named, from 0, and then the
    others, as far as there is room."""
    if tokens(rows) <= most:
        return rows
    lines = rows.split("\n")
    kept: set[int] = set()
    for place in dict.fromkeys([0, 1, *named, *range(2, len(lines))]):
        cost = tokens(lines[place]) + 1 if place < len(lines) else most + 1
        if cost > most:
            break
        kept.add(place)
        most -= cost
    return "\n".join([*(lines[place] for place in sorted(kept)), LEFT_OUT])


def float_items(folder: Path, one: Float, rows: str | None = None) -> Iterator[dict[str, Any]]:
    """A float as items of evidence, its pictures by their paths from the folder; each picture behind the first is an
    item of its own. rows: of its cells, where not all are shown."""
    words = " ".join(part for part in (one.caption, one.notes) if part)
    caption = f"{one.name}: {words}" if words else one.name
    paths = [picture.path(folder) for picture in one.pictures if picture.file.is_relative_to(folder)]
    kind = (
        {"type": "table", "table_caption": [caption]}
        if one.kind == "table"
        else {"type": "image", "image_caption": [caption]}
    )
    yield {**kind, "text": one.rows if rows is None else rows, "img_path": paths[0] if paths else None}
    for number, path in enumerate(paths[1:], start=2):
        yield {"type": "image", "image_caption": [f"{one.name} ({number} of {len(paths)})"], "img_path": path}


def record_id(file: str, texts: Sequence[str], taken: Counter[str]) -> str:
    """File and digest of what is in a record; a second record of the same content gets a number."""
    name = f"{file}:{digest_text(chr(0).join(texts))}"
    taken[name] += 1
    return name if taken[name] == 1 else f"{name}-{taken[name]}"


# --- Claim detection: which sentences state a result.

# Numbers that only say where something stands: "Table 3", "Sections 3 and 4.1", "Eq. (2)".
POINTER = re.compile(
    r"\b(?:fig(?:ure)?|tab(?:le)?|tbl|sec(?:tion)?|eq(?:uation)?|appendix|chapter|algorithm)(?:s|ses|ces)?\b\.?\s?"
    r"\(?[A-Z]?\d[\w.]{0,9}\)?(?:(?:\s?[-–,&/]\s?|\s(?:and|to)\s)\(?\d[\w.]{0,9}\)?)*+",
    re.IGNORECASE,
)
COMPARISON = re.compile(
    r"%|\b(?:more|less|fewer|higher|lower|better|worse|larger|smaller|faster|slower|stronger|weaker|greater|best|worst"
    r"|highest|lowest|largest|smallest|fastest|than|outperform\w*+|exceed\w*+|surpass\w*+|beat(?:s|en)?|twice|half"
    r"|double[sd]?|on par|comparabl[ey]|state[- ]of[- ]the[- ]art|significantly|improv(?:es|ed|ement|ements)"
    r"|increase[sd]|decrease[sd]|reduce[sd]|reductions?|gains?|drops?|never|always|every|consistently)\b",
    re.IGNORECASE,
)
RESULT = re.compile(
    r"\b(?:achiev\w*+|reach\w*+|obtain\w*+|yield\w*+|perform\w*+|show(?:s|n|ed)?|demonstrat\w*+|lead(?:s|ing)?|led|wins?"
    r"|fail(?:s|ed)?|falls?|fell|rises?|rose|costs?|takes?|needs?|keeps?|holds?|confirm\w*+|remains?)\b",
    re.IGNORECASE,
)
OURS = re.compile(r"\b(?:we|our|ours|us|this (?:paper|work|study)|here)\b", re.IGNORECASE)
MATHS = re.compile(r"[=∈∑∀∂ℝ_^]|(?<=\d)×")
FORMULA = 3  # such signs
YEAR = re.compile(r"(?:19|20)\d\d")


def without_pointers(text: str) -> str:
    """A sentence without its citations and without the numbers of sections, figures and tables."""
    for mark in reversed(find_marks(text)):
        text = f"{text[: mark.start]} {text[mark.end :]}"
    return POINTER.sub(" ", text)


def result_numbers(text: str) -> list[Number]:
    """The numbers of a sentence that may be results: no years, no pointers."""
    return [one for one in find_numbers(without_pointers(text)) if not (YEAR.fullmatch(one.text) and not one.percent)]


def states_result(sentence: Sentence, tables: Sequence[Grid], of_this_paper: bool) -> bool:
    """Whether a sentence states a result of this paper, as far as its words show: a number; a comparison, of something
    that is this paper's; a result of what a table names. One that cites others, and speaks neither of this paper nor of
    its floats, states theirs; a formula states none. of_this_paper: whether its section speaks of little else."""
    text = without_pointers(sentence.text)
    ours = of_this_paper or bool(sentence.float_keys) or OURS.search(text) is not None
    if sentence.hidden or len(MATHS.findall(text)) >= FORMULA:
        return False
    if sentence.work_keys and not sentence.float_keys and not OURS.search(text):
        return False
    compares = COMPARISON.search(text) is not None
    if result_numbers(sentence.text) or (ours and compares):
        return True
    return (compares or RESULT.search(text) is not None) and any(find_mentions(text, table) for table in tables)


# --- Captions and notes of tables, held against the table's own cells.

# "Accuracy of five models" is a title with nothing to check, "F1 (all p > .3)" one with a statement.
STATES = re.compile(
    r"(?<![\w.])\d*\.\d|\d\s?%|[<>≤≥]\s?\.?\d|\b(?:than|best|worst|highest|lowest|largest|smallest|fastest|slowest"
    r"|higher|lower|larger|smaller|better|worse|outperform\w*+|exceed\w*+|improv\w*+|increas\w*+|decreas\w*+"
    r"|significan\w*+)\b",
    re.IGNORECASE,
)
NUMBER = re.compile(r"\d")
MARKED = re.compile(r"\b(?:bold|boldface|boldfaced|bolded)\b", re.IGNORECASE)
# "Best in bold, second best underlined." says how to read the cells; whether the best is bold is recomputed.
NOTATION = re.compile(
    r"the|an?|all|and|or|of|in|by|with|per|for|each|every|are|is|we|ours?|best|second|next|top|highest|lowest|largest"
    r"|smallest|results?|scores?|values?|numbers?|entr(?:y|ies)|cells?|models?|methods?|systems?|ones?|bold\w*+|face|font"
    r"|type|text|marks?|marked|indicate[sd]?|denote[sd]?|shows?|shown|highlight(?:s|ed)?|print(?:s|ed)?|set"
    r"|underline[sd]?|italics?|columns?|rows?|datasets?|metrics?|respectively"
)
# Said of one's own row, the same words are a result: "Ours (bold) is the best in all columns."
OWN = re.compile(r"\bours?\b")
TOPS = r"(?:the )?(?:best|second|next|top|highest|lowest|largest|smallest)\b"
OWN_TOPS = re.compile(rf"\b(?:is|are|shows?) {TOPS}")
OWN_RESULT = re.compile(rf"\bwe are {TOPS}|\b(?:is|are) (?:all )?ours\b")
WORD = re.compile(r"[^\W\d_]+")
# What a sign means is no statement: "* p < .05, ** p < .01".
LEGEND = re.compile(r"[a-z]\s?:")
SIGNS = re.compile(r"[*†‡§¶]{1,4}\s?[pP]\s?[<≤=]\s?[\d.]{1,6}")
MOST_STATEMENTS = 20  # of one table
MOST_CHARACTERS = 2_000  # of one; a longer one is no prose


def checkable_statements(table: Float, texts: Sequence[str]) -> list[int]:
    """The positions of the sentences of a table's caption and notes that its cells can be held against. texts: these
    sentences without what only says where something stands."""
    places = []
    for place, text in enumerate(texts):
        if len(text) > MOST_CHARACTERS or (MARKED.search(text) and not table.bold):
            continue
        if LEGEND.match(text) or _is_notation(text) or _names_a_cell(text.partition(":")[0], table.rows):
            continue
        text = SIGNS.sub(" ", text)
        title = place == 0 and bool(table.caption)
        if STATES.search(text) or (MARKED.search(text) and table.bold) or (not title and NUMBER.search(text)):
            places.append(place)
    return places[:MOST_STATEMENTS]


def _is_notation(text: str) -> bool:
    """Whether a sentence says what bold means, and nothing of any row, column or number."""
    words = WORD.findall(text.lower())
    if not MARKED.search(text) or NUMBER.search(text) or not all(map(NOTATION.fullmatch, words)):
        return False
    joined = " ".join(words)
    own = OWN.search(joined)
    return not OWN_RESULT.search(joined) and not (own and OWN_TOPS.search(joined, own.end()))


def _names_a_cell(text: str, rows: str) -> bool:
    """Whether "Wind" of "Wind: share of seconds with more than 6 m/s" is a row or column, so that it is a legend."""
    names = (cell.partition(" (")[0].strip().lower() for line in rows.split("\n") for cell in line.split("\t"))
    return bool(text.strip()) and text.strip().lower() in names


def table_evidence(table: Float, judged: Sequence[int]) -> dict[str, Any]:
    """The table as evidence for its own caption and notes: its cells (of a very long one the first rows) and of the
    caption and notes what is not judged. Bold cells are marked where a judged sentence speaks of them."""
    texts = caption_sentences(table.caption, table.notes)
    rest = " ".join(text for place, text in enumerate(texts) if place not in judged)
    rows = table.rows
    if any(MARKED.search(texts[place]) for place in judged):
        lines = [row.split("\t") for row in rows.split("\n")]
        rows = "\n".join(
            "\t".join(f"**{cell}**" if (line, column) in table.bold else cell for column, cell in enumerate(row))
            for line, row in enumerate(lines)
        )
    return {
        "type": "table",
        "table_caption": [f"{table.name}: {rest}" if rest else table.name],
        "text": rows_within(rows, (), MOST_TABLE),
    }
