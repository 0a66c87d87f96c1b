"""The rooms of the house stand on floors, and imports run downhill only: lazy and type-only ones included."""

import ast
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from aisr.tasks.all import TASKS

ROOT = Path(__file__).parents[1]
# From the ground up. Rooms of one line stand side by side and do not know each other.
FLOORS = [
    ["aisr.programs.errors", "aisr.programs.questions"],
    ["aisr.programs.reading"],
    ["aisr.programs.labels"],
    ["aisr.programs.records"],
    ["aisr.programs.text"],
    ["aisr.programs.asking"],
    ["aisr.programs.retrieval", "aisr.programs.vision"],
    ["aisr.programs.decision"],
    ["aisr.programs.signatures"],
    ["aisr.programs.judges"],
    ["aisr.metrics"],
    ["aisr.compat"],
    ["aisr.base"],
    ["aisr.lm"],
    ["aisr.paper"],
    ["aisr.arithmetic"],
    ["aisr.tasks"],
    ["aisr.corrections"],
    ["aisr.artifact"],
    ["aisr.inference"],
    ["aisr.optimize.datasets"],
    ["aisr.optimize.evidence"],
    ["aisr.optimize.search", "aisr.optimize.decision"],
    ["aisr.optimize.experiment"],
    ["aisr.report"],
    ["aisr.review"],
    ["aisr.tracking"],
    ["aisr.checker"],
    ["aisr.commands"],
    ["aisr.api"],
    ["aisr.serving"],
]
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
# These know nothing of programs and scores either.
GROUND = (
    "aisr.compat",
    "aisr.base",
    "aisr.lm",
    *(f"aisr.programs.{name}" for name in ("errors", "questions", "reading")),
)
HOUSE = ("programs", "metrics", "optimize", "aisr")  # the first three are `aisr.programs` …, by links in `aisr/`
# Of this one MLflow keeps copies, which run outside of the house and know its front door alone.
STORED = Path("aisr/tracking/stored_model.py")
TREES = {
    path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8"))
    for folder in HOUSE
    for path in sorted((ROOT / folder).rglob("*.py"))
}


def module_of(file: Path) -> str:
    """The name that a file is imported by."""
    words = file.with_suffix("").parts
    return ".".join(words if words[0] == "aisr" else ("aisr", *words)).removesuffix(".__init__")


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
            # `from aisr.base import digests` imports aisr.base.digests; a name in a module is harmless here.
            yield from ((node.lineno, f"{node.module}.{name.name}") for name in node.names)


def test_imports_run_downhill() -> None:
    for file, tree in TREES.items():
        here = room_of(module_of(file))
        if here is None or file == STORED:
            assert here or file.name == "__init__.py", f"{file} stands in no room; give it one in FLOORS"
            continue
        for line, module in imported(tree):
            there = room_of(module)
            if there is None or there == here:
                continue
            assert FLOOR[there] < FLOOR[here], f"{file}:{line}: {here} imports {module}, which does not stand below it"
            assert here not in GROUND or there in GROUND, f"{file}:{line}: {here} knows nothing of {there}"
    found = {module for _, module in imported(TREES[STORED])}
    assert found == {"aisr.serving", "mlflow.models.ModelConfig", "mlflow.models.set_model"}


def test_no_bare_name_is_imported() -> None:
    """A user's project has a `metrics.py` of its own: the library takes one name, and no other."""
    taken = re.compile(r"(?:programs|metrics|optimize)(?:\.|$)")
    for file, tree in TREES.items():
        for line, module in imported(tree):
            assert not taken.match(module), f"{file}:{line}: {module}; say aisr.{module}"


def test_no_two_files_import_each_other() -> None:
    graph = {}
    for file, tree in TREES.items():
        found = {name for _, name in imported(tree)}
        graph[module_of(file)] = found | {name.rpartition(".")[0] for name in found}
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


ROOMS_OF_A_TASK = ("programs/records", "programs/signatures", "programs/judges", "metrics", "aisr/tasks")
OF_ONE_TASK = re.compile(
    r"\b(?:track_?[12]|averitec|context24[_-]?\w*"
    r"|(?:Track[12]|Averitec|Context24(?:Figures|Text)|Draft)(?:Record|Prediction|Judge))\b",
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


def test_a_task_has_one_name_in_every_room_and_is_named_nowhere_else() -> None:
    for name, room in product(TASKS, ROOMS_OF_A_TASK):
        place = ROOT / room / name.replace("-", "_")
        assert place.with_suffix(".py").exists() or (place / "__init__.py").exists(), place
    for file, tree in TREES.items():
        of_tasks = Path("aisr/tasks") in file.parents or file == Path("aisr/commands/task_options.py")
        for line, word in words(tree) if file.parts[0] in ("optimize", "aisr") and not of_tasks else ():
            assert not OF_ONE_TASK.search(word), f"{file}:{line}: {word!r} is of one task; write it against `Task`"
