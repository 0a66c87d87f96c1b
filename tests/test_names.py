"""One word, one thing: a name stands for one thing in the whole project."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from support.paths import ROOT

FOLDERS = ("aisr", "metrics", "optimize", "programs")
# The names that several modules may define, each time for the same purpose.
COMMANDS = {
    "check",
    "compare",
    "evaluate",
    "main",
    "open_lm",
    "predict",
    "promote",
    "score",
    "split",
    "submit",
}  # and what they call
SAME_ROLE = {"ARTIFACTS", "DEFINITIONS", "EMBEDDED", "Scores", "load", "log", "uncompiled"}
OF_LMS = {"Answer", "Limits", "MAX_TOKENS"}
ALLOWED = COMMANDS | SAME_ROLE | OF_LMS


def names(file: Path) -> Iterator[str]:
    """The public names that a module defines at its top."""
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        for target in targets:
            yield from (one.id for one in ast.walk(target) if isinstance(one, ast.Name))


def test_no_two_modules_define_a_name() -> None:
    places = defaultdict[str, set[str]](set)
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*.py"):
            for name in names(file):
                places[name].add(str(file.relative_to(ROOT)))
    several = [name for name, own in places.items() if len(own) > 1 and not name.startswith("_")]
    lines = [f"{name}: {', '.join(sorted(places[name]))}" for name in several if name not in ALLOWED]
    assert not lines, "\n".join(["give one of them another name, or import it from the other:", *lines])
