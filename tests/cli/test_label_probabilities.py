"""A model without log-probabilities, from compile to predictions: it states its chances, and what came of it shows."""

import json
import re
from pathlib import Path

from aisr.programs.questions import CONFIDENCE
from support.commands import Aisr
from support.compiled import FEW
from support.corpora import read_rows
from support.loopback import HttpRequest, Loopback, judged
from support.paths import SAMPLE


def stating(request: HttpRequest) -> str:
    """The labels of `judged`; sure of all but the second, of which no readable number comes."""
    answer = json.loads(judged(request))
    count = len(answer["sentence_labels"])
    return json.dumps(
        {**answer, CONFIDENCE: ["very" if k == 1 else f"{90 - k}, Contradiction 5" for k in range(count)]}
    )


def test_chances_are_asked_for_by_default_and_what_is_unusable_is_counted(
    aisr: Aisr, artifacts: Path, loopback: Loopback
) -> None:
    loopback.reply = stating
    lm = ["--lm", "openai/local", "--api-base", loopback.url, "--artifacts", artifacts]
    at = ["--task", "track1", "--data", SAMPLE / "track1", "--optimizer", "labeled", "--name", "stated", "--no-track"]
    finished = aisr("compile", *at, *FEW, *lm)
    assert finished.code == 0, finished.err
    folder = artifacts / "track1" / "stated"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["options"]["states"] is True
    sources = manifest["decision"]["sources"]
    assert set(sources) == {"stated", "vote"}
    assert f"{sources['vote']} of {sum(sources.values())} labels came with no usable" in " ".join(finished.out.split())
    with_demos = next(request for request in loopback.requests if request.has_demos)
    answers = [message["content"] for message in with_demos.body["messages"] if message["role"] == "assistant"]
    assert answers
    assert not any(re.search(r'"\d+, [A-Z]', text) for text in answers)  # demos make up no chances

    out = artifacts / "predicted.jsonl"
    data = artifacts / "few.jsonl"
    data.write_text("".join((SAMPLE / "track1" / "test.jsonl").read_text().splitlines(keepends=True)[:4]))
    words = ["--task", "track1", "--program", folder, "--data", data, "--out", out]
    assert aisr("predict", *words, *lm).code == 0
    for line in read_rows(out):
        # One label of each longer paragraph is a vote, unless a fitted layer made a probability of it.
        kept = manifest["decision"]["kept"] is not None
        assert (None not in line["probabilities"]) == (kept or len(line["labels"]) == 1)
