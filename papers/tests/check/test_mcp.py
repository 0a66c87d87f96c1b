"""The checker as an MCP server, by the SDK's own client and by hand: typed answers, progress, one budget, named
folders, and an end when the input ends."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from aisr.api import LanguageModel
from aisr.lm.budget import Limits
from aisr_papers.check.judging import Programs
from aisr_papers.check.server import Settings
from paper_support.commands import CheckPaper
from paper_support.paths import SAMPLE
from support.runs import opened

if TYPE_CHECKING:  # importing the SDK takes a second, which collecting any other test would cost
    from mcp.client import Client

    from support.loopback import HttpRequest, Loopback

Open = Callable[..., Settings]

pytestmark = pytest.mark.anyio

TABLE = "| Site | Wren |\n|---|---|\n| Bog | 61.0 |"
WORDS: dict[str, Any] = {
    "evidence": [TABLE],
    "sentences": ["Wren reaches 61.0 at Bog.", "It wins because of its filter."],
}
PAPER = (
    "# Wrens\n\n## Results\n\nWren reaches 61.0 at Bog (Table 1). It gains 3 points because of its filter. "
    "Of 50 people, 20 of 50 (70.0 %) agreed, and 30 of 120 (25 %) did not.\n\n![](gone.png)\n\n"
    f"Table 1: F1 at Bog.\n\n{TABLE}\n"
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def settings(loopback: "Loopback", tmp_path: Path) -> Open:
    """Those of a server whose LM is the loopback server's, with one folder that holds a paper."""
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "a.md").write_text(PAPER, encoding="utf-8")

    def make(**limits: Any) -> Settings:
        lm = LanguageModel(opened(loopback.url, threads=2, limits=Limits(**limits), timeout=5))
        return Settings([tmp_path / "papers"], lm=lm, programs=Programs(tmp_path / "artifacts"))

    return make


@asynccontextmanager
async def connect(settings: Settings) -> AsyncIterator["Client"]:
    from mcp.client import Client

    from aisr_papers.check.server import make_server

    async with Client(make_server(settings)) as client:
        yield client


async def call(client: "Client", tool: str, **words: Any) -> dict[str, Any]:
    """What a tool answers; an error is an assertion."""
    answer = await client.call_tool(tool, words)
    assert not answer.is_error, answer.content
    content: dict[str, Any] = answer.structured_content
    return content


async def refused(client: "Client", tool: str, **words: Any) -> str:
    answer = await client.call_tool(tool, words)
    assert answer.is_error
    return str(answer.content)


async def test_a_paper_is_checked_in_one_call_with_progress(settings: Open) -> None:
    heard: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total))

    async with connect(settings()) as client:
        answer = await client.call_tool("check_paper", {"path": "a.md"}, progress_callback=hear)
        unread = await call(client, "list_unread", path="a.md")
    checked = answer.structured_content
    assert checked
    assert [(one["label"], one["level"]) for one in checked["flags"]] == [
        ("Wrong percentage", "error"), ("Beyond the evidence", "warning"),
    ]  # fmt: skip
    flag = checked["flags"][1]
    assert flag["sentence"] == "It gains 3 points because of its filter."
    assert flag["file"] == "a.md"
    assert flag["line"] == 5
    assert flag["reasons"][0]["place"]["name"] == "Table 1"
    assert (checked["more"], checked["counts"]["Supported"]) == (0, 2)
    assert checked["spent"]["calls"] == len(heard) == 2  # what is judged, and why
    assert [one[0] for one in heard] == [1, 2]
    assert any("not read: 1" in title for title in checked["not_checked"])
    assert "gone.png" in unread["not_checked"]["not read: 1"][0]
    assert "30 of 120 is 25.0 %" in unread["recomputed"]["recomputed and right: 1"][0]


async def test_one_budget_is_for_all_calls(settings: Open, loopback: "Loopback") -> None:
    """Calls that are under way count."""
    answers = []

    async with connect(settings(calls=2)) as client:

        async def check(number: int) -> None:
            sentences = [f"Wren {number} reaches 61.0."]
            answers.append(await call(client, "check_sentences", sentences=sentences, evidence=[TABLE]))

        async with anyio.create_task_group() as group:
            for number in range(4):
                group.start_soon(check, number)
        blank = await client.call_tool("check_sentences", {"sentences": ["It sings.", " "], "evidence": [TABLE]})
        wrong = await client.call_tool("check_sentences", {"sentences": ["It sings.", 5], "evidence": "a table"})
        missing = await client.call_tool("check_paper", {})
    assert "sentences: number 2 is blank; expected words" in str(blank.content)
    assert "sentences: number 2: 5 is no text; call again with a text there" in str(wrong.content)
    assert "path: missing; call again with it" in str(missing.content)
    assert "pydantic" not in f"{wrong.content}{missing.content}"
    left = [one["flags"][0]["failed"] for one in answers if one["flags"] and one["flags"][0]["label"] is None]
    assert any("max_calls is 2" in why for why in left)
    assert len(loopback.requests) == 2


async def test_a_call_that_is_cancelled_sends_nothing_more(
    settings: Open, loopback: "Loopback", tmp_path: Path
) -> None:
    reached, go, usual = threading.Event(), threading.Event(), loopback.reply

    def reply(request: "HttpRequest") -> Any:
        reached.set()
        go.wait(30)
        return usual(request)

    loopback.reply = reply
    sections = "".join(f"## Part {k}\n\nWren reaches {k}.0 at Bog (Table 1).\n\n" * 8 for k in range(30))
    (tmp_path / "papers" / "long.md").write_text(f"# T\n\n{sections}Table 1: F1.\n\n{TABLE}\n", encoding="utf-8")
    async with connect(settings()) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "check_paper", {"path": "long.md"})
            await anyio.to_thread.run_sync(reached.wait, 30)
            group.cancel_scope.cancel()
        await anyio.wait_all_tasks_blocked()  # the server has heard of it
        go.set()
        checked = await call(client, "check_sentences", **WORDS)
    assert len(loopback.requests) < 8
    assert checked["flags"]


async def test_no_file_outside_of_the_folders_is_read(settings: Open, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("The password is swordfish.", encoding="utf-8")
    (tmp_path / "papers" / "link.md").symlink_to(tmp_path / "secret.md")
    os.mkfifo(tmp_path / "papers" / "pipe.md")
    async with connect(settings()) as client:
        for named in ("../secret.md", "/etc/hostname", "link.md", "pipe.md", "", "a\0b", "x" * 5000):
            for tool in ("check_paper", "list_unread"):
                reply = await refused(client, tool, path=named)
                assert "no such file below the folders of this session" in reply, named
                assert "swordfish" not in reply
        assert "no such folder below" in await refused(client, "check_paper", path="a.md", papers="..")


async def test_what_goes_wrong_is_answered_with_the_reason(settings: Open, loopback: "Loopback") -> None:
    loopback.reply = lambda request: (401, json.dumps({"error": {"message": "no such key", "type": "x"}}))
    async with connect(settings()) as client:
        assert "no such key" in await refused(client, "check_sentences", **WORDS)
        assert "expected at least one text" in await refused(client, "check_sentences", **{**WORDS, "sentences": []})
        assert "path" in await refused(client, "check_paper")
        assert (await call(client, "list_unread", path="a.md"))["not_checked"]


async def test_without_a_model_there_are_the_tools_that_need_none(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(PAPER, encoding="utf-8")
    async with connect(Settings([tmp_path])) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["check_paper", "list_unread"]
        assert "Not checked: numbers against tables" in str(tools[0].description)
        checked = await call(client, "check_paper", path="a.md")
    assert [one["label"] for one in checked["flags"]] == ["Wrong percentage"]


BEGIN = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}


@contextmanager
def calling(folder: Path, paper: str, *words: object) -> Iterator[subprocess.Popen[str]]:
    """A server over standard input and output that is asked to check a paper, line by line, by hand."""
    command = [sys.executable, "-m", "aisr_papers.cli", "mcp", "--folder", folder, *words]
    env = {**os.environ, "OPENAI_API_KEY": "sk-x"}
    lines: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": BEGIN},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "check_paper", "arguments": {"path": paper}}},
    ]
    pipe = subprocess.PIPE
    with subprocess.Popen(list(map(str, command)), cwd=folder, env=env, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin
        process.stdin.writelines(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)
        process.stdin.flush()
        yield process
        process.stdin.close()
        assert process.wait(30) == 0


@pytest.mark.parametrize("paper", ["a.md", "hidden.pdf", "endless.tex"])
def test_over_standard_input_it_answers_and_ends_with_it(tmp_path: Path, paper: str) -> None:
    (tmp_path / "a.md").write_text(PAPER, encoding="utf-8")
    (tmp_path / "hidden.pdf").write_bytes((SAMPLE / "paper" / "main.pdf").read_bytes())
    (tmp_path / "endless.tex").write_text(r"\newcommand{\a}{\a\a}\begin{document}\a\a We gain 3 points.\end{document}")
    with calling(tmp_path, paper, "--lm", "none") as process:
        assert process.stdout
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
    assert [one["id"] for one in answers] == [1, 2]
    assert "result" in answers[1]


def test_it_ends_with_its_input_while_a_call_works(loopback: "Loopback", tmp_path: Path) -> None:
    reached, go = threading.Event(), threading.Event()

    def hold(_: "HttpRequest") -> Any:
        reached.set()
        go.wait(60)
        return (500, "{}")

    loopback.reply = hold
    (tmp_path / "a.md").write_text(PAPER, encoding="utf-8")
    with calling(tmp_path, "a.md", "--artifacts", tmp_path, "--lm", "openai/local", "--api-base", loopback.url):
        assert reached.wait(60)
    go.set()


def test_a_session_has_at_most_500_calls(check_paper: CheckPaper, tmp_path: Path) -> None:
    refused = check_paper("mcp", "--folder", tmp_path, "--lm", "openai/local", "--max-calls", 501)
    assert refused.code == 2
    assert "--max-calls: '501' is too large; expected at most 500" in refused.err
    assert len(refused.err.splitlines()) == 1
