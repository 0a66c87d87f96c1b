"""The way from a file of records to a submission, as a user walks it with commands."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support.corpora import Row, read_rows, write
from support.loopback import HttpRequest, Loopback, serve

Aisr = Callable[..., Any]


def replying(rule: Callable[[HttpRequest], str]) -> Any:
    """A fixture: a loopback server that answers by a rule."""

    @pytest.fixture
    def server() -> Iterator[Loopback]:
        with serve() as running:
            running.reply = rule
            yield running

    return server


class Walk(NamedTuple):
    """The result of a walk."""

    output: dict[str, str]  # of each command, by its name
    folder: Path  # the program's
    manifest: dict[str, Any]
    gold: list[Row]  # the records of test
    inputs: Path  # the same without their gold
    predictions: Path
    report: dict[str, Any]  # the score of the predictions
    packed: Path


def walk(
    server: Loopback, artifacts: Path, aisr: Aisr, task: str, rows: Sequence[Row], hidden: Sequence[str], *words: Any
) -> Walk:
    """Check, split, estimate, compile, evaluate, predict by the registered champion, score, submit, and look at it.
    hidden: the fields that hold gold; words: options of the compile."""
    place, at, output = artifacts.parent, ["--task", task], dict[str, str]()
    lm = ["--lm", "openai/local", "--api-base", server.url, "--artifacts", artifacts]

    def do(command: str, *more: Any) -> None:
        done = aisr(command, *more)
        assert done.code == 0, f"{command}: {done.err}"
        output[command] = done.out

    file, data, folder = write(place / "all.jsonl", rows), place / "split", artifacts / task / "mine"
    do("check", file, *at)
    assert f"{len(rows)} good records, 0 bad lines" in output["check"]
    do("split", file, *at, "--out", data, "--parts", "2:1:1")
    compiling = [*at, "--data", data, "--set", "search.candidates=1", "--demos", 2, "--name", "mine", *words, *lm]
    do("compile", *compiling, "--estimate", "--set", "lm.price=0.15,0.6")
    assert re.search(r"LM calls, .* prompt .*USD", output["compile"])
    do("compile", *compiling)
    do("evaluate", *at, "--program", folder, "--data", data / "test.jsonl", *lm)
    gold = read_rows(data / "test.jsonl")
    bare = [{key: value for key, value in row.items() if key not in hidden} for row in gold]
    inputs, out, packed = write(place / "inputs.jsonl", bare), place / "predictions.jsonl", place / "submission"
    do("predict", *at, "--program", f"models:/aisr-{task}@champion", "--data", inputs, "--out", out, *lm)
    do("score", data / "test.jsonl", out, *at, "--output", place / "score.json")
    do("submit", *at, "--data", inputs, "--predictions", out, "--out", packed)
    do("report", folder, "--artifacts", artifacts)
    do("inspect", folder, "--artifacts", artifacts)
    do("techreport", folder, "--out", place / "tech.md", "--artifacts", artifacts)
    manifest, report = (json.loads(file.read_text()) for file in (folder / "manifest.json", place / "score.json"))
    assert report["score"] == pytest.approx(manifest["scores"]["test"]["score"])
    return Walk(output, folder, manifest, gold, inputs, out, report, packed)
