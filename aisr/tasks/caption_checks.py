"""What captions and notes of tables say, held against their own cells."""

import re
from collections.abc import Sequence
from typing import Any

from aisr.paper.captions import statements
from aisr.paper.draft import Float
from aisr.tasks.check import MOST_TABLE, rows_within

# What a title says as well: "Accuracy of five models" has nothing to check, "F1 (all p > .3)" has.
TELLS = re.compile(
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
RESULT = re.compile(rf"\bwe are {TOPS}|\b(?:is|are) (?:all )?ours\b")
WORD = re.compile(r"[^\W\d_]+")
# What a sign means is no statement: "* p < .05, ** p < .01".
LEGEND = re.compile(r"[a-z]\s?:")
SIGNS = re.compile(r"[*†‡§¶]{1,4}\s?[pP]\s?[<≤=]\s?[\d.]{1,6}")
MOST_STATEMENTS = 20  # of one table
MOST_CHARACTERS = 2_000  # of one; a longer one is no prose


def to_hold(one: Float, bare: Sequence[str]) -> list[int]:
    """The positions of the sentences of a table's caption and notes that its cells can be held against. bare: these
    sentences without what only says where something stands."""
    found = []
    for place, said in enumerate(bare):
        if len(said) > MOST_CHARACTERS or (MARKED.search(said) and not one.bold):
            continue
        if LEGEND.match(said) or _is_notation(said) or _names_a_cell(said.partition(":")[0], one.rows):
            continue
        said = SIGNS.sub(" ", said)
        title = place == 0 and bool(one.caption)
        if TELLS.search(said) or (MARKED.search(said) and one.bold) or (not title and NUMBER.search(said)):
            found.append(place)
    return found[:MOST_STATEMENTS]


def _is_notation(said: str) -> bool:
    """Whether a sentence says what bold means, and nothing of any row, column or number."""
    words = WORD.findall(said.lower())
    plain = MARKED.search(said) and not NUMBER.search(said) and not _is_result(" ".join(words))
    return bool(plain) and all(map(NOTATION.fullmatch, words))


def _is_result(words: str) -> bool:
    own = OWN.search(words)
    return RESULT.search(words) is not None or (own is not None and OWN_TOPS.search(words, own.end()) is not None)


def _names_a_cell(said: str, rows: str) -> bool:
    """Whether "Wind" of "Wind: share of seconds with more than 6 m/s" is a row or column, so that it is a legend."""
    names = (cell.partition(" (")[0].strip().lower() for line in rows.split("\n") for cell in line.split("\t"))
    return said.strip().lower() in names if said.strip() else False


def own_cells(one: Float, judged: Sequence[int]) -> dict[str, Any]:
    """The table as evidence for what is said of it: its cells (of a very long one the first rows) and of its caption
    and notes what is not judged. Bold cells are marked where that is spoken of."""
    said = statements(one.caption, one.notes)
    rest = " ".join(text for place, text in enumerate(said) if place not in judged)
    rows = one.rows
    if any(MARKED.search(said[place]) for place in judged):
        lines = [row.split("\t") for row in rows.split("\n")]
        rows = "\n".join(
            "\t".join(f"**{cell}**" if (line, column) in one.bold else cell for column, cell in enumerate(row))
            for line, row in enumerate(lines)
        )
    return {
        "type": "table",
        "table_caption": [f"{one.name}: {rest}" if rest else one.name],
        "text": rows_within(rows, (), MOST_TABLE),
    }
