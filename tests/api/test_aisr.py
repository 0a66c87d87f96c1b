"""`import aisr`: the one way in from Python."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import dspy
import pytest

import aisr
import aisr.task
import aisr.text
from aisr.metrics.scores import Scores
from aisr.programs.registry import find_task
from support.commands import run
from support.corpora import citation_row, claim_row, read_rows, write
from support.loopback import Loopback, judged
from support.paths import ROOT, SAMPLE
from support.runs import save_program

KEY = "sk-planted-3b77e0"
REFUSES = "The model refuses to judge it."
REFUSED = {
    "track1": claim_row(None, evidence_bundle=[{"type": "text", "text": REFUSES}]),
    "track2": citation_row(None, text=REFUSES),
}


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    """Saves the uncompiled program of a task as an artifact folder."""

    def save(name: str, **options: Any) -> Path:
        task = find_task(name)
        return save_program(tmp_path / "artifacts" / name / "plain", task, task.build(options))

    return save


def sample(task: str, count: int = 5) -> list[dict[str, Any]]:
    return read_rows(SAMPLE / task / "test-inputs.jsonl")[:count]


@pytest.mark.parametrize("task", ["track1", "track2"])
def test_all_ways_say_what_the_command_says(
    task: str, saved: Callable[..., Path], loopback: Loopback, tmp_path: Path
) -> None:
    folder, records, out = saved(task), sample(task), tmp_path / "out.jsonl"
    records[2] |= REFUSED[task]
    loopback.reply = lambda request: "I refuse." if "refuses" in request.question else judged(request)
    words = ["predict", "--task", task, "--program", folder, "--data", write(tmp_path / "in.jsonl", records)]
    finished = run(*words, "--out", out, "--lm", "openai/local", "--api-base", loopback.url)
    assert finished.code == 1, finished.err  # a record failed
    expected = read_rows(out)
    assert "failed" in expected[2]
    for line in expected:
        line.pop("probabilities", None)

    dspy.cache.reset_memory_cache()  # another process
    program, lm = aisr.load(folder), aisr.open_lm("openai/local", api_base=loopback.url)

    async def awaited() -> list[aisr.Verdict]:
        return list(await asyncio.gather(*(program.ajudge(record, lm) for record in records)))

    ways = [[program.judge(record, lm) for record in records], list(program.judge_all(iter(records), lm))]
    # From the cache, where the command's answers are; failed records are sent again each time, with a repair.
    assert lm.spend["calls"] == 2 * 2 < int(lm.spend["cached_calls"] or 0)
    for results in [*ways, asyncio.run(awaited())]:
        assert [one.line for one in results] == expected
    assert (program.task, lm.spec) == (task, "openai/local")
    assert re.fullmatch("[0-9a-f]{16}", program.digest)


def test_a_bad_record_is_named_with_its_field(saved: Callable[..., Path], loopback: Loopback) -> None:
    program, lm = aisr.load(saved("track1")), aisr.open_lm("openai/local", api_base=loopback.url)
    with pytest.raises(aisr.UserError, match=r"^evidence_bundle: missing"):
        program.judge({"claim_text": "x"}, lm)
    bad: Any = ["x"]
    results = program.judge_all([claim_row(None), bad], lm)
    assert next(results).answer == {"labels": ["Supported"]}  # what stands before it is judged
    with pytest.raises(aisr.UserError, match=r"^records\[1\]: a list; expected a dict such as a line of a JSONL file"):
        next(results)


def test_pictures_are_where_the_caller_says(saved: Callable[..., Path], loopback: Loopback, tmp_path: Path) -> None:
    folder, lm = saved("track1", picture_mode="image"), aisr.open_lm("openai/local", api_base=loopback.url)
    (record,) = sample("track1", 1)
    with pytest.raises(aisr.UserError, match="needs to know where the pictures are; give image_root"):
        aisr.load(folder).judge(record, lm)
    with pytest.raises(aisr.UserError, match=r"image_root .*: no such folder"):
        aisr.load(folder, image_root=tmp_path / "nowhere")
    loopback.reply = lambda request: json.dumps({"sentence_labels": ["Supported"] * len(record["sentence_label"])})
    assert aisr.load(folder, image_root=SAMPLE, artifacts=tmp_path).judge(record, lm).answer is not None
    assert "data:image/jpeg;base64" in json.dumps(loopback.requests[-1].body)
    with pytest.raises(aisr.LMUnavailable, match="takes no pictures"):
        aisr.load(folder, image_root=SAMPLE).judge_all([record], aisr.open_lm("embedded"))
    with pytest.raises(aisr.LMUnavailable, match=r"^lm is missing; name the LM: .* with api_base .*`embedded`"):
        aisr.open_lm()


def test_what_would_meet_every_record_is_an_error_without_the_key(
    saved: Callable[..., Path], loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    error = json.dumps({"error": {"message": f"wrong key {KEY} at {loopback.url}", "type": "auth"}})
    loopback.reply = lambda request: (401, error)
    program, lm = aisr.load(saved("track1")), aisr.open_lm("openai/local", api_base=loopback.url)
    with pytest.raises(aisr.LMUnavailable, match="HTTP 401: wrong key <OPENAI_API_KEY> at ") as refused:
        program.judge(claim_row(None), lm)
    assert refused.value.__cause__ is None  # a traceback would show the answer of the server
    assert refused.value.__suppress_context__


def test_a_limit_ends_it_after_what_was_judged(saved: Callable[..., Path], loopback: Loopback) -> None:
    lm = aisr.open_lm("openai/local", api_base=loopback.url, threads=1, max_calls=2)
    loopback.reply = judged
    results = aisr.load(saved("track1")).judge_all(sample("track1"), lm)
    assert next(results).answer
    assert next(results).answer
    with pytest.raises(aisr.LMUnavailable, match="2 LM calls were sent and max_calls is 2"):
        next(results)
    assert (lm.spend["calls"], len(loopback.requests)) == (2, 2)
    assert lm.exhausted_reason == "2 LM calls were sent and max_calls is 2"


def test_a_program_that_is_not_there_or_was_changed_is_refused_and_nothing_is_made(
    saved: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with pytest.raises(aisr.UserError, match=r"no program\.json in there"):
        aisr.load("track1/plain")
    with pytest.raises(aisr.UserError, match=r"no MLflow store in .*elsewhere/artifacts; expected"):
        aisr.load("models:/aisr-track1@champion")
    folder = saved("track1")
    (folder / "manifest.json").write_text('{"digest": "0123456789abcdef"}', encoding="utf-8")
    with pytest.raises(aisr.UserError, match=r"digest .*[0-9a-f]{16}.* compiled with 0123456789abcdef"):
        aisr.load(folder)
    assert list(elsewhere.iterdir()) == []


def test_a_verdict_has_label_probabilities_and_evidence(saved: Callable[..., Path], loopback: Loopback) -> None:
    labels = ["Supported", "Contradiction"]
    loopback.reply = lambda request: json.dumps(
        {"sentence_labels": labels, "how_sure": ["90, Contradiction 5", "of no use"]}
    )
    record = claim_row(None, None, id="a")
    record["evidence_bundle"].append({"type": "table", "text": "Scores.\n| a | 1 |\n| b | 2 |", "img_path": "t.png"})
    program = aisr.load(saved("track1", verbalized_confidence=True))
    verdict = program.judge(record, aisr.open_lm("openai/local", api_base=loopback.url))
    assert verdict.labels == tuple(labels)
    known, unknown = verdict.probabilities
    assert unknown is None  # a single vote says nothing of how likely it is
    assert known is not None
    assert list(known) == list(program.labels)
    assert known["Supported"] == pytest.approx(0.9)
    assert sum(known.values()) == pytest.approx(1)
    shown = verdict.evidence[-1]
    assert (shown.key, shown.picture, shown.chosen) == ("table 1", "t.png", 0)
    assert shown.lines == ("Scores.", "a | 1", "b | 2")


def test_named_evidence_comes_with_its_place(saved: Callable[..., Path], loopback: Loopback) -> None:
    loopback.reply = lambda request: json.dumps({"label": "Supported", "evidence_ids": ["P2"]})
    paper = [{"P1": "Pears keep for long."}, {"P2": "Quinces keep for longer than pears."}]
    record = {"id": "a", "claim_text": "Quinces keep.", "cited_paper_full_text": paper}
    verdict = aisr.load(saved("track2")).judge(record, aisr.open_lm("openai/local", api_base=loopback.url))
    assert [(one.key, one.chosen) for one in verdict.evidence] == [("P1", 2), ("P2", 1)]
    assert verdict.answer is not None
    assert verdict.answer["evidence_para_ids"] == ["P2", "P1"]


def test_an_uncompiled_program_judges(loopback: Loopback) -> None:
    lm = aisr.open_lm("openai/local", api_base=loopback.url)
    program = aisr.uncompiled("track1", lm)
    loopback.reply = judged
    assert program.judge(claim_row(None), lm).answer == {"labels": ["Supported"]}
    assert program.test_scores is None
    with pytest.raises(aisr.UserError, match="track1: no option 'temperature'; options: "):
        aisr.uncompiled("track1", lm, temperature=1)
    with pytest.raises(aisr.UserError, match="task 'track9': expected one of: track1, track2"):
        aisr.uncompiled("track9", lm)


def test_an_estimate_sends_nothing(loopback: Loopback) -> None:
    lm = aisr.open_lm("openai/local", api_base=loopback.url, price=(1.0, 2.0))
    dry = lm.estimating()
    program = aisr.uncompiled("track2", dry)
    assert all(verdict.answer for verdict in program.judge_all(sample("track2", 3), dry))
    assert dry.spend["calls"] == 3
    assert float(dry.spend["usd"] or 0) > 0
    assert (lm.spend["calls"], loopback.requests) == (0, [])


def test_a_question_of_ones_own_is_asked_with_a_check(loopback: Loopback) -> None:
    lm = aisr.open_lm("openai/local", api_base=loopback.url)
    predict = dspy.Predict("question -> colour")
    answers = iter(["grey", "red", "grey", "grey"])
    loopback.reply = lambda request: json.dumps({"colour": next(answers)})

    def check(answer: dspy.Prediction) -> str | None:
        return None if answer.colour == "red" else f"{answer.colour} is no colour"

    with lm.context():
        assert aisr.ask(predict, check, question="Which?").colour == "red"
    assert "grey is no colour" in loopback.requests[-1].question
    with lm.context(), pytest.raises(aisr.UnusableAnswer, match="also after one repair: grey is no colour"):
        aisr.ask(predict, check, question="Which one?")
    loopback.reply = lambda request: (400, "{}")
    with pytest.raises(aisr.UnusableAnswer, match="LMInvalidRequestError"), lm.context():
        aisr.ask(predict, question="Why?")
    loopback.reply = lambda request: (401, "{}")
    with pytest.raises(aisr.LMUnavailable), lm.context():
        aisr.ask(predict, question="Why not?")


def test_the_public_names_are_listed_and_there() -> None:
    for module in (aisr, aisr.task, aisr.text):
        assert attrgetter(*module.__all__)(module)
        assert set(module.__all__) <= set(dir(module))
    assert aisr.task.Scores is Scores  # not the first of several modules with that name


def test_records_of_a_task_cost_no_import_of_dspy() -> None:
    code = "import sys, aisr, aisr.text, aisr.task; aisr.task.SentenceRecord, aisr.task.EvidenceItem; "
    code += "aisr.UserError, aisr.LMUnavailable; print({'dspy', 'mlflow', 'litellm', 'scipy'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


@pytest.mark.slow
def test_the_lines_of_the_readme_run(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (block,) = re.findall(r"```python\n(import aisr.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    lines = (SAMPLE / "track1" / "train.jsonl").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "traindev-track-1.jsonl").write_text("".join(lines[:40]), "utf-8")
    write(tmp_path / "data" / "testp1-track-1.jsonl", sample("track1"))
    loopback.reply = judged
    lm = aisr.open_lm("openai/local", api_base=loopback.url, price=(0, 0))
    monkeypatch.setattr(aisr, "open_lm", lambda *arguments, **options: lm)
    monkeypatch.chdir(tmp_path)
    exec(block, {})
    assert "artifacts/track1/first\n" in capsys.readouterr().out
    assert (tmp_path / "runs" / "p1.zip").is_file()


@pytest.mark.parametrize("limit", [float("nan"), -1.0])
def test_a_limit_that_would_bound_nothing_is_refused(limit: float) -> None:
    with pytest.raises(aisr.UserError, match="expected a finite number of 0 or more"):
        aisr.open_lm("openai/local", api_base="http://127.0.0.1:9/v1", price=(1.0, 2.0), max_usd=limit)
