"""What the sentences and captions of a paper show by themselves: reported tests, and percentages of a sample whose
counts stand beside them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from aisr_papers.citations import find_marks
from aisr_papers.draft import Draft, Sentence
from aisr_papers.recompute.numbers import format_number
from aisr_papers.recompute.significance import ONE_SIDED, Fact, Label, Outcome, check_tests

# What only says where something stands; its numbers are no results. One number alone: what follows "Table 3, " may
# be a count.
POINTER = re.compile(
    r"\b(?:fig(?:ure)?|tab(?:le)?|tbl|sec(?:tion)?|eq(?:uation)?|appendix|chapter|algorithm|theorem|lemma)(?:s|ses|ces)?\b"
    r"\.?\s?\(?[A-Z]?\d[\w.]{0,9}\)?",
    re.IGNORECASE,
)
LONGEST = 2_000  # characters of a sentence; a longer one is no prose


class PlacedFact(NamedTuple):
    """A fact and the sentence that it is about."""

    fact: Fact
    paragraph: int  # its position in the draft
    sentence: int  # its position in the paragraph


def recompute(draft: Draft) -> list[PlacedFact]:
    """All facts of a draft, in its order, whether they hold, are wrong or could not be decided. The captions of a draft
    are paragraphs like others, see `add_captions`."""
    prose = [
        (number, place, one.text)
        for number, paragraph in enumerate(draft.paragraphs)
        for place, one in enumerate(paragraph.sentences)
        if _is_prose(one)
    ]
    one_sided = any(ONE_SIDED.search(text) for _, _, text in prose)
    return [
        PlacedFact(fact, number, place)
        for number, place, text in prose
        for fact in dict.fromkeys(check_sentence(blank_pointers(text), one_sided))
    ]


def count_read(draft: Draft) -> int:
    """How many sentences are read."""
    return sum(_is_prose(one) for paragraph in draft.paragraphs for one in paragraph.sentences)


def _is_prose(sentence: Sentence) -> bool:
    return not sentence.hidden and len(sentence.text) <= LONGEST


def blank_pointers(text: str) -> str:
    """A sentence in which citations and pointers to floats and sections are blank, every character at its place."""
    for mark in find_marks(text):
        if not mark.textual:
            text = text[: mark.start] + " " * (mark.end - mark.start) + text[mark.end :]
    return POINTER.sub(lambda match: " " * len(match[0]), text)


# --- One sentence.

COUNT = r"(?:\d{1,3}(?:[, \u2009\u00a0\u202f]\d{3})+(?!\d)|\d+)"
PERCENT = r"(?P<percent>\d+(?:\.\d+)?)\s?(?:%|per ?cent\b)"
# No "2 of 10 million", and no "3 of 5 stars".
NOUN = r"(?!\s?(?:[kKM]\b|thousand|million|billion|stars?\b|points?\b|scale))(?:\s(?!and\b|or\b|but\b)[\w’'-]+){0,4}?"
NO = r"(?<![\w.,/–-])"
OF = r"(?:\s(?:out )?of\s(?:the |our |these |all )?|\s?/\s?)"
AMONG = rf"\b(?:[Oo]f|[Aa]mong)\s(?:the |our |these |all )?(?P<whole>{COUNT})\s[^.;:()%\d]{{3,60}}?,\s"
SHARES = [
    # 37 of 120 participants (30.8 %); 37 out of the 120 (30.8 %); 37/120 (rate = 30.8 %); 37/120 = 30.8 %
    re.compile(
        rf"{NO}(?P<part>{COUNT}){OF}(?P<whole>{COUNT})(?:{NOUN}\s?\(\s?(?:[\w-]{{1,20}}\s?=\s?)?{PERCENT}\s?\)"
        rf"|\s?=\s?(?P<equal>\d+(?:\.\d+)?)\s?%)"
    ),
    # 37 (30.8 %) of 120 participants
    re.compile(
        rf"{NO}(?P<part>{COUNT}){NOUN}\s?\(\s?{PERCENT}\s?\)\s(?:out )?of\s(?:the |our |these |all )?"
        rf"(?P<whole>{COUNT})(?![\w.,]\d|\s?%)(?!\s?(?:[kKM]\b|thousand|million|billion))"
    ),
    # 30.8 % (37 of 120), 30.8 % (37/120)
    re.compile(rf"{NO}{PERCENT}{NOUN}\s?\(\s?(?P<part>{COUNT}){OF}(?P<whole>{COUNT}){NOUN}\s?\)"),
    # (37/120 left, 30.8 %)
    re.compile(rf"\((?P<part>{COUNT})\s?/\s?(?P<whole>{COUNT}){NOUN},\s{PERCENT}\s?\)"),
    # of 120 participants, 37 (30.8 %) left; of the 120, 30.8 % (37) left
    re.compile(rf"{AMONG}(?P<part>{COUNT})\s?\(\s?{PERCENT}\s?\)"),
    re.compile(rf"{AMONG}{PERCENT}\s?\(\s?(?P<part>{COUNT})\s?\)"),
]
# "Fold 3 of 10 (85 %)" is the third fold.
RANK = re.compile(
    r"\b(?:fold|step|part|days?|week|round|phase|level|item|question|chapter|layer|epoch|seed|stage|grade|rank|page|run"
    r"|trial|number|no\.|version|iteration|batch|task|split|experiment|study|rated|rating(?: of)?|scores?|scored"
    r"|median|mean|top|best)\s$",
    re.IGNORECASE,
)
SLIP = 2.0  # times by which a percentage may be off to be a slip; what is farther off is another quantity


def check_sentence(text: str, one_sided: bool) -> Iterator[Fact]:
    """All that can be recomputed from a sentence alone. one_sided: whether the paper speaks of one-sided tests."""
    yield from check_tests(text, one_sided)
    for pattern in SHARES:
        for match in pattern.finditer(text):
            yield from _check_share(text, match)


def _check_share(text: str, match: re.Match[str]) -> Iterator[Fact]:
    """A percentage whose counts stand beside it."""
    percent = match["percent"] or match["equal"]
    part, whole, places = _whole(match["part"]), _whole(match["whole"]), _places(percent)
    if whole == 0 or part > whole or RANK.search(text[: match.start("part")]):
        return
    exact, step, printed = 100 * part / whole, 10**-places, float(percent)
    off = abs(exact - printed)
    holds = off <= 0.5 * step + 1e-9
    small, large = sorted((exact, printed))
    # Some cut off instead of rounding, some round counts: a step beside is no fault worth an alarm.
    is_slip = off > 1.001 * step and large <= small * SLIP
    computed = f"{part:,} of {whole:,} is {format_number(exact, max(places, 1))} %"
    outcome = Outcome.HOLDS if holds else Outcome.WRONG if is_slip else Outcome.UNDECIDED
    yield Fact(Label.PERCENTAGE, match[0], computed, outcome)


def _whole(digits: str) -> int:
    return int(re.sub(r"\D", "", digits))


def _places(digits: str) -> int:
    return len(digits.partition(".")[2])
