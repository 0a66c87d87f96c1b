"""How many are said to win, of how many, and how many rows a table is said to have."""

import re
from collections.abc import Iterable, Iterator, Sequence

from aisr.arithmetic.claims import DOUBT, clause
from aisr.arithmetic.facts import Fact, Label
from aisr.arithmetic.grid import Cell, Grid, is_mean, is_total, plain
from aisr.arithmetic.names import consistent, mentions, named
from aisr.arithmetic.numbers import WORDS
from aisr.arithmetic.polarity import larger_is_better

COUNT = re.compile(
    r"\b(?:in|on|for|at|across)\s(?:(?P<all>all)|(?P<part>\w+)\s(?:out\s)?of\s(?:the\s|our\s|all\s)?)\s?(?:the\s"
    r"|our\s)?"
    r"(?P<whole>\w+)\s(?P<noun>[a-z][\w-]*)"
)
AHEAD = re.compile(
    r"\b(?:outperform(?:s|ed)?(?! by)|beats?|surpass(?:es|ed)?|(?:is|are|was|performs?) (?:\w+ )?(?:better than"
    r"|ahead of)"
    r"|(?P<more>(?:higher|larger|greater)\b[^,;]{0,30} than|exceed(?:s|ed)?))\s(?:the\s|that of\s)?"
)
BEST = re.compile(
    r"\b(?:best|(?P<most>highest|largest)|(?P<least>lowest|smallest)|first|leads)\b(?!\s(?:of|among|baseline))"
)
LISTED = re.compile(r"\b(?:compares?|lists?|shows?|reports?|gives?|summari[sz]es?|presents?)\s(?:[a-z]+\s){0,3}$")
COUNTING = re.compile(r"#|\bnumber\b|\bno\.|\bcount\b", re.IGNORECASE)
HEADED = re.compile(r"(?P<all>\b(?:all|the)\s)?\b(?P<number>\w+)\s(?P<noun>[a-z][\w-]*)")


def wins(text: str, near: Sequence[Grid]) -> Iterator[Fact]:
    """One row or column ahead of another, or of all others, in so many of so many."""
    for found in COUNT.finditer(text):
        whole = _number(found["whole"])
        part = whole if found["all"] else _number(found["part"] or "")
        begin, end = clause(text, found.start())
        if whole is None or part is None or whole < 2 or DOUBT.search(text[begin:end]):
            continue
        for table in near:
            counted = list(_counted(text, (begin, end), table, whole))
            if not counted:
                continue
            ways = {wins for one in counted for wins in one}
            shown = f"in {' or '.join(map(str, sorted(ways)))} of {whole} by {table.name}"
            yield Fact(Label.COUNT, found[0], shown, part in ways, (table.key,))
            break


def _counted(text: str, within: tuple[int, int], table: Grid, whole: int) -> Iterator[set[int]]:
    """In how many of `whole` places what is named is ahead: a set for each group of so many places, since ties, and
    what is better, may be told in two ways."""
    found = [one for one in mentions(text, table) if within[0] <= one.start < within[1]]
    ahead = AHEAD.search(text, *within)
    best = None if ahead else BEST.search(text, *within)
    if not ahead and not best:
        return
    for level in range(len(table.levels)):
        here = [one for one in found if one.level == level]
        names = list(dict.fromkeys(one.label for one in here))
        if ahead:
            first = [one.label for one in here if one.end <= ahead.start()]
            then = [one.label for one in here if ahead.end() <= one.start <= ahead.end() + 3]
            if len(set(first)) != 1 or len(set(then)) != 1 or first[0] == then[0]:
                continue
            subject, rivals = first[0], {then[0]}
        elif len(names) == 1:
            subject = names[0]
            rivals = {label for label in table.levels[level] if label != subject and not is_total(label)}
        else:
            continue
        wanted = {other: labels for other, labels in named(found).items() if other != level}
        cells = [one for one in consistent(table.cells, wanted) if not is_mean_or_total(one, level)]
        literal = (ahead and ahead["more"]) or (best and (best["most"] or best["least"]))
        for group in parted(table, cells, {**wanted, level: set()}):
            duels = _duels(group, level, subject, rivals)
            if len(duels) == whole:
                larger = larger_is_better(table, duels[0][0]) if not literal else not (best and best["least"])
                yield _ways(duels, larger)


def is_mean_or_total(cell: Cell, but: int) -> bool:
    """Whether a cell sums up others, by its names on other levels than one."""
    return any(is_mean(name) or is_total(name) for level, name in enumerate(cell.at) if level != but)


def _duels(cells: Sequence[Cell], level: int, subject: str, rivals: set[str]) -> list[tuple[Cell, list[Cell]]]:
    alike: dict[tuple[str, ...], tuple[list[Cell], list[Cell]]] = {}
    for cell in cells:
        mine, theirs = alike.setdefault((*cell.at[:level], *cell.at[level + 1 :]), ([], []))
        if cell.at[level] == subject:
            mine.append(cell)
        elif cell.at[level] in rivals:
            theirs.append(cell)
    return [(mine[0], theirs) for mine, theirs in alike.values() if len(mine) == 1 and theirs]


def _ways(duels: Sequence[tuple[Cell, list[Cell]]], larger: bool | None) -> set[int]:
    found = set()
    for sign in (1, -1) if larger is None else (1,) if larger else (-1,):
        for ties in (True, False):
            found.add(
                sum(
                    all(
                        sign * (mine.number.value - one.number.value) > 0
                        or (ties and mine.number.value == one.number.value)
                        for one in theirs
                    )
                    for mine, theirs in duels
                )
            )
    return found


def named_rows(text: str, table: Grid, caption: bool) -> Iterator[Fact]:
    """How many rows a caption, or a sentence about a single table, says that there are: "all four detectors" above
    rows headed "Detector"."""
    for found in HEADED.finditer(text):
        number = _number(found["number"])
        if number is None or number < 2 or not (caption or found["all"] or LISTED.search(text[: found.start()])):
            continue
        noun = _singular(found["noun"])
        for place, head in enumerate(table.heads):
            words = plain(head).split()
            if (
                not words
                or COUNTING.search(head)
                or _singular(words[-1]) != noun
                or found["noun"] == words[-1] != noun + "s"
            ):
                continue
            rows = [label for label in table.levels[1 + min(place, table.beside - 2)] if label]
            if sum(any(map(str.isalpha, label)) for label in rows) < len(rows):
                continue  # sizes, not names
            counts = _sizes(rows, table)
            holds = number in counts
            # Fewer than there are may be a choice of them; more, or "all" of another number, may not.
            if holds or number > max(counts) or (found["all"] or "").strip() == "all":
                shown = f"{table.name} has {len(rows)} rows below {head!r}"
                yield Fact(Label.COUNT, found[0], shown, holds, (table.key,))


def _sizes(rows: Sequence[str], table: Grid) -> set[int]:
    """All that the number of rows may be said to be: with and without sums, variants of one name once, by section."""
    bare = [label for label in rows if not (is_total(label) or is_mean(label))]
    bases = {plain(label).split(" ")[0].split("-")[0] for label in bare}
    first = {re.split(r"[ (+/]", plain(label))[0] for label in bare}
    total = len({cell.row for cell in table.cells})
    return {len(rows), len(bare), len(bases), len(first), total, len(bare) - 1, total - 1, len({*rows})}


def _singular(word: str) -> str:
    small = word.lower()
    return small[:-3] + "y" if small.endswith("ies") else small[:-1] if small.endswith("s") else small


def parted(table: Grid, cells: list[Cell], wanted: dict[int, set[str]]) -> Iterator[list[Cell]]:
    """The cells, and of them those of each name on a level that no name is wanted of."""
    yield cells
    for level, labels in enumerate(table.levels):
        if level not in wanted and len(labels) > 1:
            yield from named_alike(cells, level)


def named_alike(cells: Sequence[Cell], level: int) -> Iterable[list[Cell]]:
    """The cells of each name on a level."""
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.at[level], []).append(cell)
    return found.values()


def _number(word: str) -> int | None:
    if word.isascii() and word.isdigit() and len(word) < 4:
        return int(word)
    return WORDS.get(word.lower(), 1 if word.lower() == "one" else None)
