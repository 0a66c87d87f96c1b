"""A teacher has a server and a price of its own, and records go to no other than was said."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.commands import Aisr
from support.loopback import Loopback, serve
from support.paths import SAMPLE

FEW = ("--max-train", 8, "--max-dev", 4, "--max-test", 2, "--candidates", 2, "--demos", 2, "--budget", "light")
TEACHER = ["--teacher-lm", "openai/strong"]


def compile_(aisr: Aisr, tmp_path: Path, student: Loopback, *words: object) -> Any:
    at = ["--task", "track1", "--data", SAMPLE / "track1", "--lm", "openai/weak", "--api-base", student.url]
    return aisr("compile", *at, "--artifacts", tmp_path, "--name", "taught", "--no-track", *FEW, *words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (TEACHER, "teacher.api_base=ADDRESS, the same one if it serves both, or -L teacher.api_base=provider"),
        ([*TEACHER, "-L", "teacher.api_base=provider"], "--teacher-lm openai/strong needs OPENAI_API_KEY"),
        (
            [*TEACHER, "-L", "teacher.api_base=http://127.0.0.1:9", "--max-usd", "1", "-L", "price=0,0"],
            "the price of openai/strong is unknown; give it by -L teacher.price=",
        ),
    ],
)
def test_what_cannot_be_a_teacher_is_refused_by_the_name_of_its_option(
    aisr: Aisr, tmp_path: Path, loopback: Loopback, words: list[str], message: str
) -> None:
    finished = compile_(aisr, tmp_path, loopback, *words)
    assert finished.code == 2
    assert message in finished.err
    assert loopback.requests == []


@pytest.mark.parametrize(
    ("optimizer", "teacher", "prompt"),
    [("gepa", "strong", "Quote no sentence .*Over all [0-9]+ labels"), ("mipro", "o3", "## tip ##")],
)
def test_each_server_is_asked_for_its_own_model(
    aisr: Aisr, tmp_path: Path, loopback: Loopback, optimizer: str, teacher: str, prompt: str
) -> None:
    with serve() as other:
        lm = ["--teacher-lm", f"openai/{teacher}", "-L", f"teacher.api_base={other.url}"]
        finished = compile_(aisr, tmp_path, loopback, *lm, "--optimizer", optimizer)
    assert finished.code == 0, finished.err
    for server, model in ((loopback, "weak"), (other, teacher)):
        assert {request.body["model"] for request in server.requests} == {model}
    assert any(re.search(prompt, request.question) for request in other.requests)
    if optimizer == "gepa":
        assert any("; right is " in request.question for request in other.requests)
    manifest = (tmp_path / "track1" / "taught" / "manifest.json").read_text(encoding="utf-8")
    assert json.loads(manifest)["teacher"]["spec"] == f"openai/{teacher}"
    assert other.url not in manifest
    assert "teacher.api_base=ADDRESS" in json.loads(manifest)["command"]


def test_a_teacher_that_never_answers_is_told_of(aisr: Aisr, tmp_path: Path, loopback: Loopback) -> None:
    with serve() as other:
        other.reply = lambda request: (401, json.dumps({"error": {"message": "no such key"}}))
        lm = [*TEACHER, "-L", f"teacher.api_base={other.url}"]
        finished = compile_(aisr, tmp_path, loopback, *lm, "--optimizer", "random-search")
        assert other.requests
    assert finished.code == 2
    assert re.search(r"every call of the teacher, openai/strong, failed, the first with LMAuthError: ", finished.err)
    assert "than uncompiled" not in finished.out
    assert not (tmp_path / "track1" / "taught" / "program.json").exists()
