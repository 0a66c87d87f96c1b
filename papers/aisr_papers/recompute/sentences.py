"""What can be recomputed from a sentence alone: reported tests, percentages of a sample, sums of counts, and changes
whose two numbers stand beside them ("from 71.2 to 74.4, a gain of 3.2 points").
"""

import math
import re
from collections.abc import Iterator

from aisr_papers.recompute.comparisons import COMPARED, DOUBT, sense_of
from aisr_papers.recompute.numbers import (
    Fact,
    Label,
    Number,
    Outcome,
    Unit,
    change_readings,
    find_numbers,
    format_number,
)
from aisr_papers.recompute.significance import check_tests

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
SUM = re.compile(rf"{NO}(?P<parts>{COUNT}(?:\s?\+\s?{COUNT})+)\s?=\s?(?P<whole>{COUNT})(?![\w.,]\d|\s?[-+*/×^])")
# 24 scenarios (12 approvals, 12 refusals); 108 nights (41 at Bog, 38 at Heath and 29 at Marsh)
PART = rf"{COUNT}\s[a-z][^(),;\d]{{2,60}}?"
PARTS = re.compile(
    rf"{NO}(?P<whole>{COUNT})\s[a-z]+s\s?\((?P<parts>{PART}(?:(?:[,;]\s(?:and\s)?|\sand\s){PART}){{1,8}})\)"
)
# Lists that need not be complete, or whose parts may overlap.
INCOMPLETE = re.compile(
    r"\b(?:includ\w*|e\.g\.|such as|among|about|up to|at least|each|per|every|unique|distinct|(?:fe)?males?|(?:wo)?men"
    r"|in total)\b"
)
PART_NEAR = 0.8  # of the whole; parts that come to less are no list of all parts


def check_sentence(text: str, one_sided: bool) -> Iterator[Fact]:
    """All that can be recomputed from a sentence alone. one_sided: whether the paper speaks of one-sided tests."""
    yield from check_tests(text, one_sided)
    for pattern in SHARES:
        for match in pattern.finditer(text):
            yield from _check_share(text, match)
    yield from _check_sums(text)
    yield from _check_changes(text)
    yield from _check_moves(text)


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
    yield Fact(Label.PERCENTAGE, match[0], computed, _outcome(holds, is_slip))


def _outcome(holds: bool, is_slip: bool = True) -> Outcome:
    return Outcome.HOLDS if holds else Outcome.WRONG if is_slip else Outcome.UNDECIDED


def _check_sums(text: str) -> Iterator[Fact]:
    """Sums whose parts stand beside them."""
    for match in SUM.finditer(text):
        yield _sum_fact(match, [_whole(one) for one in re.findall(rf"{COUNT}", match["parts"])])
    for match in PARTS.finditer(text):
        parts = [_whole(one) for one in re.findall(rf"{NO}{COUNT}", match["parts"])]
        whole = _whole(match["whole"])
        is_list = PART_NEAR * whole <= sum(parts) <= whole / PART_NEAR and math.prod(parts) != whole
        if is_list and not INCOMPLETE.search(match["parts"]):
            yield _sum_fact(match, parts)


def _sum_fact(match: re.Match[str], parts: list[int]) -> Fact:
    computed = f"{' + '.join(f'{one:,}' for one in parts)} = {sum(parts):,}"
    return Fact(Label.SUM, match[0], computed, _outcome(sum(parts) == _whole(match["whole"])))


def _whole(digits: str) -> int:
    return int(re.sub(r"\D", "", digits))


def _places(digits: str) -> int:
    return len(digits.partition(".")[2])


NUMBER = r"[+−–-]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)"
MEASURE = r"\s?(?P<unit{0}>%|percent|points?|pp|ms|s|MB|GB|TB|k|M)?(?![\w.]\d|\w)"
CHANGE = (
    r"improvement|increase|decrease|reduction|gain|drop|rise|decline|difference|change|fall|loss"  # as nouns, or behind
)
SPREAD = rf"(?:\s?±\s?{NUMBER})?"
ENDS = (
    rf"(?P<first>{NUMBER}){MEASURE.format(1)}{SPREAD}\s(?P<to>to|vs\.?|versus|against|compared (?:to|with))\s"
    rf"(?P<second>{NUMBER}){MEASURE.format(2)}{SPREAD}"
)
AMOUNT = rf"(?P<amount>{NUMBER})(?:\s?|-)(?P<unit>%|percentage[- ]points?|percent|points?|pp|fold|x|×|times)"
STEPS = [
    # from 71.2 to 74.4, a gain of 3.2 points; 74.4 compared to 71.2 for Lark, a gain of 3.2 points
    re.compile(
        rf"(?<![\w.,])(?P<from>from\s)?{ENDS}(?:[^.;:()\d]{{0,50}}?(?=,\s(?:an?|the)\s))?"
        r"(?P<joint>\s?[,;(–—-]*\s?(?:i\.e\.,?\s|that is,?\s|which is\s|corresponding to\s|representing\s)?"
        r"(?:an?\s|the\s)?"
        r"(?:(?:absolute|relative|total|overall|further|net|large|small|mere|clear|significant|modest)\s){0,2}?"
        rf"(?:(?:{CHANGE})\sof\s|by\s)?)"
        rf"(?P<hedge>about\s|around\s|nearly\s|almost\s|roughly\s|over\s|more than\s|~|≈)?{AMOUNT}"
        rf"(?P<behind>[\s-](?:absolute\s|relative\s)?(?:{CHANGE}|higher|lower|more|less))?"
    ),
    # a gain of 3.2 points (from 71.2 to 74.4)
    re.compile(
        rf"(?P<joint>\b(?:{CHANGE})\s(?:of|is|was)\s(?:an?\s)?)(?P<hedge>about\s|around\s|nearly\s|over\s|~|≈)?"
        rf"{AMOUNT}(?P<behind>)\s?[(,]\s?(?P<from>from\s){ENDS}"
    ),
]
# fell from 71.2 to 70.4
MOVE = re.compile(
    r"\b(?:(?P<less>decreas\w+|reduc\w+|drop\w*|falls?|fell|declin\w+)|(?P<more>increas\w+|rais\w+|rises?|rose))"
    rf"(?:\s(?!and\b|but\b|or\b|to\b|not\b)[\w’'()-]+){{0,4}}?\sfrom\s{ENDS}(?!\s?(?:thousand|million|billion|[KMGB]\b|[x×·^]))"
)
JOINED = re.compile(rf"\b(?:{CHANGE})\b|\bby\s$")


def _check_changes(text: str) -> Iterator[Fact]:
    """Changes whose two ends stand right before them. The amount may be meant in points or per cent, of either end,
    and each end may be rounded."""
    for match in (match for pattern in STEPS for match in pattern.finditer(text)):
        joint = match["joint"].rstrip()
        is_joined = JOINED.search(joint + " ") or "(" in joint or match["behind"]
        if match["to"] == "to" and not match["from"]:
            continue  # a range
        first, second, amount = (next(find_numbers(match[name]), None) for name in ("first", "second", "amount"))
        if match["hedge"] or not is_joined or first is None or second is None or amount is None:
            continue
        named = match["unit"]
        is_ratio = named in ("fold", "x", "×", "times")
        unit: Unit = "times" if is_ratio else "percent" if named in ("%", "percent") else "points"
        readings = change_readings(first.interval, second.interval, unit)
        holds = any(one.meets(amount.interval.size()) for one in readings)
        sense = sense_of(COMPARED.search(f"{joint} {match['behind']}"), amount)
        is_contrary = sense not in ("", "none") and not _moves(match, first, second, sense)
        # An error may improve by falling, and signs and "compared to" are used either way; accuracy may rise, "a
        # reduction of 50 % in error".
        is_size = bool(match["from"]) and sense in ("more", "less") and amount.text[0].isdigit()
        is_plain = not is_contrary or (is_size and not text.startswith((" in ", " of "), match.end()))
        units = dict.fromkeys(one for one in (match["unit1"], match["unit2"]) if one)
        is_one_unit = len(units) < 2  # not "from 2 GB to 500 MB"
        computed = _change(first, second, amount, "points" if is_contrary else unit)
        if not is_one_unit:
            computed = f"the units differ: {' and '.join(units)}"
        label = Label.RATIO if is_ratio else Label.DIFFERENCE
        outcome = _outcome(holds and is_one_unit and not is_contrary, is_one_unit and is_plain)
        yield Fact(label, match[0], computed, outcome)


def _moves(match: re.Match[str], first: Number, second: Number, sense: str) -> bool:
    """Whether one number is above, or below, the other as the words say: from 71.2 to 74.4, 74.4 compared to 71.2."""
    apart = second.value - first.value if match["from"] else first.value - second.value
    return apart == 0 or (apart > 0) == (sense in ("more", "better"))


def _change(first: Number, second: Number, amount: Number, unit: Unit) -> str:
    """The change from one number to another, by the reading that comes nearest to an amount."""
    if unit == "times" and min(first.value, second.value) > 0:
        small, large = sorted((first, second), key=lambda number: number.value)
        return f"{large.text} / {small.text} = {format_number(large.value / small.value, max(amount.places, 1))}"
    apart = second.value - first.value
    difference = f"{second.text} − {first.text} = {format_number(apart, max(first.places, second.places))}"
    if unit != "percent" or first.value <= 0:
        return difference
    whole = 1.0 if max(first.value, second.value) <= 1 else 100.0
    bases = {"": first.value, f" of {second.text}": second.value, " of the errors": first.value - whole}
    shares = {name: 100 * apart / base for name, base in bases.items() if base}
    name = min(shares, key=lambda one: abs(abs(shares[one]) - abs(amount.value)))
    if abs(abs(apart) - abs(amount.value)) < abs(abs(shares[name]) - abs(amount.value)):
        return difference  # points, written as per cent
    return f"{difference}, which is {format_number(shares[name], 1)} %{name}"


def _check_moves(text: str) -> Iterator[Fact]:
    """Whether what is said to fall or rise from one number to another does."""
    for match in MOVE.finditer(text):
        first, second = (next(find_numbers(match[name]), None) for name in ("first", "second"))
        is_one_unit = match["to"] == "to" and len({match["unit1"], match["unit2"]} - {None}) < 2
        if first is None or second is None or not is_one_unit or min(first.value, second.value) < 0:
            continue
        has_unit = first.places or second.places or match["unit2"]  # not "drops layers from 8 to 12"
        is_opposite = second.value < first.value if match["more"] else second.value > first.value
        if has_unit and is_opposite and not DOUBT.search(text[: match.end()]):
            computed = f"{second.text} is {'less' if match['more'] else 'more'} than {first.text}"
            yield Fact(Label.DIFFERENCE, match[0], computed, Outcome.WRONG)
