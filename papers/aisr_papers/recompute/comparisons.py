"""Differences and ratios of two rows or columns that a sentence states, recomputed from the cells.

Such a statement counts as wrong only where the sentence names all that the table tells its cells apart by, so that two
cells are meant, and these do not give the amount in points or per cent, of either base, each cell rounded either way;
or where they give it, and the words say of the smaller one that it is the larger, or of the worse one that it is ahead.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from typing import NamedTuple

from aisr_papers.recompute.grid import (
    Cell,
    Grid,
    blank_mentions,
    find_mentions,
    has_foreign_measure,
    labels_by_level,
    larger_is_better,
    matching_cells,
)
from aisr_papers.recompute.names import Names, clause_span, names_of_numbers
from aisr_papers.recompute.numbers import (
    SIGNS,
    WORDS,
    Fact,
    Label,
    Number,
    Outcome,
    Unit,
    change_readings,
    excerpt,
    find_numbers,
    format_number,
)

UNIT = re.compile(
    r"\s?(?:-|‑)?(?:(?P<points>percentage[- ]points?|%[- ]?points?|points?|pts?|pp)(?![\w-]|\s(?:scale|Likert))"
    r"|(?P<percent>%|per ?cent(?!\w))"
    r"|(?P<times>times(?!\w)|[x×](?!\w)|-?\s?fold(?!\w)))"
)
# What a comparison says of its subject; "falls behind" is no fall.
SENSES = {
    "worse": r"worse|(?:(?:falls?|lags?)\s)?behind|degrad\w+|los(?:s|t|es?|ing)|slower|trail\w*|costs|hurts?",
    "better": r"better|ahead|improv\w+|gain\w*|advantage|leads?|outperform\w*|surpass\w*|beat\w*|faster|speedups?",
    "more": r"more|higher|greater|larger|above|longer|increas\w+|rais\w+|rises?|rose|grow\w*|exceed\w*",
    "less": r"less|lower\w*|fewer|smaller|below|shorter|decreas\w+|reduc\w+|drop\w*|falls?|fell|declin\w+",
    "none": r"apart|differences?|gap|margin|chang\w+",
}
SENSE = rf"(?:{'|'.join(f'(?P<{sense}>{words})' for sense, words in SENSES.items())})(?!\w)"
COMPARED = re.compile(rf"\b{SENSE}")
# 15 % higher recall, 15 % of recall more
MORE = re.compile(
    r"(?:\s(?:of|in|on)(?:\s[\w-]{1,30}+){1,3}?|\s[A-Z][\w-]{0,30}+)?[\s-](?:absolute\s|relative\s|point\s)?"
    rf"{SENSE}"
)
OVER = re.compile(r"\sover\s")  # 6.2 points over Lark
# improves recall over Lark by 6.2; the gain of Wren over Lark is 6.2
BEFORE = [
    re.compile(rf"\b{SENSE}(?:\s(?!and\b|but\b|while\b|from\b)[\w’'()-]+){{0,6}}?\sby\s(?:[a-z]+\s){{0,2}}?$"),
    re.compile(
        r"\b(?=(?:gain|improvement|advantage|lead|increase|rise|drop|decrease|reduction|decline|loss|difference|gap"
        rf"|margin)s?\b){SENSE}(?:\s(?!and\b|but\b|while\b|from\b)[\w’'()-]+){{0,9}}?"
        r"\s(?:of|is|was)\s(?:[a-z]+\s){0,2}?$"
    ),
]
# Right before the name of what something is compared with.
REFERENCE = re.compile(
    r"\b(?:than|over|ahead of|behind|below|above|against|versus|vs\.?|from|compared (?:to|with)|relative to|leads?"
    r"|outperform\w*|surpass\w*|beat\w*|exceed\w*|trail\w*|improv\w+ (?:up)?on)\s"
    r"(?:(?:that|those|what|of|the|our|in|at|on|for)\s){0,4}$",
    re.IGNORECASE,
)
# "More" and "less" of what a table does not have: "2 points more reliable".
OF_ELSE = re.compile(r"\b(?:more|less)\s++(?!(?:than|of|in|on|at|for|over|with|by|when|to|compared)\b)\w")
AS = re.compile(r"\sas\s(?:(?P<better>fast|good|accurate)|(?P<worse>slow|bad)|(?P<less>few|little|small|short|low))\b")
OF_OTHER = re.compile(r"\s(?:as|of|the|that|what)\b")  # twice as many, half of the time, 2x the memory
DOUBT = re.compile(
    r"\b(?:not|no|never|neither|nor|cannot|if|unless|would|could|may|might|should|expect\w*|hypothes\w+|assum\w+"
    r"|suppos\w+|whether|speed|efficien\w+)\b|n['’]t\b",
    re.IGNORECASE,
)
FACTOR = re.compile(r"\bfactor of\s(?:[a-z]+\s)?$")
STEP = re.compile(r"\b(?:from|to)\s$")  # an end of a change, not its amount
HEDGE = re.compile(
    r"(?:(?P<near>\b(?:about|around|approximately|roughly|nearly|almost|some|close to|circa|ca\.?)|[~≈∼])"
    r"|\b(?P<least>over|more than|at least|greater than|above|exceeding|well over|upwards of|beyond)"
    r"|\b(?P<most>up to|at most|less than|under|below|fewer than|within|as much as|as many as|no more than"
    r"|as high as))\s?(?:an?\s)?$"
)
TIMES = {"twice": 2.0, "thrice": 3.0, "half": 0.5}
TIMES_WORD = re.compile(  # of the words of these tables alone
    rf"\b(?:(?P<word>{'|'.join(TIMES)})(?=\s(?:as|of (?:the|what|that)|the|that)\b)"
    rf"|(?P<count>{'|'.join(WORDS)})\stimes(?=\s(?:as|more|higher|larger|faster|slower|fewer|less|smaller|better"
    r"|longer|the)\b))"
)
AVERAGED = re.compile(r"\b(?:on average|averag\w+|mean|median|overall|across)\b", re.IGNORECASE)
NEAR = 0.35  # share by which "about" may be off before it is called wrong
MOST_PAIRS = 20_000
MOST_FITTING = 20  # pairs whose direction is looked at


class Claim(NamedTuple):
    """An amount that sets two things apart."""

    number: Number  # of `times` the factor
    unit: Unit
    hedge: str  # near, least or most; "" where the number is meant as it is printed
    sense: str  # of SENSES; "" where no word beside the amount says any
    start: int
    end: int


class Pair(NamedTuple):
    """Two cells that differ in one name."""

    first: Cell
    second: Cell
    table: Grid


def find_claims(text: str) -> Iterator[Claim]:
    """The differences and factors that a sentence states."""
    for number in find_numbers(text):
        match = UNIT.match(text, number.end)
        before = text[max(0, number.start - 90) : number.start]
        hedge = HEDGE.search(before)
        end = match.end() if match else number.end
        bare = before[: hedge.start()] if hedge else before
        behind, ahead = MORE.match(text, end), next(filter(None, (one.search(bare) for one in BEFORE)), None)
        sense = sense_of(behind or ahead, number)
        unit: Unit | None = None
        if (match and match["times"]) or FACTOR.search(before):
            unit = "times"
            sense = sense or _sense_of_factor(text, end, number.value)
        elif match and match["points"]:
            unit = "points"
        elif (match or number.percent) and (behind or ahead):
            unit = "percent"
        elif not match and ahead:
            unit = "plain"
        if unit and not STEP.search(before):
            yield Claim(number, unit, _group(hedge), sense, number.start, end)
    for word in TIMES_WORD.finditer(text):
        factor = TIMES[word["word"]] if word["word"] else float(WORDS[word["count"]])
        number = Number(factor, 0, 0.25 * factor, word[0], False, word.start(), word.end())
        sense = sense_of(MORE.match(text, word.end()), number) or _sense_of_factor(text, word.end(), factor)
        yield Claim(number, "times", _group(HEDGE.search(text[: word.start()])), sense, word.start(), word.end())


def _group(match: re.Match[str] | None) -> str:
    return (match.lastgroup or "") if match else ""


def sense_of(match: re.Match[str] | None, number: Number) -> str:
    """What the words beside an amount, a match of SENSES, or else its sign, say of its subject."""
    sense = _group(match)
    if sense in ("", "none") and number.text[0] in f"+{SIGNS}":
        return "more" if number.value > 0 else "less"  # changes F1 by -1.2 points
    return sense


def _sense_of_factor(text: str, end: int, factor: float) -> str:
    """What a factor says of its subject: "twice as fast as", "half of the time of"."""
    if match := AS.match(text, end):
        return match.lastgroup or ""
    return ("more" if factor > 1 else "less") if OF_OTHER.match(text, end) else ""


def check_comparisons(text: str, near: Sequence[Grid], everywhere: Sequence[Grid], referred: bool) -> Iterator[Fact]:
    """What a sentence says of differences. near: the tables that it is about; everywhere: all of the paper; referred:
    whether it, or its paragraph, names those near, so that the name of a row is enough to go by."""
    claims = [one for one in find_claims(text) if one.hedge not in ("least", "most")]  # of which pair nobody can tell
    if not claims:
        return
    numbers = [one.number for one in claims]
    # A name right ahead of an amount is what it is said of ("recall by 3.2"), or one of two ("over Lark by 3.2").
    readings = [{table: names_of_numbers(text, numbers, table, one) for table in near} for one in (True, False)]
    for place, claim in enumerate(claims):
        for names in readings:
            pairs = [pair for table in near for pair in _pairs(names[table][place], table)]
            if pairs:
                yield _compare(text, claim, pairs, names[pairs[0].table][place], everywhere)
                break
        else:
            if referred:
                yield from _check_change(text, claim, near)


def _compare(text: str, claim: Claim, pairs: Sequence[Pair], names: Names, everywhere: Sequence[Grid]) -> Fact:
    """What becomes of a claim that may be of these pairs of cells. names: that go with it, in the first one's table."""
    fitting = [pair for pair in pairs if _fits(claim, pair)]
    agreeing = [pair for pair in fitting[:MOST_FITTING] if _agrees(text, claim, pair)]
    closest = _closest(claim, agreeing or fitting or pairs)
    computed = _computed(closest, claim)
    is_plain = len(pairs) == 1 and _is_plain(text, claim, names, closest.table)
    outcome = Outcome.HOLDS if agreeing else Outcome.UNDECIDED
    if fitting and is_plain and _agrees(text, claim, closest) is False:
        outcome = Outcome.WRONG
        computed = f"the other way round: {computed}"
    elif not fitting and is_plain and not any(_has_amount(claim, one) for one in everywhere):
        outcome = Outcome.WRONG  # a column of changes may hold the amount itself
    label = Label.RATIO if claim.unit == "times" else Label.DIFFERENCE
    cells = (closest.first.position, closest.second.position)
    return Fact(label, excerpt(text, claim.start, claim.end), computed, outcome, (closest.table.key,), cells)


def _agrees(text: str, claim: Claim, pair: Pair) -> bool | None:
    """Whether the cell that the words call larger, or better, is; None where they do not say that plainly. Words that
    call neither so leave nothing to disagree."""
    clause = slice(*clause_span(text, claim.start))
    rest = blank_mentions(text, pair.table)[clause]
    sense = claim.sense or ("better" if OVER.match(text, claim.end) else "")
    # A word elsewhere in the clause may be said of something else.
    senses = {sense} if sense else {str(one.lastgroup) for one in COMPARED.finditer(rest)}
    if senses <= {"none"}:
        return True
    reference = _reference(text, claim, pair)
    if not sense or reference is None or DOUBT.search(rest) or OF_ELSE.search(rest):
        return None
    subject, other = (pair.second, pair.first) if reference in pair.first.at else (pair.first, pair.second)
    is_ahead = subject.number.value > other.number.value
    if subject.number.value == other.number.value:
        return None
    if sense in ("better", "worse"):
        good = larger_is_better(pair.table, subject)
        if good is None:
            return None
        is_ahead = is_ahead == good
    return is_ahead == (sense in ("more", "better"))


def _reference(text: str, claim: Claim, pair: Pair) -> str | None:
    """Of the two names of a pair the one that the other is compared with; None where that is not plain."""
    begin, end = clause_span(text, claim.start)
    two = next(names for names in zip(pair.first.at, pair.second.at, strict=True) if names[0] != names[1])
    mentions = [one for one in find_mentions(text, pair.table) if one.label in two]
    close = [one for one in mentions if begin <= one.start < end]
    if {one.label for one in close} == set(two):
        mentions = close
    marked = [one for one in mentions if REFERENCE.search(text[max(0, one.start - 60) : one.start])]
    if not marked and claim.unit == "times":  # "Lark takes twice as many minutes as Wren"
        marked = [one for one in mentions if one.start > claim.start]
        if len({one.label for one in mentions if one.start < claim.start} - {one.label for one in marked}) != 1:
            return None
    if len({one.label for one in marked}) != 1:
        return None
    last = marked[-1]
    between = text[last.end : claim.start]
    is_new = "," in between and not any(last.end < one.start < claim.start for one in mentions)
    return None if is_new else last.label  # "Wren beats Lark, which is 2.5 points worse"


CHANGE = re.compile(r"\b(?:change|delta|diff(?:erence)?|gain|drop)\b|Δ|∆", re.IGNORECASE)


def _check_change(text: str, claim: Claim, near: Sequence[Grid]) -> Iterator[Fact]:
    """The points of a single row that has them in a table's one column of changes."""
    for table in near:
        named = labels_by_level(find_mentions(text, table))
        rows = {level: labels for level, labels in named.items() if level < table.beside}
        changes = [one for one in table.cells if any(CHANGE.search(name) for name in one.at[table.beside :])]
        cells = matching_cells(changes, rows)
        if len(rows) != 1 or len(cells) != 1 or len({one.column for one in changes}) != 1:
            continue
        (cell,) = cells
        if claim.unit != "points" or cell.number.places != claim.number.places:
            continue
        begin, end = clause_span(text, claim.start)
        rest = blank_mentions(text, table)[begin:end]
        is_plain = not (claim.hedge or DOUBT.search(rest) or AVERAGED.search(rest) or has_foreign_measure(rest, table))
        # The points of another row are a slip; others may be those of another experiment.
        is_slip = any(abs(one.number.value) == abs(claim.number.value) for one in changes)
        outcome = Outcome.WRONG if is_plain and is_slip else Outcome.UNDECIDED
        if cell.number.interval.size().meets(claim.number.interval.size()):
            # "The gate improves F1 by 5.7" may be said of a row without the gate, that is lower by 5.7.
            is_rise = cell.number.value > 0
            is_unclear = (claim.sense in ("better", "more") and not is_rise) or (claim.sense == "less" and is_rise)
            outcome = Outcome.UNDECIDED if is_unclear else Outcome.HOLDS
        words = excerpt(text, claim.start, claim.end)
        computed = f"{table.where(cell)}: {cell.number.text} ({table.name})"
        yield Fact(Label.DIFFERENCE, words, computed, outcome, (table.key,), (cell.position,))
        return


def _pairs(names: Names, table: Grid) -> Iterator[Pair]:
    """The pairs of cells that differ in their name on one level alone, of which two names go with an amount."""
    levels = [level for level, labels in names.labels.items() if len(labels) == 2]
    others = [level for level, labels in names.labels.items() if len(labels) > 1 and level not in levels[:1]]
    if len(levels) != 1 or others:
        return
    (level,) = levels
    cells = matching_cells(table.cells, names.labels)
    for first, second in islice(combinations(cells, 2), MOST_PAIRS):
        if first.at[level] != second.at[level] and _rest(first, level) == _rest(second, level):
            yield Pair(first, second, table)


def _rest(cell: Cell, level: int) -> tuple[str, ...]:
    return (*cell.at[:level], *cell.at[level + 1 :])


def _is_plain(text: str, claim: Claim, names: Names, table: Grid) -> bool:
    """Whether no more than the two cells can be meant."""
    begin, end = clause_span(text, claim.start)
    rest = blank_mentions(text, table)[begin:end]
    is_pinned = all(level in names.labels or len(labels) == 1 for level, labels in enumerate(table.levels))
    return is_pinned and not AVERAGED.search(rest) and not has_foreign_measure(rest, table)


def _has_amount(claim: Claim, table: Grid) -> bool:
    return any(
        abs(abs(cell.number.value) - abs(claim.number.value)) < 1e-9 and cell.number.places == claim.number.places
        for cell in table.cells
    )


def _fits(claim: Claim, pair: Pair) -> bool:
    """Whether a pair gives the amount, each cell rounded either way."""
    amount = claim.number.interval.size()
    slack = NEAR if claim.hedge == "near" else 0.0
    readings = change_readings(pair.first.number.interval, pair.second.number.interval, claim.unit)
    return any(
        one.meets(amount) or (one.low <= amount.high * (1 + slack) and one.high >= amount.low * (1 - slack))
        for one in readings
    )


def _closest(claim: Claim, pairs: Sequence[Pair]) -> Pair:
    """The pair whose exact cells come nearest to the amount."""

    def distance(pair: Pair) -> float:
        readings = change_readings(pair.first.number.exact, pair.second.number.exact, claim.unit)
        return min((abs(one.low - abs(claim.number.value)) for one in readings), default=float("inf"))

    return min(pairs, key=distance)


def _computed(pair: Pair, claim: Claim) -> str:
    """The cells and what they come to."""
    if claim.unit == "times" and pair.first.number.value < pair.second.number.value:
        pair = Pair(pair.second, pair.first, pair.table)
    first, second = pair.first.number, pair.second.number
    if claim.unit == "times" and second.value > 0:
        result = f"{first.text} / {second.text} = "
        result += format_number(first.value / second.value, max(claim.number.places, 1))
    else:
        apart = first.value - second.value
        result = f"{first.text} − {second.text} = {format_number(apart, max(first.places, second.places))}"
        if claim.unit == "percent" and second.value > 0:
            result += f", which is {format_number(100 * apart / second.value, 1)} %"
    return f"{result} in {pair.table.name} ({pair.table.where(pair.first)} against {pair.table.where(pair.second)})"
