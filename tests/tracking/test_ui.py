"""`aisr ui`: ready without the web, on this machine only, gone when told; and what it starts, as every reader of files,
imports nothing from the current folder."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from aisr.cli.machine import run
from aisr.paper.open import read_draft
from aisr.paper.readers.figures import draw_pictures
from support import pdfs, servers


@pytest.mark.slow
def test_the_ui_is_ready_offline_on_loopback_only_and_ends_when_told(artifacts: Path) -> None:
    with servers.ui(artifacts) as server:
        assert b"MLflow" in servers.get(server.port, "/")
        assert not servers.listens(server.port, "127.0.0.2"), "listens on more than 127.0.0.1"
        # a terminal sends Ctrl-C to all processes
        servers.assert_ends(server, lambda: os.killpg(server.process.pid, signal.SIGINT))


PLANTED = ("PIL", "aisr", "json", "mlflow", "pypdfium2", "sitecustomize", "timeit", "uvicorn", "xllamacpp")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with modules of anyone, none of which may have run."""
    planted = f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()\n"
    folder = tmp_path / "here"
    for name in PLANTED:
        (folder / name).mkdir(parents=True)
        for file in ("__init__.py", "__main__.py"):
            (folder / name / file).write_text(planted)
    monkeypatch.chdir(folder)
    yield folder
    assert not (tmp_path / "ran").exists()


def test_servers_and_what_they_start_run_no_files_of_the_current_folder(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`aisr ui` runs a module; MLflow starts uvicorn by the interpreter, and that its workers."""
    modules = tmp_path / "modules"
    modules.mkdir()
    code = f"import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', 'import {', '.join(PLANTED[3:])}'])"
    (modules / "starter.py").write_text(f"{code.replace(', sitecustomize', '')}.returncode)\n")
    monkeypatch.setenv("PYTHONPATH", str(modules))
    assert run("timeit", ["-h"], {}) == 0
    assert run("starter", [], {}) == 0
    assert sorted(os.listdir(here)) == sorted(PLANTED)


@pytest.mark.usefixtures("here")
def test_readers_of_pdfs_and_figures_run_none_either(tmp_path: Path) -> None:
    (tmp_path / "paper").mkdir()
    paper = pdfs.write(tmp_path / "paper" / "a.pdf", pdfs.text(72, 700, "A title") + pdfs.text(72, 650, "It is 5."))
    assert read_draft(paper).paragraphs
    pdfs.write(paper.with_name("plot.pdf"), "1 0 0 rg 0 0 306 792 re f\n")
    figure = r"\begin{figure}\includegraphics{plot}\caption{A plot.}\end{figure}"
    paper.with_suffix(".tex").write_text(f"See Figure 1. It falls by 3 points.\n\n{figure}", encoding="utf-8")
    assert draw_pictures(read_draft(paper.with_suffix(".tex")), tmp_path / "kept").drawings
