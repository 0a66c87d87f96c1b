"""The rooms of the house stand on floors, and imports run downhill only: lazy and type-only ones included."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# From the ground up. Rooms of one line stand side by side and do not know each other.
FLOORS = [
    ["programs.errors"],
    ["programs.reading"],
    ["programs.labels"],
    ["programs.records"],
    ["programs.text"],
    ["programs.asking"],
    ["programs.retrieval", "programs.vision"],
    ["programs.decision"],
    ["programs.judges"],
    ["metrics"],
    ["metrics.studies"],
    ["optimize.compat"],
    ["optimize.base"],
    ["optimize.lm"],
    ["optimize.paper"],
    ["optimize.tasks"],
    ["optimize.artifact"],
    ["optimize.datasets"],
    ["optimize.inference"],
    ["optimize.evidence"],
    ["optimize.search", "optimize.decision"],
    ["optimize.experiment"],
    ["optimize.report"],
    ["optimize.review"],
    ["optimize.tracking"],
    ["optimize.cli"],
    ["optimize.studies"],
    ["aisr"],
]
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
# These know nothing of programs and scores either.
GROUND = ("optimize.compat", "optimize.base", "optimize.lm", "programs.errors", "programs.reading")
HOUSE = ("programs", "metrics", "optimize", "aisr")
# Of this one MLflow keeps copies, which run outside of the house and know its front door alone.
STORED = Path("optimize/tracking/stored_model.py")
FILES = sorted(path.relative_to(ROOT) for folder in HOUSE for path in (ROOT / folder).rglob("*.py"))
FILES.remove(STORED)


def room_of(module: str) -> str | None:
    """The room that a module stands in, the innermost; None for what is not of the house."""
    words = module.split(".")
    return next((room for end in range(len(words), 0, -1) if (room := ".".join(words[:end])) in FLOOR), None)


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every module that a file imports, wherever the import stands, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from optimize.base import digests` imports optimize.base.digests; a name in a module is harmless here.
            yield from ((node.lineno, f"{node.module}.{name.name}") for name in node.names)


@pytest.mark.parametrize("file", FILES, ids=str)
def test_imports_run_downhill(file: Path) -> None:
    here = room_of(".".join(file.with_suffix("").parts).removesuffix(".__init__"))
    if here is None:
        assert file.name == "__init__.py", f"{file} stands in no room; give it one in FLOORS"
        return
    for line, module in imported(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
        there = room_of(module)
        if there is None or there == here:
            continue
        assert FLOOR[there] < FLOOR[here], f"{file}:{line}: {here} imports {module}, which does not stand below it"
        assert here not in GROUND or there in GROUND, f"{file}:{line}: {here} knows nothing of {there}"


def test_what_mlflow_stores_knows_the_front_door_alone() -> None:
    found = {module for _, module in imported(ast.parse((ROOT / STORED).read_text(encoding="utf-8")))}
    assert found == {"aisr.serving", "mlflow.models.ModelConfig", "mlflow.models.set_model"}


def test_no_two_files_of_a_room_import_each_other() -> None:
    graph = {}
    for file in FILES:
        module = ".".join(file.with_suffix("").parts).removesuffix(".__init__")
        found = {name for _, name in imported(ast.parse((ROOT / file).read_text(encoding="utf-8")))}
        graph[module] = found | {name.rpartition(".")[0] for name in found}
    finished: set[str] = set()

    def walk(module: str, way: list[str]) -> None:
        assert module not in way, f"a circle of imports: {' -> '.join([*way[way.index(module) :], module])}"
        if module in finished:
            return
        for other in sorted(graph[module] & set(graph) - {module}):
            walk(other, [*way, module])
        finished.add(module)

    for module in graph:
        walk(module, [])


TASK_ROOM = Path("optimize/tasks")
OWN_OPTIONS = Path("optimize/cli/task_options.py")
OF_ONE_TASK = re.compile(
    r"\b(?:track_?[12]|averitec|context24[_-]?\w*"
    r"|(?:Track[12]|Averitec|Context24(?:Figures|Text))(?:Record|Prediction|Judge))\b",
    re.IGNORECASE,
)


def words(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every name and string of a file, with its line; docstrings and comments may give examples."""
    prose = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute):
            yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, f"{node.module} {name.name}") for name in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.lineno, node.value


@pytest.mark.parametrize("file", [file for file in FILES if file.parts[0] == "optimize"], ids=str)
def test_a_task_is_named_where_tasks_are_and_nowhere_else(file: Path) -> None:
    if TASK_ROOM in file.parents or file == OWN_OPTIONS:
        return
    for line, word in words(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
        assert not OF_ONE_TASK.search(word), f"{file}:{line}: {word!r} is of one task; write it against `Task`"
