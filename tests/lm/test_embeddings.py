"""Embeddings of a retriever: sent to the server of the options, counted, limited, and one failure is one
failed record."""

import json
from pathlib import Path
from typing import Any

import pytest

from aisr.programs.track2 import TRACK2
from support.commands import Aisr
from support.corpora import beginning, read_rows, write
from support.embedder import embed_letters, is_embedding, texts
from support.faults import refused
from support.loopback import HttpRequest, Loopback, Reply, judged, prompt_tokens, serve
from support.paths import SAMPLE
from support.runs import predict_words

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
