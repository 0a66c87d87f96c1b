"""A compile warns where the confidences that it asks for are of no use."""

import json
from pathlib import Path

import pytest

from support import scripted
from support.commands import Aisr
from support.loopback import HttpRequest, Loopback, claim_label
from support.paths import SAMPLE


@pytest.mark.parametrize(("stated", "warned"), [("rather", True), ("80", False)])
def test_a_compile_warns_where_no_stated_confidence_can_be_used(
    stated: str, warned: bool, aisr: Aisr, tmp_path: Path, loopback: Loopback
) -> None:
    def reply(request: HttpRequest) -> str:
        sentences = json.loads(scripted.field(request.question, "sentences") or "[]")
        labels = [claim_label(sentence) for sentence in sentences]
        return scripted.written(request.question, {"sentence_labels": labels, "how_sure": [stated] * len(labels)})

    loopback.reply = reply
    done = aisr(
        *("compile", "--task", "track1", "--data", SAMPLE / "track1", "--artifacts", tmp_path, "--name", "it"),
        *("--no-track", "--lm", "openai/local", "--api-base", loopback.url, "--optimizer", "labeled"),
        "--max-train",
        "8",
        "--max-dev",
        "6",
        "--max-test",
        "4",
        "-L",
        "logprobs=false",
    )
    assert done.code == 0, done.err
    assert ("warning: " in done.out and "came with no confidence that can be used" in done.out) == warned
