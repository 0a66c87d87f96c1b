"""Public names that are imported when they are used.

A module writes them once, as imports under `if TYPE_CHECKING:`, which type checkers and editors read; at run time the
same lines say where each name is.
"""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy_names(module: str, file: str) -> tuple[list[str], Callable[[str], Any]]:
    """Return the names that a module imports under `if TYPE_CHECKING:`, in order, and what gets one: its `__all__` and
    `__getattr__`. file: its source."""
    tree = ast.parse(Path(file).read_text("utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If)]
    (block,) = [node for node in blocks if ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    places = {alias.name: str(node.module) for node in imports for alias in node.names}

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(import_module(places[name]), name)

    return sorted(places), get
