"""`import aisr`: the one way in from Python."""

import asyncio
import json
import re
import threading
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

import aisr
from aisr.artifact.program import program_text
from aisr.predict.judge import AHEAD
from aisr.programs.registry import find_task
from support.commands import run
from support.corpora import claim, read_rows, write
from support.loopback import HttpRequest, Loopback, judged
from support.paths import ROOT, SAMPLE

KEY = "sk-planted-3b77e0"


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    """Saves the uncompiled program of a task as an artifact folder."""

    def save(task: str, **options: Any) -> Path:
        program = find_task(task).build(options)
        folder = tmp_path / "artifacts" / task / "plain"
        folder.mkdir(parents=True)
        (folder / "program.json").write_text(program_text(find_task(task), program), encoding="utf-8")
        return folder

    return save


def sample(task: str, count: int = 5) -> list[dict[str, Any]]:
    return read_rows(SAMPLE / task / "test-inputs.jsonl")[:count]


async def collected(many: Any) -> list[aisr.Judged]:
    return [one async for one in many]


@pytest.mark.parametrize("task", ["track1", "track2"])
def test_all_four_ways_say_what_the_command_says(
    task: str, saved: Callable[..., Path], loopback: Loopback, tmp_path: Path
) -> None:
    loopback.reply = lambda request: "I refuse." if "refuses" in request.question else judged(request)
    folder, records, out = saved(task), sample(task), tmp_path / "out.jsonl"
    records[2]["claim_text"] = "a claim that the model refuses to judge"
    for sentence in records[2].get("sentence_label", []):
        sentence["sentence"] = "A sentence that the model refuses to judge."
    words = ["predict", "--task", task, "--program", folder, "--data", write(tmp_path / "in.jsonl", records)]
    finished = run(*words, "--out", out, "--lm", "openai/local", "--api-base", loopback.url)
    assert finished.code == 1, finished.err  # a record failed
    expected = [{key: value for key, value in line.items() if key != "probabilities"} for line in read_rows(out)]
    assert "failed" in expected[2]

    program, lm = aisr.load(folder), aisr.open_lm("openai/local", api_base=loopback.url)

    async def awaited() -> tuple[list[aisr.Judged], list[aisr.Judged]]:
        async with aclosing(lm):
            one_by_one = [await program.ajudge(record, lm) for record in records]
            return one_by_one, await collected(program.ajudge_all(iter(records), lm))

    ways = [[program.judge(record, lm) for record in records], list(program.judge_all(iter(records), lm))]
    # From the cache, where the command's answers are; failed records are sent again each time, with a repair.
    assert lm.spend["calls"] == 2 * 2 < int(lm.spend["cached_calls"] or 0)
    for results in [*ways, *asyncio.run(awaited())]:
        assert [one.line for one in results] == expected
    assert (program.task, lm.spec) == (task, "openai/local")
    assert re.fullmatch("[0-9a-f]{16}", program.digest)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"claim_text": "x"}, "evidence_bundle: Field required"),
        (["x"], "a list; expected a dict such as a line of a JSONL file, of track1"),
    ],
    ids=["missing field", "a list"],
)
def test_a_bad_record_is_named_with_its_field(
    record: Any, message: str, saved: Callable[..., Path], loopback: Loopback
) -> None:
    program, lm = aisr.load(saved("track1")), aisr.open_lm("openai/local", api_base=loopback.url)
    with pytest.raises(aisr.BadRecord, match=f"^{re.escape(message)}"):
        program.judge(record, lm)
    with pytest.raises(aisr.BadRecord, match=f"^{re.escape(message)}"):
        asyncio.run(program.ajudge(record, lm))
    results = program.judge_all([claim(None), record], lm)
    assert next(results).answer == {"labels": ["Supported"]}  # what stands before it is judged
    with pytest.raises(aisr.BadRecord, match=rf"^records\[1\]: {re.escape(message)}"):
        next(results)
    with pytest.raises(aisr.BadRecord, match=r"^records\[1\]"):
        asyncio.run(collected(program.ajudge_all([claim(None), record], lm)))


def test_pictures_are_where_the_caller_says(saved: Callable[..., Path], loopback: Loopback, tmp_path: Path) -> None:
    folder, lm = saved("track1", evidence="image"), aisr.open_lm("openai/local", api_base=loopback.url)
    (record,) = sample("track1", 1)
    with pytest.raises(aisr.BadRecord, match="needs to know where the pictures are; give image_root"):
        aisr.load(folder).judge(record, lm)
    with pytest.raises(aisr.BadProgram, match=r"image_root .*: no such folder"):
        aisr.load(folder, image_root=tmp_path / "nowhere")
    loopback.reply = lambda request: json.dumps({"sentence_labels": ["Supported"] * len(record["sentence_label"])})
    assert aisr.load(folder, image_root=SAMPLE, artifacts=tmp_path).judge(record, lm).answer is not None
    assert "data:image/jpeg;base64" in json.dumps(loopback.requests[-1].body)
    program, blind = aisr.load(folder, image_root=SAMPLE), aisr.open_lm()
    for judge in (
        lambda: program.judge(record, blind),
        lambda: program.judge_all([record], blind),
        lambda: asyncio.run(program.ajudge(record, blind)),
        lambda: asyncio.run(collected(program.ajudge_all([record], blind))),
    ):
        with pytest.raises(aisr.LMUnavailable, match="takes no pictures"):
            judge()


def test_what_would_meet_every_record_is_an_error_without_the_key(
    saved: Callable[..., Path], loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    error = json.dumps({"error": {"message": f"wrong key {KEY} at {loopback.url}", "type": "auth"}})
    loopback.reply = lambda request: (401, error)
    program, lm = aisr.load(saved("track1")), aisr.open_lm("openai/local", api_base=loopback.url)
    for judge in (lambda: program.judge(claim(None), lm), lambda: list(program.judge_all([claim(None)], lm))):
        with pytest.raises(aisr.LMUnavailable, match="wrong key <OPENAI_API_KEY> at <address>") as refused:
            judge()
        assert refused.value.__cause__ is None  # a traceback would show the answer of the server
        assert refused.value.__suppress_context__


def test_a_limit_ends_it_after_what_was_judged(saved: Callable[..., Path], loopback: Loopback) -> None:
    lm = aisr.open_lm("openai/local", api_base=loopback.url, threads=1, max_calls=2)
    rows = [claim(None) for _ in range(9)]
    for number, row in enumerate(rows):
        row["sentence_label"][0]["sentence"] = f"Sentence of record {number}."
    results = aisr.load(saved("track1")).judge_all(rows, lm)
    assert [next(results).answer, next(results).answer] == [{"labels": ["Supported"]}] * 2
    with pytest.raises(aisr.LMUnavailable, match="2 LM calls were sent and max_calls is 2"):
        next(results)
    assert (lm.spend["calls"], len(loopback.requests)) == (2, 2)


def test_a_program_that_is_not_there_or_was_changed_is_refused_and_nothing_is_made(
    saved: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with pytest.raises(aisr.BadProgram, match=r"no program\.json in there"):
        aisr.load("track1/plain")
    with pytest.raises(aisr.BadProgram, match=r"no MLflow store in .*elsewhere/artifacts; expected"):
        aisr.load("models:/aisr-track1@champion")
    folder = saved("track1")
    (folder / "manifest.json").write_text('{"digest": "0123456789abcdef"}', encoding="utf-8")
    with pytest.raises(aisr.BadProgram, match=r"digest .*[0-9a-f]{16}.* manifest.json says 0123456789abcdef"):
        aisr.load(folder)
    assert list(elsewhere.iterdir()) == []


def test_an_event_loop_keeps_the_order_too_and_may_stop_early(saved: Callable[..., Path], loopback: Loopback) -> None:
    """The server answers the first record only when the second was sent."""
    second = threading.Event()

    def reply(request: HttpRequest) -> str:
        if "record 0" in request.question:
            assert second.wait(30)
        if "record 1" in request.question:
            second.set()
        return judged(request)

    loopback.reply = reply
    program, lm = aisr.load(saved("track1")), aisr.open_lm("openai/local", api_base=loopback.url, threads=2)
    rows = [claim(None, id=f"r{number}") for number in range(40)]
    for number, row in enumerate(rows):
        row["sentence_label"][0]["sentence"] = f"Sentence of record {number}."
    left = iter(rows)

    async def stopped() -> list[str]:
        ids: list[str] = []
        async with aclosing(lm), aclosing(program.ajudge_all(left, lm)) as results:
            async for one in results:
                ids.append(one.id)
                if len(ids) == 3:
                    break
        assert asyncio.all_tasks() == {asyncio.current_task()}  # nobody goes on asking
        return ids

    assert asyncio.run(stopped()) == ["r0", "r1", "r2"]
    assert len(list(left)) >= len(rows) - AHEAD * 2 - 3


def test_the_five_lines_of_the_readme_run(
    saved: Callable[..., Path], loopback: Loopback, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = re.findall(r"```python\n(import aisr\n.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert len([line for line in block.splitlines() if line]) == 5
    program, lm = aisr.load(saved("track1")), aisr.open_lm("openai/local", api_base=loopback.url)
    monkeypatch.setattr(aisr, "load", lambda *arguments: program)
    monkeypatch.setattr(aisr, "open_lm", lambda *arguments, **options: lm)
    exec(block, {"records": [claim(None, id="a"), claim(None, id="b")]})
    assert capsys.readouterr().out == "a {'labels': ['Supported']}\nb {'labels': ['Supported']}\n"
