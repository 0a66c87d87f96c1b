"""Public names that are imported when they are used.

A module writes them once, as imports under `if TYPE_CHECKING:`, which type checkers and editors read; at run time the
same lines say where each name is.
"""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy_names(module: str, file: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return the names that a module imports under `if TYPE_CHECKING:`, in order, what gets one, and what lists them:
    its `__all__`, `__getattr__` and `__dir__`. file: its source."""
    tree = ast.parse(Path(file).read_text("utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If)]
    (block,) = [node for node in blocks if ast.unparse(node.test) == "TYPE_CHECKING"]
    places: dict[str, str] = {}
    for node in block.body:
        if isinstance(node, ast.ImportFrom):
            places |= {alias.name: str(node.module) for alias in node.names}

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(import_module(places[name]), name)

    names = sorted(places)
    return names, get, lambda: names
