"""Why a model flags a sentence: one more question about flagged ones, and its answer looked up in the evidence.

A model may quote what is not there. So no quote is shown but in the words of the evidence, and no place but one where a
quote stands; a reason without one is called not confirmed.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import aisr
from aisr.retrieval import order
from aisr.task import Picture, PicturedText
from aisr.text import ROW, clean, folded, item, tokens
from aisr_papers.check.flags import NO_REASON, Flag, Mark, Piece, Reason, layout_of
from aisr_papers.check.index import match
from aisr_papers.check.reason_question import StatedReason, explain_flags
from aisr_papers.draft import Draft
from aisr_papers.draft_record import DraftLabel
from aisr_papers.recompute.numbers import parse_cell

if TYPE_CHECKING:
    from aisr_papers.check.judging import Checker

# A citation that is irrelevant has nothing in the cited work that could be quoted.
ASKED = {DraftLabel.CONTRADICTED, DraftLabel.BEYOND, "Overstate", "Topical Match"}
EMBEDDED = "embedded"  # the name of the built-in LM
NUMBER = re.compile(r"\d{1,4}")
NOT_CONFIRMED = "not confirmed"
SEEN = "read off the picture, not confirmed"
MOST_WORDS, MOST_CHARACTERS = 25, 200  # of a reason
MOST_QUOTED = 20  # words
# In one question: most of its tokens are those of its instructions, and all reasons shall cost a tenth of the judging.
AT_ONCE = 16  # sentences
MOST_LINES = 6  # of evidence from the paper for each
EVIDENCE, EVIDENCE_CITED = 100, 600  # tokens of these, of the paper and of a cited work; the best line always
MOST_CAPTION = 160  # characters of a caption that is not itself the best line

Done = Callable[[Sequence[Flag]], None]  # gets the flags that one question was about; may raise to end the rest


def ignore(flags: Sequence[Flag]) -> None:
    """Who has no use for flags before all are there."""


def add_reasons(
    by: "Checker", draft: Draft, flags: Sequence[Flag], lm: aisr.LanguageModel, done: Done = ignore
) -> list[Flag]:
    """The flags of a checker with the reasons of those that find fault; where none could be had, `failure` says so.
    Each question is about some of them, of any checks; `done` gets its flags. What the built-in LM writes is worth
    nothing: it is not asked."""
    if lm.spec == EMBEDDED:
        return list(flags)
    flagged = [place for place, one in enumerate(flags) if one.label in ASKED]
    groups = [flagged[first : first + AT_ONCE] for first in range(0, len(flagged), AT_ONCE)]

    def explain(places: Sequence[int]) -> list[Flag]:
        group = [flags[place] for place in places]
        try:
            return _explain(by, draft, group, lm)
        except (aisr.UnusableAnswer, aisr.LMUnavailable) as error:
            stopped = lm.exhausted_reason
            why = str(error) if stopped is None else f"not reached: {stopped}"
            return [one._replace(failure=f"{NO_REASON}: {why}") for one in group]

    explained = list(flags)
    with ThreadPoolExecutor(lm.threads) as pool:
        try:
            for places, group in zip(groups, pool.map(explain, groups), strict=True):
                for place, one in zip(places, group, strict=True):
                    explained[place] = one
                done(group)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return explained


def _explain(by: "Checker", draft: Draft, group: Sequence[Flag], lm: aisr.LanguageModel) -> list[Flag]:
    """The flags with their reasons. Raises `aisr.UnusableAnswer` and `aisr.LMUnavailable`."""
    shown: dict[Piece, set[int]] = {}  # of each piece the lines, in the order of the numbers that the question gives
    looked_at = set[Piece]()  # of which the picture is shown
    for one in group:
        keys = draft.paragraphs[one.paragraph].sentences[one.sentence].float_keys
        names = {draft.floats[key].name for key in keys if key in draft.floats}
        looked_at |= {piece for piece in one.evidence if piece.picture and piece.key in names}
        for piece, lines in _best_lines(one).items():
            shown.setdefault(piece, set()).update(lines)
    for piece in looked_at:
        shown.setdefault(piece, set())
    sentences = [f"sentence {number} ({one.label}): {one.statement}" for number, one in enumerate(group, start=1)]
    evidence = _evidence(by, shown, looked_at)
    with lm.context():
        stated = explain_flags(evidence if evidence.pictures else evidence.text, sentences)
    by_number = {digits[0]: one for one in reversed(stated) if (digits := NUMBER.search(one.sentence))}
    numbers = {piece: str(number) for number, piece in enumerate(shown, start=1)}
    seen = looked_at if evidence.pictures else set()
    explained = []
    for number, one in enumerate(group, start=1):
        answer = by_number.get(str(number))
        called = [numbers.get(piece, "") for piece in one.evidence]
        reason = confirm(answer, one.evidence, called, seen) if answer else None
        if reason is None:
            explained.append(one._replace(failure=f"{NO_REASON}: the model names none"))
        else:
            explained.append(one._replace(reasons=(reason,), marks=_marks(one, reason)))
    return explained


def _best_lines(flag: Flag) -> dict[Piece, set[int]]:
    """The lines of a flag's evidence that speak most of its statement, as far as there is room: those that stand out
    on the page, then others. Of a cited work whole pieces: its paragraphs are short, and few."""
    pieces, whole = flag.evidence, flag.kind == "citation"
    marked = [(one.piece, None if whole else one.line) for one in flag.marks]
    places = [
        (number, line) for number, one in enumerate(pieces) for line in ([None] if whole else range(len(one.lines)))
    ]
    texts = [ROW.join(_lines(pieces[number], line)) for number, line in places]
    best = dict.fromkeys([*marked, *(places[place] for place in order(match(flag.statement, texts)))])
    shown: dict[Piece, set[int]] = {}
    left = EVIDENCE_CITED if whole else EVIDENCE
    for number, line in islice(best, None if whole else MOST_LINES):
        cost = sum(map(tokens, _lines(pieces[number], line)))
        if cost <= left or not shown:
            shown.setdefault(pieces[number], set()).update(range(len(pieces[number].lines)) if line is None else [line])
            left -= cost
    return shown


def _lines(piece: Piece, line: int | None) -> Sequence[str]:
    return piece.lines if line is None else [piece.lines[line]]


def _evidence(by: "Checker", shown: Mapping[Piece, set[int]], looked_at: set[Piece]) -> PicturedText:
    """The chosen lines of pieces, each led by its number; of rows also the head of their table, their section and the
    beginning of its caption. With the pictures, where the program shows any."""
    lines: list[str] = []
    pictures = []
    for number, (piece, chosen) in enumerate(shown.items(), start=1):
        caption = piece.lines[0] if 0 in chosen else piece.lines[0][:MOST_CAPTION]
        if piece in looked_at and by.program.shows_pictures and (file := by.program.picture_file(piece.picture or "")):
            pictures.append(Picture(file, len(lines)))
        lines.append(f"[{number}] {caption}")
        rows = chosen - {0}
        if rows:
            rows = {place + 1 for place in layout_of(piece).with_names([line - 1 for line in rows])}
        lines += [f"| {piece.lines[row]}" for row in sorted(rows)]
    return PicturedText(text="\n".join(lines), pictures=tuple(pictures))


def _marks(flag: Flag, reason: Reason) -> tuple[Mark, ...]:
    """The lines that stand out: the reason's, where it has one, in the place of those that only share words."""
    return (*(one for one in flag.marks if one.place), reason.mark) if reason.mark else flag.marks


# --- Looking a reason up in what was shown.


class Place(NamedTuple):
    """Where a quote stands, in the evidence's own spelling."""

    quote: str
    mark: Mark


def confirm(stated: StatedReason, pieces: Sequence[Piece], keys: Sequence[str], seen: set[Piece]) -> Reason | None:
    """A reason as it is shown: with quote and place where the quote stands in the piece of evidence that it names, else
    as not confirmed; None where nothing is stated. keys: the numbers of the pieces in the question, empty for those
    that were not shown; seen: those whose picture was shown."""
    words = item(clean(stated.says)).split()
    text = " ".join(words[:MOST_WORDS])[:MOST_CHARACTERS]
    if not text:
        return None
    quote = " ".join(stated.quote.split()[:MOST_QUOTED])
    for number, (piece, key) in enumerate(zip(pieces, keys, strict=True)):
        if not key or not (_is_called(stated.item, key) or _is_called(stated.item, piece.key)):
            continue
        place = _find_cell(stated, quote, piece) if stated.row or stated.column else _find_line(quote, piece)
        if place is not None:
            return Reason(text, place.quote, place.mark._replace(piece=number))
        if piece in seen and not quote:
            return Reason(f"{SEEN}: {text}"[:MOST_CHARACTERS], mark=Mark(number, 0))
    return Reason(f"{NOT_CONFIRMED}: {text}"[:MOST_CHARACTERS])


def _is_called(name: str, key: str) -> bool:
    return _plain(name).strip("[].: ") == _plain(key).strip("[].: ")


def _find_line(quote: str, piece: Piece) -> Place | None:
    """The first line with the words of a quote. A number alone says nothing of which row of a table is meant."""
    for line, text in enumerate(piece.lines):
        words = find_words(quote, text) if not line or any(map(str.isalpha, quote)) else None
        if words:
            return Place(words, Mark(0, line))
    return None


def _find_cell(stated: StatedReason, quote: str, piece: Piece) -> Place | None:
    """The cell of a table, by its row and column, that prints what is quoted; of a row without a column also words of
    it. Where one of the names is missing, no other cell there may print the same."""
    layout = layout_of(piece)
    grid = layout.rows
    rows = _best(stated.row, layout.beside)
    columns = _best(stated.column, {column: layout.above(column) for column in range(len(grid[0]) if grid else 0)})
    hits = [(row, column) for row in rows for column in columns if _prints_same(grid[row][column], quote)]
    if hits and (len(hits) == 1 or (stated.row and stated.column)):
        row, column = hits[0]
        return Place(grid[row][column], Mark(0, row + 1, columns=(column,)))
    if not stated.column:
        for row in rows:
            if words := find_words(quote, piece.lines[row + 1]):
                return Place(words, Mark(0, row + 1))
    return None


def _best(name: str, names: Mapping[int, Sequence[str]]) -> list[int]:
    """The rows or columns that a name fits: those with just this name, else those whose names have all of its words;
    all of them for no name."""
    if not name:
        return list(names)
    sought = _plain(name)
    exact = [place for place, own in names.items() if sought in {_plain(one) for one in (*own, " ".join(own))}]
    words = set(WORD.findall(sought))
    return exact or [place for place, own in names.items() if words <= set(WORD.findall(_plain(" ".join(own))))]


def _prints_same(cell: str, quote: str) -> bool:
    """Whether a cell prints what is quoted, but for signs of emphasis, or the same number with the same digits."""
    one, other = (_plain(text.replace("*", "")) for text in (cell, quote))
    numbers = parse_cell(one), parse_cell(other)
    if all(numbers):
        return len({(number.value, number.places) for number in numbers if number}) == 1
    return one == other != ""


# --- Words as they stand in a text, whatever their spelling.

WORD = re.compile(r"\w++(?:[.,]\w++)*+|[^\w\s]")  # a word or number, or another sign
SPELLINGS = {
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    **dict.fromkeys(map(ord, "“”„«»"), '"'),
    **dict.fromkeys(map(ord, "‘’‚`´"), "'"),
}
FEWEST = 3  # letters and digits of a quote that says something


def find_words(quote: str, text: str) -> str | None:
    """Where a text has the words of a quote, in its own spelling; None where it has not, or where these are too few.
    Blanks, dashes, quotation marks, ligatures and capitals may differ; no word, number or sign of one is cut."""
    sought = [_plain(word) for word in WORD.findall(quote)]
    while sought and not sought[-1].isalnum() and not sought[-1][:1].isalnum():
        sought.pop()
    if sum(sign.isalnum() for word in sought for sign in word) < FEWEST:
        return None
    words = list(WORD.finditer(text))
    known = [_plain(word[0]) for word in words]
    for first in range(len(known) - len(sought) + 1):
        if known[first : first + len(sought)] == sought and not (sought[0][0].isdigit() and _has_sign(words, first)):
            return text[words[first].start() : words[first + len(sought) - 1].end()]
    return None


def _has_sign(words: Sequence[re.Match[str]], place: int) -> bool:
    """Whether a minus stands before a number, and no word right before that: "-3.5", not "2-3.5"."""

    def joined(place: int) -> bool:
        return place > 0 and words[place - 1].end() == words[place].start()

    return joined(place) and _plain(words[place - 1][0]) == "-" and not joined(place - 1)


def _plain(text: str) -> str:
    """A text without what may differ in spelling."""
    return " ".join(folded(text.translate(SPELLINGS)).casefold().split())
