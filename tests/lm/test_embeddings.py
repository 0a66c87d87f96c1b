"""Embeddings of a retriever: sent to the server of the options, counted, limited, and one failure is one
failed record."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aisr.base.errors import NotEmbedded
from aisr.programs.track2 import TRACK2
from support.commands import Aisr
from support.corpora import beginning, read_rows, write
from support.embedder import embed_letters, is_embedding, opened, texts
from support.faults import refused
from support.loopback import HttpRequest, Loopback, Reply, judged, prompt_tokens, serve
from support.paths import SAMPLE
from support.runs import predict_words, save_program

HYBRID = "hybrid:openai/embedder"
REFUSED = refused(400, "such a text is not taken")


def both(request: HttpRequest) -> Reply:
    """What a server that does both answers."""
    return (200, embed_letters(request)) if is_embedding(request) else judged(request)


@pytest.fixture
def server(loopback: Loopback) -> Loopback:
    loopback.reply = both
    return loopback


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A few records of each split."""
    for side in ("train", "dev", "test"):
        beginning(SAMPLE / "track2" / f"{side}.jsonl", 4, tmp_path / f"{side}.jsonl")
    return tmp_path


def compile_(aisr: Aisr, folder: Path, server: Loopback, *words: object, name: str = "dense") -> Any:
    at = ["--task", "track2", "--data", folder, "--optimizer", "labeled", "--no-track", "--name", name]
    lm = ["--lm", "openai/judge", "--api-base", server.url, "--artifacts", folder]
    few = ["--demos", 2, "--candidates", "2", "--budget", "light"]
    return aisr("compile", *at, *lm, "-T", f"retriever={HYBRID}", *few, *words)


def test_a_compile_embeds_each_text_once_at_the_server_of_the_embeddings_and_counts_it(
    aisr: Aisr, folder: Path, server: Loopback
) -> None:
    with serve() as other:
        other.reply = both
        words = ["-L", f"embedding_api_base={other.url}"]
        finished = compile_(aisr, folder, server, *words)
        assert finished.code == 0, finished.err
        assert {is_embedding(one) and one.body["model"] for one in other.requests} == {"embedder"}
        assert not any(map(is_embedding, server.requests))
        requests = [tuple(one.body["input"]) for one in other.requests]
        assert len(requests) == len(set(requests))
        manifest = (folder / "track2" / "dense" / "manifest.json").read_text(encoding="utf-8")
        assert other.url not in manifest
        assert "-L embedding_api_base=ADDRESS" in json.loads(manifest)["command"]
        spend = json.loads(manifest)["spend"]
        assert spend["calls"] == len(server.requests) + len(requests)
        assert spend["prompt_tokens"] == 50 * len(texts(other)) + sum(map(prompt_tokens, server.requests))


def test_money_and_calls_are_limits_of_embeddings_too(aisr: Aisr, folder: Path, server: Loopback) -> None:
    price = ["-L", "price=0,0", "--max-usd", "0.001"]
    finished = compile_(aisr, folder, server, *price, "-L", "embedding_price=10")
    assert finished.code == 2
    spent = f"{50 * len(texts(server)) * 10 / 1e6:.4f} USD are spent and --max-usd is 0.001; not even the papers"
    assert spent in finished.err
    assert len(server.requests) == 1
    finished = compile_(aisr, folder, server, "--max-calls", "2", name="few")
    assert finished.code == 2
    assert "2 LM calls were sent and --max-calls is 2" in finished.err
    assert not (folder / "track2" / "few" / "program.json").exists()


def picky(request: HttpRequest) -> Reply:
    if is_embedding(request) and any("(forbidden)" in text for text in request.body["input"]):
        return REFUSED(request)
    return both(request)


def test_a_record_that_cannot_be_embedded_fails_alone(aisr: Aisr, loopback: Loopback, folder: Path) -> None:
    for side in ("train", "dev", "test"):
        rows = read_rows(folder / f"{side}.jsonl")
        rows[2]["claim_text"] += " (forbidden)"
        write(folder / f"{side}.jsonl", rows)
    loopback.reply = picky
    finished = compile_(aisr, folder, loopback)
    assert finished.code == 1, finished.err
    assert "1 of 4 records of train left out, the first not embedded by openai/embedder: LMInvalidReq" in finished.out
    made = folder / "track2" / "dense"
    manifest = json.loads((made / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["data"]["train"]["records"] == 3
    assert manifest["scores"]["test"]["failed"] == manifest["scores"]["dev"]["failed"] == 1
    state = json.loads((made / "program.json").read_text(encoding="utf-8"))["state"]
    assert all(demo["passages"] for demo in state["judge"]["demos"])

    data, out = folder / "test.jsonl", folder / "out.jsonl"
    words = predict_words(TRACK2, made, data, out, loopback.url)
    assert aisr(*words).code == 1
    lines = read_rows(out)
    assert [number for number, line in enumerate(lines) if "failed" in line] == [2]
    assert "such a text is not taken" in lines[2]["failed"]
    assert loopback.url not in out.read_text(encoding="utf-8")
    loopback.reply = both
    assert aisr(*words).code == 0


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"index": 0, "embedding": [1.0, 2.0]}, {"index": 1, "embedding": [1.0]}],
        [{"index": 0, "embedding": [float("nan")]}, {"index": 1, "embedding": [1.0]}],
    ],
    ids=str,
)
def test_an_answer_that_holds_no_embeddings_fails_the_record(loopback: Loopback, data: Any) -> None:
    body = {"object": "list", "model": "x", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    loopback.reply = lambda request: (200, json.dumps(body))
    embed = opened(loopback.url)
    with pytest.raises(NotEmbedded, match="not embedded by openai/embedder: "):
        embed(["one", "two"])


def test_rows_are_put_in_the_order_of_the_texts(loopback: Loopback) -> None:
    def backwards(request: HttpRequest) -> Reply:
        body = json.loads(embed_letters(request))
        return 200, json.dumps(body | {"data": body["data"][::-1]})

    loopback.reply = backwards
    embed = opened(loopback.url)
    assert embed(["a", "ee", "a"]).tolist() == [[2, 1, 1], [1, 3, 1], [2, 1, 1]]
    assert [one.body["input"] for one in loopback.requests] == [["a", "ee"]]


def test_a_served_program_and_a_scored_retriever_ask_the_server_that_was_said(
    aisr: Aisr, tmp_path: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aisr.serving import RegisteredProgram

    file = save_program(tmp_path / "mine", TRACK2, TRACK2.build({"retriever": HYBRID})) / "program.json"
    monkeypatch.setenv("AISR_LM", "openai/judge")
    monkeypatch.setenv("AISR_API_BASE", server.url)
    row = read_rows(SAMPLE / "track2" / "test-inputs.jsonl")[-1]
    config = {"task": "track2", "lm": "openai/judge", "schema": True, "logprobs": True}
    with serve() as other:
        other.reply = both
        monkeypatch.setenv("AISR_EMBEDDING_API_BASE", other.url)
        model = RegisteredProgram()
        model.load_context(SimpleNamespace(artifacts={"program": str(file)}, model_config=config))
        assert "label" in model.predict([row])[0]
        assert row["claim_text"] in texts(other)
        other.reply = REFUSED
        row["claim_text"] += " And more."
        assert "not embedded by openai/embedder" in model.predict([row])[0]["failed"]
        other.reply, before = both, len(other.requests)
        words = ["--retrievers", "dense:openai/embedder", "--limit", 2, "--artifacts", tmp_path]
        finished = aisr("retrieval", SAMPLE / "track2" / "test.jsonl", *words)
        assert finished.code == 0, finished.err
        assert f"{len(other.requests) - before} LM calls" in finished.out
        assert len(other.requests) > before
