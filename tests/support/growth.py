"""Hostile texts for a regular expression, and how much longer it takes for ten times as much of one.

The texts are made from the expression itself: the beginning of something that it matches, a piece of that or a sign of
one of its classes over and over, and an end that spoils the match. Whoever tries all ways to split such a text takes a
hundred times as long for ten times as much; whoever tries each sign a bounded number of times takes ten times as long.
"""

import ast
import gc
import re
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

STEPS = (20, 40, 80, 400, 2_000)  # signs
AT_ONCE = 0.001  # seconds; whoever takes no more for the longest text does not try all ways to split it
TOO_MUCH = 40  # times as long
REPEATS = 5
ENOUGH = 0.2  # seconds, beyond which nothing is measured twice
PIECE = 8  # signs
SIGNS = ("a", "A", "1", " ", "\n", "-", ".", "é")
CLASSES = {"CATEGORY_SPACE": " ", "CATEGORY_DIGIT": "1", "CATEGORY_WORD": "a"}
WAYS = ("search", "findall", "finditer", "split", "sub", "subn", "match", "fullmatch")


class Expression(NamedTuple):
    """A regular expression of the code, and how it is called."""

    name: str
    pattern: re.Pattern[str]
    whole: bool  # only of whole texts, from their beginning

    def ask(self, text: str) -> object:
        return self.pattern.fullmatch(text) if self.whole else sum(1 for _ in self.pattern.finditer(text))


def expressions(root: Path, folders: Sequence[str]) -> list[Expression]:
    """All regular expressions in the code below the folders. Fails for one that is not written out."""
    trees = {
        file: ast.parse(file.read_text(encoding="utf-8"))
        for folder in folders
        for file in sorted((root / folder).rglob("*.py"))
    }
    calls: dict[str, set[str]] = {}
    for node in (node for tree in trees.values() for node in ast.walk(tree)):
        if isinstance(node, ast.Attribute) and node.attr in WAYS:
            calls.setdefault(ast.unparse(node.value).rpartition(".")[2], set()).add(node.attr)
    return [
        Expression(f"{file.relative_to(root)}: {name or pattern.pattern}", pattern, ways <= {"match", "fullmatch"})
        for file, tree in trees.items()
        for name, pattern, ways in _in(tree, calls)
    ]


def _in(tree: ast.Module, calls: dict[str, set[str]]) -> Iterator[tuple[str, re.Pattern[str], set[str]]]:
    names = {id(node.value): ast.unparse(node.targets[0]) for node in tree.body if isinstance(node, ast.Assign)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "re":
            way, name = node.func.attr, names.get(id(node), "")
            if way == "compile":
                yield name, _compiled(node), calls.get(name, {"search"})
            elif way in WAYS:
                yield "", _compiled(node), {way}


def _compiled(call: ast.Call) -> re.Pattern[str]:
    """The expression of a call of `re`, written out; a word stands for what is put into it."""
    first = call.args[0]
    parts = first.values if isinstance(first, ast.JoinedStr) else [first]
    text = "".join("word" if isinstance(part, ast.FormattedValue) else ast.literal_eval(part) for part in parts)
    flags = map(ast.unparse, [*call.args[1:], *(one.value for one in call.keywords)])
    return re.compile(text, eval(next((one for one in flags if one.startswith("re.")), "0"), {"re": re}))


def attacks(expression: Expression) -> Iterator[Callable[[int], str]]:
    """Ways to make a hostile text of some length."""
    texts = dict.fromkeys(_samples(_parser.parse(expression.pattern.pattern, expression.pattern.flags)))
    begun = {text[:end]: text[end:] for text in texts for end in range(len(text) + 1)}
    for head, rest in begun.items():
        # Any sign, what would come next, what came last, and the whole beginning anew.
        last = [head[-signs:] for signs in range(1, PIECE)]
        pieces = dict.fromkeys([*SIGNS, rest[:1], rest[:2], *last, head])
        for piece, tail in product(filter(None, pieces), ("", "\0")):
            yield lambda length, head=head, piece=piece, tail=tail: head + piece * (length // len(piece)) + tail  # type: ignore[misc]


def slow(ask: Callable[[str], object], attack: Callable[[int], str]) -> str | None:
    """What grows too fast, if it does."""
    for length in STEPS:  # first the short ones: what grows worst would not come to an end
        if _least(ask, attack(length), 1) > AT_ONCE:
            break
    else:
        return None
    text, tenth = attack(length), attack(length // 10)
    long, short = _least(ask, text, REPEATS), _least(ask, tenth, REPEATS)
    return f"{long / short:.0f} times as long for ten times {text[:60]!r}" if long > TOO_MUCH * short else None


def grows(work: Callable[[int], object], size: int) -> float:
    """How many times as long a piece of work takes that is ten times as large; `TOO_MUCH` of what is too much."""
    short, long = (_least(lambda _, times=times: work(times * size), "", 3) for times in (1, 10))  # type: ignore[misc]
    return long / short


def _least(ask: Callable[[str], object], text: str, repeats: int) -> float:
    """Seconds; the least of several is what the work takes, whatever else the machine does. Without the collector,
    which goes through all that other tests have left."""
    taken = []
    collects = gc.isenabled()
    gc.disable()
    try:
        for _ in range(repeats):
            began = time.thread_time()
            ask(text)
            taken.append(time.thread_time() - began)
            if taken[0] > ENOUGH:
                break
    finally:
        if collects:
            gc.enable()
    return min(taken)


def _samples(tree: Any) -> list[str]:
    """Texts that an expression matches, each alternative once."""
    choices = [_of(kind, value) for kind, value in tree]
    first = [options[0] for options in choices]
    texts = ["".join(first)]
    for place, options in enumerate(choices):
        texts += ["".join([*first[:place], option, *first[place + 1 :]]) for option in options[1:]]
    return texts


def _of(kind: Any, value: Any) -> list[str]:
    if kind is sre.LITERAL:
        return [chr(value)]
    if kind in (sre.NOT_LITERAL, sre.ANY):
        return ["x"]
    if kind is sre.IN:
        return _signs(value)
    if kind is sre.BRANCH:
        return [text for branch in value[1] for text in _samples(branch)]
    if kind is sre.ATOMIC_GROUP:
        return _samples(value)
    if kind in (sre.SUBPATTERN, sre.ASSERT):  # what must stand there is tried too
        return _samples(value[-1])
    if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, most, inner = value
        return [text * min(max(least, 1), most) for text in _samples(inner)]
    return [""]  # a place, or what must not stand there


def _signs(members: Any) -> list[str]:
    """Some signs of a class."""
    if members[0][0] is sre.NEGATE:
        return ["x", " "]
    texts = []
    for kind, value in members[:6]:
        if kind is sre.LITERAL:
            texts.append(chr(value))
        elif kind is sre.RANGE:
            texts.append(chr(value[0]))
        else:
            texts.append(CLASSES.get(str(value), "x"))
    return texts
