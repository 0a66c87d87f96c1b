"""Context24's figures walk the way of every task: check, split, compile, evaluate, predict, report, submit."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aisr.base.errors import UserError
from aisr.metrics import context24_figures
from aisr.programs.context24_figures.record import Context24FiguresRecord
from aisr.programs.context24_figures.task import CONTEXT24_FIGURES
from support.context24_figures import LABELS, claim, reader
from support.corpora import Row, read_rows
from support.loopback import HttpRequest, Loopback, serve
from support.paths import SAMPLE
from support.walks import replying, walk

Aisr = Callable[..., Any]
NAME = CONTEXT24_FIGURES.name


def answering(request: HttpRequest) -> str:
    """Puts the wrong element first until a demo shows it how."""
    return reader(request.question, taught=request.has_demos)


server = replying(answering)


def corpus() -> list[Row]:
    """Claims of ten papers each on a paper of its own, in which walls are of different kinds."""
    kinds = ["brick", "slate", "clay", "lime", "turf", "oak", "flint", "marble", "sand", "chalk", "granite", "gravel"]
    rows = []
    for number, kind in enumerate(kinds, start=1):
        said = claim(number).claim.replace("Walls", f"{kind.title()} walls")
        more = {
            "claim": said,
            "paragraphs": [text.replace("walls", f"{kind} walls") for text in claim(number).paragraphs],
        }
        rows.append(claim(number, **more).model_dump(mode="json"))
    return rows


def test_the_walk(server: Loopback, artifacts: Path, aisr: Aisr) -> None:
    words = ["--optimizer", "labeled", "-T", "strategy=element/sentence", "-T", "order=6"]
    walked = walk(server, artifacts, aisr, NAME, corpus(), ["findings"], *words)
    scores = walked.manifest["scores"]
    assert walked.manifest["options"]["strategy"] == "element/sentence"
    assert walked.manifest["champion"].startswith("labeled")
    assert {"ndcg_5", "ndcg_10"} <= set(scores["test"])
    assert scores["test"]["score"] > scores["baseline_test"]["score"]
    assert "no-LM baseline" in walked.output["compile"]
    assert "nDCG@10" in walked.output["evaluate"]
    assert "letter by letter" in walked.output["evaluate"]

    gold = artifacts.parent / "gold.json"
    gold.write_text(json.dumps([{**row, "figures_tables": list(LABELS)} for row in walked.gold]))
    claims = context24_figures.claims(gold)
    for quirks in (False, True):
        told = context24_figures.predictions(walked.packed, quirks)
        found = context24_figures.mean(context24_figures.per_claim(claims, told, 10, quirks))
        assert quirks or found == pytest.approx(walked.report["ndcg_10"])
        assert f"@10 {100 * found:.1f}" in walked.report["remarks"][0] or not quirks


def test_a_program_that_asks_no_lm_is_compiled_and_predicts(artifacts: Path, aisr: Aisr, tmp_path: Path) -> None:
    with serve() as dead:
        url = dead.url  # nobody listens there any more
    lm = ["--lm", "openai/local", "--api-base", url, "--artifacts", artifacts]
    data, at = SAMPLE / NAME, ["--task", NAME]
    words = ["--data", data, "--optimizer", "gepa", "--name", "still", "-T", "order=0", "-T", "strategy=chunk/sentence"]
    estimated = aisr("compile", *at, *words, "--estimate", *lm)
    assert estimated.code == 0, estimated.err
    assert re.search(r"\b0 LM calls", estimated.out)
    compiled = aisr("compile", *at, *words, "--set", "limits.test=4", *lm)
    assert compiled.code == 0, compiled.err
    folder = artifacts / NAME / "still"
    made = json.loads((folder / "manifest.json").read_text())
    assert made["champion"] == "uncompiled"
    assert made["spend"]["calls"] == 0
    assert "It asks no LM." in (folder / "PROMPT.md").read_text()
    out = tmp_path / "predictions.jsonl"
    predicted = aisr("predict", *at, "--program", folder, "--data", data / "test-inputs.jsonl", "--out", out, *lm)
    assert predicted.code == 0, predicted.err
    assert len(read_rows(out)) == 12
    batch = ["--data", data / "test-inputs.jsonl", "--out", tmp_path / "b.jsonl", "--batch", "export"]
    exported = aisr("predict", *at, "--program", folder, *batch, *lm)
    assert (exported.code, "the program asks no LM" in exported.err) == (2, True)
    assert aisr("report", folder, "--artifacts", artifacts).code == 0


def test_a_submission_is_a_table_of_stripped_labels_in_order_without_repeats(tmp_path: Path) -> None:
    out = tmp_path / "s.csv"
    lines = [{"id": "a", "ranking": ["FIG 2A", " TAB 1 ", "FIG 2A"]}, {"id": "b, c", "ranking": ["FIG 1"]}]
    CONTEXT24_FIGURES.submission.write(lines, out)
    rows = [*csv.reader(out.read_text().splitlines())]
    assert rows == [["claimid", "predictions"], ["a", "FIG 2A,TAB 1"], ["b, c", "FIG 1"]]
    assert context24_figures.predictions(out, official_quirks=True) == {"a": ["FIG 2A", "TAB 1"], "b, c": ["FIG 1"]}


def test_what_the_evaluator_would_misread_is_refused() -> None:
    for answer, message in (
        (("FIG 9",), "'FIG 9' is no element of the paper"),
        (("FIG 1", "FIG 2", "FIG 1"), "'FIG 1' stands there more than once"),
        ((), "no element"),
    ):
        assert message in str(CONTEXT24_FIGURES.submission.problem(claim(), answer))
    assert CONTEXT24_FIGURES.submission.problem(claim(), ("FIG 1", "FIG 2")) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"elements": []}, "elements"),
        ({"elements": [{"label": "FIG 1"}, {"label": "fig  1"}]}, "'FIG 1' stands there more than once"),
        ({"elements": [{"label": "FIG 1, FIG 2"}]}, "is no label"),
        ({"elements": [{"label": "FIG 1] [FIG 2"}]}, "is no label"),
        ({"elements": [{"label": "FIG 1", "img_path": "../../secret.png"}]}, "leads out of the image folder"),
    ],
)
def test_bad_records_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Context24FiguresRecord.model_validate({**claim().model_dump(), **change})


@pytest.mark.parametrize(
    "planted",
    ["=cmd|' /C calc'!A0", "-1+2", "\t=1", "＝1"],
)
def test_no_id_is_a_formula_of_a_spreadsheet(planted: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="would run as a formula"):
        CONTEXT24_FIGURES.submission.write([{"id": planted, "ranking": ["FIG 1"]}], tmp_path / "out.csv")
    with pytest.raises(UserError, match="would run as a formula"):
        CONTEXT24_FIGURES.submission.write([{"id": "a", "ranking": [planted]}], tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
