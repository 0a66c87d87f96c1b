"""Which sentences of a paper are statements that the rest of it can support or deny, in running text, captions and
notes."""

import re
from collections import Counter
from typing import NamedTuple

from aisr_papers.citations import find_marks
from aisr_papers.draft import Draft, Float, Sentence, caption_sentences
from aisr_papers.recompute.numbers import POINTED, Number, find_numbers

MOST_STATEMENTS = 4_000  # of a paper; a longer one is a collection
HIDDEN = "hidden from a reader"
FRONT = "stands before the abstract: how to cite the paper, and the like"
NO_STATEMENT = "a heading, a definition, a formula or thanks"
CITING = "speaks of the works that it cites"
GUESS = "marked as a guess"
CAPTION = "the title or legend of a caption"
TOO_MANY = f"comes behind {MOST_STATEMENTS:,} statements"
# Sections that speak of others as well.
OF_OTHERS = re.compile(
    r"\b(?:introduction|background|related work|preliminaries|discussion|limitations|outlook|implications)\b",
    re.IGNORECASE,
)


class Statements(NamedTuple):
    """The sentences to judge."""

    places: dict[int, tuple[int, ...]]  # position of a paragraph -> those of its statements
    skipped: Counter[str]  # reason -> number of sentences that are none


def choose_statements(draft: Draft) -> Statements:
    """Return the statements of a draft."""
    places: dict[int, tuple[int, ...]] = {}
    skipped: Counter[str] = Counter()
    front, left = _front(draft), MOST_STATEMENTS
    for number, paragraph in enumerate(draft.paragraphs):
        if paragraph.caption_of is not None:
            statements = caption_statements(draft.floats[paragraph.caption_of])
            skipped[CAPTION] += max(len(paragraph.sentences) - len(statements), 0)
        else:
            own = OF_OTHERS.search(" ".join(paragraph.headings[:1])) is None
            reasons = [
                FRONT if number in front and not one.hidden else skip_reason(one, own) for one in paragraph.sentences
            ]
            statements = [place for place, reason in enumerate(reasons) if not reason]
            skipped.update(filter(None, reasons))
        if kept := statements[:left]:
            places[number] = tuple(kept)
        skipped[TOO_MANY] += len(statements) - len(kept)
        left -= len(kept)
    return Statements(places, +skipped)


def _front(draft: Draft) -> frozenset[int]:
    """Return the paragraphs without a heading that stand before one that is called the abstract: they are none."""
    for number, paragraph in enumerate(draft.paragraphs):
        if paragraph.headings:
            is_abstract = paragraph.headings[0].casefold().strip(" :.") == "abstract"
            return frozenset(range(number)) if is_abstract else frozenset()
    return frozenset()


# --- Running text.

# Numbers that only say where something stands: "Table 3", "Sections 3 and 4.1", "Eq. (2)", "follows from (2)".
POINTER = re.compile(
    rf"{POINTED}(?:(?:\s?[-–,&/]\s?|\s(?:and|to)\s)\(?\d[\w.]{{0,9}}\)?)*+"
    r"|\b(?:in|into|by|from|to|of|using|with|expression|condition)\s\(\d{1,3}\)",
    re.IGNORECASE,
)
HAN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")  # Chinese and Japanese have no blanks between words and numbers
WORD = re.compile(rf"{HAN.pattern}|[^\W\d_]{{2,}}")
FEWEST_WORDS = 2  # fewer are a heading or a list number
OURS = re.compile(r"\b(?:we|our|ours|us|this (?:paper|work|study)|here)\b", re.IGNORECASE)
# A guess that is marked as one. "May" with a capital is a month.
HEDGE = re.compile(
    r"\b(?:may|might|perhaps|possibly|presumably|[Cc]onsistent with|[Ss]uggest(?:s|ed|ing)?|speculat\w++"
    r"|hypothesi[sz]\w++|conjectur\w++|suspect(?:s|ed)?|we (?:believe|expect)"
    r"|(?:do|did|does|could) not (?:measure|test|examine)|not (?:measured|tested|examined))\b"
)
# Definitions, and thanks.
DEFINITION = re.compile(r"(?:Let|Suppose|Assume|Denote|Define|Consider)\b|.{0,80}?\b(?:acknowledges?|thank|grants?)\b")
# Signs of a formula, such as a function of a letter or an index; "n = 35, SD = 0.4", "a ∈ [40, 100)" and "T_eff" have
# none.
MATHS = re.compile(
    r"=(?!\s?[-−]?[.\d])|(?<!\d)\^|∈(?!\s?[\[({]\s?\d)|[∑∏∫∀∂ℝ√∞𝒪ℒ]|\w\([A-Za-z]\b"
    r"|_[a-z](?!\w)(?!\s?[=≈]\s?[-−]?\d*\.\d)"
)
FORMULA, LONG_FORMULA = 2, 4  # such signs, where no number has two digits, and where one has
WORDS_A_SIGN = 8  # with so many a sentence is prose that names variables
MEASURED = re.compile(r"\d[\d,.]*\d|\.\d")
YEAR = re.compile(r"(?:19|20)\d\d")
NO_RESULTS = frozenset({"0", "1", "2"})  # alone, such numbers are those of formulas and lists


def without_pointers(text: str) -> str:
    """Return a sentence without its citations and without the numbers of sections, figures and tables."""
    for mark in reversed(find_marks(text)):
        text = f"{text[: mark.start]} {text[mark.end :]}"
    return POINTER.sub(" ", text)


def result_numbers(text: str) -> list[Number]:
    """Return the numbers of a sentence that may be results: no years, no pointers, and not 1 and 2 alone."""
    plain = HAN.sub(" ", without_pointers(text))
    numbers = [one for one in find_numbers(plain) if not (YEAR.fullmatch(one.text) and not one.percent)]
    return numbers if any(one.text.strip() not in NO_RESULTS for one in numbers) else []


def skip_reason(sentence: Sentence, of_this_paper: bool) -> str:
    """Return why a sentence is nothing that the rest of this paper can support or deny, as far as its words show; empty
    where it may be. of_this_paper: whether its section speaks of little else."""
    if sentence.hidden:
        return HIDDEN
    text = without_pointers(sentence.text)
    words, signs = len(WORD.findall(text)), len(MATHS.findall(text))
    if words < FEWEST_WORDS or DEFINITION.match(text):
        return NO_STATEMENT
    if signs >= (LONG_FORMULA if MEASURED.search(text) else FORMULA) and signs * WORDS_A_SIGN > words:
        return NO_STATEMENT
    if sentence.float_keys:
        return ""
    has_numbers = bool(result_numbers(sentence.text))
    if sentence.work_keys and not OURS.search(text) and not (of_this_paper and has_numbers):
        return CITING
    return GUESS if HEDGE.search(text) and not has_numbers else ""


# --- Captions and notes.

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
    r"the|an?|all|and|or|of|in|by|with|per|for|each|every|are|is|best|second|next|top|highest|lowest|largest"
    r"|smallest|results?|scores?|values?|numbers?|entr(?:y|ies)|cells?|models?|methods?|systems?|ones?|bold\w*+|face|font"
    r"|type|text|marks?|marked|indicate[sd]?|denote[sd]?|shows?|shown|highlight(?:s|ed)?|print(?:s|ed)?|set"
    r"|underline[sd]?|italics?|columns?|rows?|datasets?|metrics?|respectively"
)
# What a sign means is no statement: "* p < .05, ** p < .01".
SIGNS = re.compile(r"[*†‡§¶]{1,4}\s?[pP]\s?[<≤=]\s?[\d.]{1,6}")
MOST_OF_CAPTION = 20  # statements
MOST_CHARACTERS = 2_000  # of one; a longer one is no prose


def caption_statements(one: Float) -> list[int]:
    """Return the positions of the sentences of a float's caption and notes that state something to check: no titles,
    and not what signs, bold cells and columns mean."""
    places = []
    for place, sentence in enumerate(caption_sentences(one.caption, one.notes)):
        text = without_pointers(sentence)
        if len(text) > MOST_CHARACTERS or (MARKED.search(text) and not one.bold):
            continue
        if _is_notation(text) or _names_a_cell(text.partition(":")[0], one.rows):
            continue
        text = SIGNS.sub(" ", text)
        title = place == 0 and bool(one.caption)
        if STATES.search(text) or (MARKED.search(text) and one.bold) or (not title and result_numbers(text)):
            places.append(place)
    return places[:MOST_OF_CAPTION]


def _is_notation(text: str) -> bool:
    """Return whether a sentence says what bold means, and nothing of any row, column or number."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    return bool(MARKED.search(text)) and not NUMBER.search(text) and all(map(NOTATION.fullmatch, words))


def _names_a_cell(text: str, rows: str) -> bool:
    """Return whether "Wind" of "Wind: share of seconds with more than 6 m/s" is a row or column, so that it is a
    legend."""
    names = (cell.partition(" (")[0].strip().lower() for line in rows.split("\n") for cell in line.split("\t"))
    return bool(text.strip()) and text.strip().lower() in names
