"""Which sentences state something that tables, figures or results can bear out: a number, a comparison, a result of
something that a table names."""

import re
from collections.abc import Sequence

from aisr.arithmetic.grid import Grid, mentions
from aisr.arithmetic.numbers import Number, in_text
from aisr.paper.citations import marks
from aisr.paper.draft import Sentence

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


def bare(text: str) -> str:
    """A sentence without its citations and without the numbers of sections, figures and tables."""
    for mark in reversed(marks(text)):
        text = f"{text[: mark.start]} {text[mark.end :]}"
    return POINTER.sub(" ", text)


def numbers(text: str) -> list[Number]:
    """The numbers of a sentence that may be results: no years, no pointers."""
    return [one for one in in_text(bare(text)) if not (YEAR.fullmatch(one.text) and not one.percent)]


def tells(sentence: Sentence, tables: Sequence[Grid], of_this_paper: bool) -> bool:
    """Whether a sentence states a result of this paper, as far as its words show: a number; a comparison, of something
    that is this paper's; a result of what a table names. One that cites others, and speaks neither of this paper nor of
    its floats, states theirs; a formula states none. of_this_paper: whether its section speaks of little else."""
    text = bare(sentence.text)
    ours = of_this_paper or bool(sentence.refers) or OURS.search(text) is not None
    if sentence.hidden or len(MATHS.findall(text)) >= FORMULA:
        return False
    if sentence.cites and not sentence.refers and not OURS.search(text):
        return False
    compares = COMPARISON.search(text) is not None
    if numbers(sentence.text) or (ours and compares):
        return True
    return (compares or RESULT.search(text) is not None) and any(mentions(text, table) for table in tables)
