"""docs/compile.ipynb runs, and prints what stands in it. `python tests/test_notebook.py` writes its outputs anew."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[1] / "docs" / "compile.ipynb"


def outputs(cells: list[dict[str, Any]]) -> list[str]:
    """What each code cell prints: Python, or a command behind `!`, where `{name}` is a variable as in IPython. The
    folders of this machine have their variables' names, and lines that tell of the time are left out."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables: dict[str, Any] = {}
    printed = []
    for cell in cells:
        source = "".join(cell["source"])
        if source.startswith("!"):
            command = source.removeprefix("!").format_map(variables)
            environment = {**os.environ, "PATH": path}
            text = subprocess.check_output(command, shell=True, text=True, env=environment)
            for name in ("sample", "artifacts"):
                text = text.replace(str(variables[name]), name)
            printed.append("".join(line for line in text.splitlines(keepends=True) if not line.startswith("  … ")))
        else:
            with contextlib.redirect_stdout(io.StringIO()) as shown:
                exec(source, variables)
            printed.append(shown.getvalue())
    return printed


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.slow
def test_the_notebook_runs_and_prints_what_stands_in_it() -> None:
    cells = code_cells(json.loads(NOTEBOOK.read_text("utf-8")))
    shown = ["".join(line for output in cell["outputs"] for line in output["text"]) for cell in cells]
    assert outputs(cells) == shown


def write() -> None:
    """Write the outputs anew."""
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    cells = code_cells(notebook)
    for count, (cell, printed) in enumerate(zip(cells, outputs(cells), strict=True), start=1):
        stream = {"name": "stdout", "output_type": "stream", "text": printed.splitlines(keepends=True)}
        cell |= {"execution_count": count, "outputs": [stream] if printed else []}
    NOTEBOOK.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
