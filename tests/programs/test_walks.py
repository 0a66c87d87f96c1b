"""AVeriTeC and both tasks of Context24 walk the way of every task, from a file of records to a submission, as a user
walks it with commands."""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import pytest

from aisr.base.jsonl import read_list
from aisr.metrics import averitec, context24_figures, context24_text
from support.commands import Aisr
from support.corpora import Row, read_rows, write
from support.loopback import HttpRequest, Loopback
from support.paths import SAMPLE
from support.scripted import field, written


class Walk(NamedTuple):
    """The result of a walk."""

    output: dict[str, str]  # of each command, by its name
    folder: Path  # the program's
    manifest: dict[str, Any]
    gold: Path  # the records of test
    inputs: Path  # the same without their gold
    predictions: Path
    report: dict[str, Any]  # the score of the predictions
    packed: Path


def sample(task: str) -> list[Row]:
    """The records of a task, all with ids."""
    rows = [row for side in ("train", "dev", "test") for row in read_rows(SAMPLE / task / f"{side}.jsonl")]
    return [{**row, "id": f"c{k}"} for k, row in enumerate(rows)]


@pytest.fixture
def walk(loopback: Loopback, artifacts: Path, aisr: Aisr) -> Callable[..., Walk]:
    """Checks, splits, estimates, compiles, evaluates, predicts by the registered champion, scores, submits, and looks
    at it."""

    def walk(task: str, reply: Callable[[HttpRequest], str], hidden: Iterable[str], *words: str) -> Walk:
        """hidden: the fields that hold gold; words: options of the compile."""
        loopback.reply = reply
        place, at, output = artifacts.parent, ["--task", task], dict[str, str]()
        lm = ["--lm", "openai/local", "--api-base", loopback.url, "--artifacts", artifacts]

        def do(command: str, *more: Any) -> None:
            done = aisr(command, *more)
            assert done.code == 0, f"{command}: {done.err}"
            output[command] = done.out

        rows = sample(task)
        file, data, folder = write(place / "all.jsonl", rows), place / "split", artifacts / task / "mine"
        do("check", file, *at)
        assert f"{len(rows)} good records, 0 bad lines" in output["check"]
        do("split", file, *at, "--out", data, "--parts", "2:1:1")
        compiling = [*at, "--data", data, "--candidates", "1", "--demos", 2, "--name", "mine", *lm]
        compiling += ["--optimizer", "labeled", *words]
        do("compile", *compiling, "--estimate", "-L", "price=0.15,0.6")
        assert re.search(r"LM calls, .* prompt .*USD", output["compile"])
        do("compile", *compiling)
        assert "no-LM baseline" in output["compile"]
        do("evaluate", *at, "--program", folder, "--data", data / "test.jsonl", *lm)
        bare = [{key: row[key] for key in row if key not in hidden} for row in read_rows(data / "test.jsonl")]
        inputs, out, packed = write(place / "inputs.jsonl", bare), place / "predictions.jsonl", place / "submission"
        do("predict", *at, "--program", f"models:/aisr-{task}@champion", "--data", inputs, "--out", out, *lm)
        do("score", data / "test.jsonl", out, *at, "--output", place / "score.json")
        do("submit", *at, "--data", inputs, "--predictions", out, "--out", packed)
        do("report", folder)
        do("inspect", folder, "--artifacts", artifacts)
        manifest, report = (json.loads(file.read_text()) for file in (folder / "manifest.json", place / "score.json"))
        assert report["score"] == pytest.approx(manifest["scores"]["test"]["score"])
        assert manifest["champion"].startswith("labeled")
        return Walk(output, folder, manifest, data / "test.jsonl", inputs, out, report, packed)

    return walk


def as_json(file: Path, rows: list[Row]) -> Path:
    """Gold as the organisers have it."""
    file.write_text(json.dumps(rows))
    return file


def quoting(prompt: str, label: str) -> str:
    """Asks what the claim says, answers with the best passage as it stands, and always judges the same."""
    claim = (field(prompt, "claim") or "").rstrip(".")
    question = f"Is it true that {claim}?"
    if passages := field(prompt, "passages"):
        key, _, text = passages.splitlines()[0].partition(") ")
        source = key.removeprefix("[").partition("]")[0]
        return written(prompt, {"pairs": [{"question": question, "answer": text, "source": source}]})
    if field(prompt, "evidence") is not None:
        return written(prompt, {"label": label})
    return written(prompt, {"questions": [f"How long was it closed, {claim}?"]})


def test_averitec(walk: Callable[..., Walk], aisr: Aisr, tmp_path: Path) -> None:
    def reply(request: HttpRequest) -> str:
        """Quotes the passages; Supported until demos show it that most claims are false."""
        return quoting(request.question, "Refuted" if request.has_demos else "Supported")

    hidden = ("label", "questions", "claim_types", "justification")
    walked = walk("averitec", reply, hidden)
    scores = walked.manifest["scores"]
    # The commonest label: no better than the no-LM baseline.
    assert scores["test"]["accuracy"] == scores["no_lm_test"]["accuracy"]
    state = json.loads((walked.folder / "program.json").read_text())["state"]
    assert {name: len(part["demos"]) for name, part in state.items()} == {"inquire": 2, "find": 2, "judge": 2}
    for words in ("label accuracy", "no-LM baseline", "words a string"):
        assert words in walked.output["evaluate"]
    gold = read_list(as_json(tmp_path / "gold.json", read_rows(walked.gold)), averitec.ClaimGold)
    official = averitec.Matches.of(gold, read_list(walked.packed, averitec.Predicted))
    assert official.corpus_score().score == pytest.approx(scores["test"]["score"])
    ranked = aisr("retrieval", walked.gold, "--task", "averitec", "--retrievers", "bm25")
    assert ranked.code == 0, ranked.err


def test_context24_figures(walk: Callable[..., Walk], tmp_path: Path) -> None:
    def reply(request: HttpRequest) -> str:
        """Names the gold element once demos show it how, and the last one before."""
        shown = [text.partition("]")[0] for text in (field(request.question, "elements") or "").split("[")]
        gold = findings[field(request.question, "claim") or ""]
        first = [*filter(gold.__contains__, shown), shown[-1]][0 if request.has_demos else -1]
        return written(request.question, {"ranking": [first]})

    findings = {row["claim"]: row["findings"] for row in sample("context24-figures")}
    walked = walk("context24-figures", reply, ["findings"], "-T", "retriever=hybrid")
    scores = walked.manifest["scores"]
    assert walked.manifest["options"]["retriever"] == "hybrid"
    assert {"ndcg_5", "ndcg_10"} <= set(scores["test"])
    assert scores["test"]["score"] > scores["baseline_test"]["score"]
    assert "nDCG@10" in walked.output["evaluate"]
    rows = [{**row, "figures_tables": [one["label"] for one in row["elements"]]} for row in read_rows(walked.gold)]
    claims = read_list(as_json(tmp_path / "gold.json", rows), context24_figures.Claim)
    predicted = context24_figures.read_predictions(walked.packed)
    clean = context24_figures.score_claims(claims, predicted, 10)
    official = context24_figures.score_claims(claims, predicted, 10, official=True)
    assert mean(clean.values()) == pytest.approx(walked.report["ndcg_10"])
    assert f"@10 {100 * mean(official.values()):.1f}" in walked.report["remarks"][0]


def test_context24_text(walk: Callable[..., Walk]) -> None:
    def reply(request: HttpRequest) -> str:
        """Chooses the longest sentences once demos show it that gold ones have particulars; the first one before."""
        shown = re.findall(r"^\[(S\d+)\] (.*)$", field(request.question, "passages") or "", re.MULTILINE)
        longest = sorted(shown, key=lambda one: -len(one[1]))[:3]
        return written(request.question, {"chosen": [key for key, _ in (longest if request.has_demos else shown[:1])]})

    walked = walk("context24-text", reply, ["context"])
    assert "What ranks sentences, fitted to the gold passages of train" in walked.output["inspect"]
    scores = walked.manifest["scores"]
    assert {"rouge_1", "rouge_2", "rouge_l"} <= set(scores["test"])
    assert scores["test"]["score"] == scores["test"]["rouge_l"] > scores["baseline_test"]["score"]
    saved = json.loads((walked.folder / "program.json").read_text())
    assert len(saved["state"]["ground"]["demos"]) == 2
    assert saved["fitted"]["weights"]
    assert "ROUGE-L" in walked.output["evaluate"]
    assert "fitted to the gold passages of train" in walked.output["inspect"]
    rows = {row["id"]: row for row in json.loads(walked.packed.read_text())}
    gold = read_rows(walked.gold)
    official = context24_text.RougeScores.of(
        [row["context"] for row in gold], [rows[row["id"]]["context"] for row in gold]
    )
    assert official.corpus_score().score == pytest.approx(scores["test"]["score"])
    assert all(row.keys() == {"id", "citekey", "dataset", "context"} for row in rows.values())
