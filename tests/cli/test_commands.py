"""The walk from end to end, both tracks, against a real OpenAI-compatible server on the loopback address."""

import json
import os
import zipfile
from pathlib import Path

import pytest

from aisr.programs.registry import TASKS
from support.commands import Aisr, run_apart
from support.compiled import Compiled
from support.corpora import beginning, read_rows, write
from support.paths import SAMPLE
from support.scripted import BOTH

TRACK = pytest.mark.parametrize("track", list(BOTH))


@pytest.fixture(scope="module")
def walk(compiled: Compiled, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """Both tracks compiled and registered, in a place of this file's own, and beside it a few test records of each."""
    root = tmp_path_factory.mktemp("walk")
    for track in BOTH:
        beginning(SAMPLE / track / "test.jsonl", 6, root / f"{track}-gold.jsonl")
        beginning(SAMPLE / track / "test-inputs.jsonl", 6, root / f"{track}-inputs.jsonl")
    return compiled.copied(root / "artifacts")


def gold(walk: Compiled, track: str) -> Path:
    return walk.root.with_name(f"{track}-gold.jsonl")


def inputs(walk: Compiled, track: str) -> Path:
    return walk.root.with_name(f"{track}-inputs.jsonl")


def program(walk: Compiled, track: str) -> list[object]:
    return ["--task", track, "--program", walk.folder(track), *walk.lm]


def predictions(walk: Compiled, aisr: Aisr, track: str, folder: Path) -> Path:
    """The predictions of the compiled program for the test inputs."""
    out = folder / f"{track}.jsonl"
    finished = aisr("predict", *program(walk, track), "--data", inputs(walk, track), "--out", out)
    assert finished.code == 0, finished.err
    return out


@TRACK
def test_evaluate_reports_what_score_reports(walk: Compiled, aisr: Aisr, track: str, tmp_path: Path) -> None:
    """The official score of a program is that of its predictions file."""
    report = tmp_path / "report.json"
    finished = aisr("evaluate", *program(walk, track), "--data", gold(walk, track), "--output", report)
    assert finished.code == 0, finished.err
    out = predictions(walk, aisr, track, tmp_path)
    scored = aisr("score", gold(walk, track), out, "--task", track, "--output", tmp_path / "scores.json")
    assert scored.code == 0, scored.err
    evaluated, official = json.loads(report.read_text()), json.loads((tmp_path / "scores.json").read_text())
    parts = {"macro_f1", "pem" if track == "track1" else "joint_at_3"}
    assert set(official) - {"remarks"} == {*parts, "score", "per_label"}
    assert {key: evaluated[key] for key in official} == official
    assert evaluated["interval"][0] <= official["score"] <= evaluated["interval"][1]
    assert f"ranking score {100 * official['score']:.1f}" in scored.out
    records = json.loads((tmp_path / "report-report" / "records.json").read_text())
    assert records["about"]["score"]["score"] == official["score"]
    assert [one["id"] for one in records["records"]] == [row["id"] for row in read_rows(gold(walk, track))]


def test_submit_lists_problems_and_fills_failed_records_in_only_on_request(
    walk: Compiled, aisr: Aisr, tmp_path: Path
) -> None:
    ids = [row["id"] for row in read_rows(inputs(walk, "track2"))]
    fine = {"label": "Irrelevant", "evidence_para_ids": []}
    rows = [{"id": key, **fine} for key in ids]
    bad = [
        {"id": ids[0], "failed": "no answer"},
        {"id": ids[1], "label": "Suported", "evidence_para_ids": []},
        *rows[2:5],
        rows[4],
        {"id": "unheard-of", **fine},
    ]
    predictions, pack = tmp_path / "predictions.jsonl", tmp_path / "submission.zip"
    at = ["--task", "track2", "--data", inputs(walk, "track2")]
    words = ["submit", *at, "--predictions", predictions, "--out", pack]
    write(predictions, bad)
    finished = aisr(*words)
    assert finished.code == 2
    assert not pack.exists()
    for message in (
        f"{ids[0]}: failed (no answer)",
        "unknown label 'Suported'",
        f"id: '{ids[4]}' stands in line 5 already",
        f"{ids[1]}: no prediction (2 times, here first)",
        "unheard-of: not among the test inputs",
    ):
        assert message in finished.out
    assert finished.err.endswith(" problems; nothing was written\n")
    write(predictions, [bad[0], *rows[1:]])
    assert aisr(*words).code == 2
    finished = aisr(*words, "--on-failure", "fallback")
    assert finished.code == 0
    assert f"{ids[0]}: failed; filled in" in finished.out
    with zipfile.ZipFile(pack) as content:
        assert content.namelist() == [BOTH["track2"].submission]
        packed = content.read(BOTH["track2"].submission).decode().splitlines()
    assert [json.loads(line)["id"] for line in packed] == ids


def test_predict_and_submit_say_what_judged_and_how_many_of_each_label(
    walk: Compiled, aisr: Aisr, tmp_path: Path
) -> None:
    out, pack = tmp_path / "out.jsonl", tmp_path / "submission.zip"
    at = ["--task", "track1", "--data", inputs(walk, "track1")]
    predicted = aisr("predict", *at, "--program", "models:/aisr-track1@champion", *walk.lm, "--out", out)
    submitted = aisr("submit", *at, "--predictions", out, "--out", pack)
    (labels,) = [line for line in predicted.out.splitlines() if line.startswith("  labels: ")]
    count = sum(len(row["labels"]) for row in read_rows(out))
    assert sum(int(part.split()[-1]) for part in labels.split(",")) == count
    for finished in (predicted, submitted):
        assert "  version aisr-track1/1: compiled on " in finished.out, finished.err
        assert "\nwarning: it was compiled on the invented records of the sample" in finished.out
        assert labels in finished.out
    one = [{**row, "labels": ["Supported"] * len(row["labels"])} for row in read_rows(out)]
    constant = write(tmp_path / "constant.jsonl", one)
    submitted = aisr("submit", *at, "--predictions", constant, "--out", pack)
    assert f"  labels: Supported {count}\nwarning: all answers are Supported;" in submitted.out, submitted.err


@pytest.mark.slow
def test_a_fresh_process_predicts_the_same_from_folder_and_registry(walk: Compiled, aisr: Aisr, tmp_path: Path) -> None:
    """With a response cache of its own: nothing but what was saved can make it agree."""
    words: list[list[object]] = []
    for track in BOTH:
        for name, source in (("folder", walk.folder(track)), ("name", f"models:/aisr-{track}@champion")):
            at = ["--data", inputs(walk, track), "--out", tmp_path / f"{track}-{name}.jsonl"]
            words.append(["predict", "--task", track, *at, "--program", source, *walk.lm])
    done = run_apart(words, {**os.environ, "DSPY_CACHEDIR": str(tmp_path / "cache")})
    assert done.returncode == 0, done.stdout + done.stderr
    for track in BOTH:
        here = predictions(walk, aisr, track, tmp_path).read_bytes()
        assert len(here.splitlines()) == 6
        for name in ("folder", "name"):
            assert (tmp_path / f"{track}-{name}.jsonl").read_bytes() == here


@pytest.mark.parametrize("task", TASKS)
def test_an_example_is_a_record_that_check_takes(aisr: Aisr, task: str, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(aisr("example", task).out, "utf-8")
    assert "1 good record, 0 bad lines" in aisr("check", tmp_path / "one.jsonl", "--task", task).out


def test_one_complaint_is_said_once_with_its_number_and_first_place(aisr: Aisr, tmp_path: Path) -> None:
    lines = [{"id": f"r{k}", "claim_text": "C", "sentence_label": [{"sentence": "C"}]} for k in range(40)]
    bad = aisr("check", write(tmp_path / "a.jsonl", [{"claim_text": "D"}, *lines]), "--task", "track1")
    assert bad.code == 2
    assert f"{tmp_path}/a.jsonl:2: evidence_bundle: missing (40 times, here first)\n" in bad.out
    assert len(bad.out.splitlines()) == 4
    whole = tmp_path / "list.json"
    whole.write_text(json.dumps(lines, indent=1))
    listed = aisr("check", whole, "--task", "track1")
    assert listed.err == f"error: {whole}: this is a JSON list; aisr reads one record a line: `jq -c '.[]' {whole}`\n"
    assert "`aisr convert averitec " in aisr("check", whole, "--task", "averitec").err


def test_rankings_without_gold_evidence_are_refused_with_the_field_that_lacks(aisr: Aisr, tmp_path: Path) -> None:
    rows = read_rows(SAMPLE / "averitec" / "test.jsonl")
    for row in rows:
        for question in row["questions"]:
            for answer in question["answers"]:
                answer.pop("source_url", None)
    done = aisr("retrieval", write(tmp_path / "a.jsonl", rows), "--task", "averitec", "--retrievers", "bm25")
    assert f"questions[].answers[].source_url: missing ({len(rows)} times, here first)" in done.err


def test_the_ui_of_a_folder_that_is_no_store_is_an_error(aisr: Aisr, tmp_path: Path) -> None:
    done = aisr("ui", "--artifacts", tmp_path / "typo")
    assert (done.code, list(tmp_path.iterdir())) == (2, [])
    assert f"no MLflow store in {tmp_path}/typo" in done.err
