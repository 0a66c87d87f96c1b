"""docs/compile.ipynb runs in Jupyter, and prints what stands in it. `python tests/test_notebook.py` writes its outputs
anew."""

import os
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[1] / "docs" / "compile.ipynb"
os.environ["JUPYTER_PLATFORM_DIRS"] = "1"  # Jupyter warns where it is not set


def run_notebook() -> Any:
    """Return the notebook after its cells ran in a kernel, in an empty folder."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    return notebook


def printed(notebook: Any) -> list[dict[str, str]]:
    """Return what each code cell printed, by the stream."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    streams: list[dict[str, str]] = [{} for _ in cells]
    for cell, texts in zip(cells, streams, strict=True):
        for output in cell["outputs"]:
            texts[output["name"]] = texts.get(output["name"], "") + "".join(output["text"])
    return streams


@pytest.mark.slow
def test_the_notebook_runs_and_prints_what_stands_in_it() -> None:
    import nbformat

    shown = nbformat.read(NOTEBOOK, as_version=4)
    assert printed(run_notebook()) == printed(shown)
    assert "pip install" in shown["cells"][0]["source"]
    assert "!" not in {line[:1] for cell in shown["cells"] for line in cell["source"].splitlines()}  # no shell


def write() -> None:
    """Write the outputs anew, each stream as one, without the times that cells took."""
    import nbformat

    notebook = run_notebook()
    notebook["metadata"] = {"kernelspec": notebook["metadata"]["kernelspec"], "language_info": {"name": "python"}}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell, streams in zip(cells, printed(notebook), strict=True):
        cell["metadata"] = {}
        cell["outputs"] = [nbformat.v4.new_output("stream", name=name, text=text) for name, text in streams.items()]
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    write()
