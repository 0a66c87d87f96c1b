"""Context24's text task walks the way of every task: check, split, compile, evaluate, predict, submit, export."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aisr.base.errors import UserError, exit_code
from aisr.metrics.context24_text import score_official, snippets
from aisr.programs.context24_text import convert as context24_text_data
from aisr.programs.context24_text.record import Context24TextRecord
from aisr.programs.context24_text.task import CONTEXT24_TEXT
from aisr.programs.records import read
from support.context24_text import claim, lines
from support.corpora import read_rows
from support.loopback import HttpRequest, Loopback
from support.paths import SAMPLE
from support.scripted import written
from support.walks import replying, walk

Aisr = Callable[..., Any]
TEXT = SAMPLE / "context24-text"
SIDES = ("train", "dev", "test")


def reader(request: HttpRequest) -> str:
    """Chooses the longest sentences once demos show it that gold ones have particulars; the first one before."""
    shown = lines(request.question)
    longest = sorted(shown, key=lambda key: -len(shown[key]))[:3]
    return written(request.question, {"chosen": longest if request.has_demos else list(shown)[:1]})


server = replying(reader)


def records(side: str) -> list[dict[str, Any]]:
    return read_rows(TEXT / f"{side}.jsonl")


def test_the_walk(server: Loopback, artifacts: Path, aisr: Aisr, tmp_path: Path) -> None:
    rows = [{**row, "id": f"c{k}"} for k, row in enumerate(row for side in SIDES for row in records(side))]
    words = ["--optimizer", "labeled", "-T", "sentences=4"]
    walked = walk(server, artifacts, aisr, "context24-text", rows, ["context"], *words)
    assert "weights of the features of sentences on method" in walked.output["compile"]
    assert "no-LM baseline" in walked.output["compile"]
    assert walked.manifest["options"]["strategy"] == "method"
    assert walked.manifest["champion"].startswith("labeled")
    scores = walked.manifest["scores"]
    assert {"rouge_1", "rouge_2", "rouge_l"} <= set(scores["test"])
    assert scores["test"]["score"] == scores["test"]["rouge_l"] > scores["baseline_test"]["score"]
    saved = json.loads((walked.folder / "program.json").read_text())
    assert len(saved["state"]["ground"]["demos"]) == 2
    assert saved["learnt"]["weights"]
    assert "ROUGE-L" in walked.output["evaluate"]
    assert "divided by their number" in walked.output["evaluate"]
    assert "fitted to the gold passages of train" in walked.output["inspect"]

    (tmp_path / "gold.json").write_text(json.dumps(walked.gold))
    official = score_official(snippets(tmp_path / "gold.json"), snippets(walked.packed))
    assert official.rougeL == pytest.approx(scores["test"]["score"])
    assert set(json.loads(walked.packed.read_text())[0]) == {"id", "citekey", "dataset", "context"}
    chats = tmp_path / "chats.jsonl"
    exported = aisr("export", "--task", "context24-text", "--data", TEXT / "train.jsonl", "--out", chats)
    assert exported.code == 0, exported.err
    chat = read_rows(chats)[0]["messages"]
    assert [message["role"] for message in chat] == ["system", "user", "assistant"]
    assert re.search(r"S\d", chat[2]["content"])


def test_a_strategy_without_lm_is_compiled_and_sends_nothing(
    server: Loopback, artifacts: Path, aisr: Aisr, tmp_path: Path
) -> None:
    lm = ["--lm", "openai/local", "--api-base", server.url, "--artifacts", artifacts]
    words = ["compile", "--task", "context24-text", "--data", TEXT, "--optimizer", "knn", "-T", "strategy=sentences"]
    estimated = aisr(*words, "--estimate", *lm)
    assert "0 LM calls" in estimated.out, estimated.out + estimated.err
    done = aisr(*words, "--name", "nolm", "--no-track", *lm)
    assert done.code == 0, done.err
    assert not server.requests
    scores = json.loads((artifacts / "context24-text" / "nolm" / "manifest.json").read_text())["scores"]
    assert scores["test"]["score"] == scores["no_lm_test"]["score"]


def test_what_the_scorer_would_refuse_is_told_and_not_written(tmp_path: Path) -> None:
    problem = CONTEXT24_TEXT.submission.problem
    assert problem(claim(), ("a",)) is None
    assert "no snippet" in (problem(claim(), ()) or "")
    assert "snippet 2 is blank" in (problem(claim(), ("a", " ")) or "")
    line = {"id": "a", "citekey": "", "dataset": "", "context": ["T"]}
    write_to = CONTEXT24_TEXT.submission.write
    for bad in ([line, line], [{**line, "context": []}], [{**line, "context": [" "]}]):
        with pytest.raises(UserError, match="a: "):
            write_to(bad, tmp_path / "s.json")
        assert not (tmp_path / "s.json").exists()
    write_to([line], tmp_path / "s.json")
    assert json.loads((tmp_path / "s.json").read_text()) == [{"id": "a", "context": ["T"]}]


def imported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, claims: Any, papers: Any) -> int:
    for name, content in (("claims", claims), ("papers", papers)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    words = [str(tmp_path / "claims.json"), "--papers", str(tmp_path / "papers.json")]
    monkeypatch.setattr("sys.argv", ["data", *words, "--out", str(tmp_path / "out.jsonl")])
    return exit_code(context24_text_data.main)


CLAIM = {"id": "x-1", "claim": "Moss grows.", "citekey": "moss", "dataset": "field", "context": ["Of moss."]}


def test_the_organisers_files_become_records(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in ("Of moss.\n\nAnd\nof shade.", ["Of moss.", " ", "And\nof shade."]):
        assert imported(monkeypatch, tmp_path, [CLAIM], {"moss": text, "other": "…"}) == 0
        assert "1 claims" in capsys.readouterr().out
        (record,) = read(tmp_path / "out.jsonl", Context24TextRecord, "context24-text")
        assert record.paragraphs == ["Of moss.", "And of shade."]
        assert (record.id, record.gold, record.citekey) == ("x-1", ("Of moss.",), "moss")


@pytest.mark.parametrize(
    ("claims", "papers", "message"),
    [
        ([CLAIM], {}, "entry 0: citekey: no paper 'moss'"),
        ([{**CLAIM, "claim": ""}], {"moss": "T"}, "entry 0: claim"),
        ([CLAIM], ["T"], "papers.json: expected"),
        ({}, {"moss": "T"}, "claims.json: expected a JSON list of claims"),
        ([CLAIM], {"moss": " "}, "moss: no text"),
    ],
)
def test_what_cannot_be_joined_is_told_and_nothing_is_written(
    claims: Any, papers: Any, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    assert imported(monkeypatch, tmp_path, claims, papers) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out.jsonl").exists()
