"""What `aisr serve` and `aisr ui` run and answer: code of this package alone, and requests to this machine by name."""

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aisr.commands.mlflow_ui import run
from aisr.paper import open as papers
from aisr.paper.drawing import draw
from aisr.serving import guard
from aisr.serving.guard import DEEPEST, Guard
from aisr.serving.server import application
from support import pdfs
from support.compiled import Compiled
from support.corpora import read_rows
from support.paths import SAMPLE

JSON = {"host": "127.0.0.1:5001", "content-type": "application/json"}


def asked(app: Any, body: bytes, headers: dict[str, str], method: str = "POST") -> tuple[int, str]:
    """Status and body of an answer of an ASGI application; the request comes in pieces."""
    pieces = [body[place : place + 70_000] for place in range(0, len(body), 70_000)] or [b""]
    left = [{"type": "http.request", "body": one, "more_body": True} for one in pieces]
    left[-1]["more_body"] = False
    said: list[dict[str, Any]] = []

    async def receive() -> Any:
        return left.pop(0) if left else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        said.append(message)

    scope = {
        "type": "http", "http_version": "1.1", "method": method, "path": "/invocations", "raw_path": b"/invocations",
        "query_string": b"", "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    return said[0]["status"], b"".join(one.get("body", b"") for one in said).decode()


async def echo(scope: Any, receive: Any, send: Any) -> None:
    message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": message.get("body", b"")})


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:5001", "localhost:5001", "LocalHost", "[::1]:5001"])
def test_this_machine_is_answered(host: str) -> None:
    body = json.dumps({"inputs": ["x" * 200_000]}).encode()
    assert asked(Guard(echo), body, JSON | {"host": host}) == (200, body.decode())
    assert asked(Guard(echo), b"", {"host": host}, "GET")[0] == 200


@pytest.mark.parametrize("host", ["planted.example", "planted.example:5001", "127.0.0.1.planted.example", "", "[::2]"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_host_is_not(host: str, method: str) -> None:
    status, said = asked(Guard(echo), b"{}", JSON | {"host": host}, method)
    assert status == 400
    assert "not as another host" in said


DEEP = b"[" * (DEEPEST + 2) + b"]" * (DEEPEST + 2)


@pytest.mark.parametrize(
    ("body", "form", "said"),
    [
        (b"{}", None, "Content-Type: application/json"),
        (b"{}", "text/plain", "Content-Type: application/json"),
        (b"{", "application/json", "no JSON"),
        (b"[" * 200_000, "application/json", "no JSON"),
        (b"\xff", "application/json; charset=utf-8", "no JSON"),
        (DEEP, "application/json", "in each other"),
        (b"1" * 5_000, "application/json", "no JSON"),
    ],
)
def test_a_body_that_holds_no_records_is_refused_with_a_reason(body: bytes, form: str | None, said: str) -> None:
    headers = {"host": "localhost"} | ({"content-type": form} if form else {})
    status, told = asked(Guard(echo), body, headers)
    assert status == 400
    assert said in json.loads(told)["message"]


def test_a_body_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MOST_BYTES", 100_000)
    status, told = asked(Guard(echo), b" " * 300_000, JSON)
    assert (status, "larger than" in told) == (400, True)


@pytest.fixture
def served(compiled: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The artifacts folder of a registered program, in which somebody replaced all code and its settings."""
    own = compiled.copied(tmp_path / "artifacts")
    for name, value in {"AISR_LM": "openai/gpt-4o-mini", "AISR_API_BASE": own.address}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AISR_ARTIFACTS", str(own.root))
    planted = f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()\n"
    changed = 0
    for file in (own.root / ".mlflow").rglob("*"):
        if file.name in ("stored_model.py", "MLmodel"):
            file.write_text(planted if file.suffix == ".py" else "flavors: {python_function: {loader_module: os}}")
            changed += 1
    assert changed >= 4
    yield own.root
    assert not (tmp_path / "ran").exists()


def test_code_of_the_store_is_not_run(served: Path) -> None:
    app = application(served, "models:/aisr-track2@champion")
    (record, *_) = read_rows(SAMPLE / "track2" / "test.jsonl")
    for name in ("label", "evidence_paragraph_ids"):
        record.pop(name, None)
    status, said = asked(app, json.dumps({"inputs": [record]}).encode(), JSON)
    assert status == 200, said
    assert json.loads(said)["predictions"][0]["label"]
    status, said = asked(app, b'{"inputs": [{"id": 3}]}', JSON)
    assert status == 400, said


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
    """`aisr ui` and `aisr serve` run a module; MLflow starts uvicorn by the interpreter, and that its workers."""
    modules = tmp_path / "modules"
    modules.mkdir()
    code = f"import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', 'import {', '.join(PLANTED[3:])}'])"
    (modules / "starter.py").write_text(f"{code.replace(', sitecustomize', '')}.returncode)\n")
    monkeypatch.setenv("PYTHONPATH", str(modules))
    assert run(["-h"], {}, "timeit") == 0
    assert run([], {}, "starter") == 0
    assert sorted(os.listdir(here)) == sorted(PLANTED)


@pytest.mark.usefixtures("here")
def test_readers_of_pdfs_and_figures_run_none_either(tmp_path: Path) -> None:
    (tmp_path / "paper").mkdir()
    paper = pdfs.write(tmp_path / "paper" / "a.pdf", pdfs.text(72, 700, "A title") + pdfs.text(72, 650, "It is 5."))
    assert papers.read(paper).paragraphs
    pdfs.write(paper.with_name("plot.pdf"), "1 0 0 rg 0 0 306 792 re f\n")
    figure = r"\begin{figure}\includegraphics{plot}\caption{A plot.}\end{figure}"
    paper.with_suffix(".tex").write_text(f"See Figure 1. It falls by 3 points.\n\n{figure}", encoding="utf-8")
    assert draw(papers.read(paper.with_suffix(".tex")), tmp_path / "kept").drawn
