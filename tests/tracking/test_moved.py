"""An artifacts folder that was moved: what is in its store is found where it is now, and nothing is written where it
was."""

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aisr.optimize.run import compile_program
from aisr.tracking import runs
from aisr.tracking.registry import load_registered
from aisr.tracking.store import open_store
from support.loopback import Loopback
from support.plans import SILENT, plan
from support.scripted import right, scripted

MODEL = "models:/aisr-track1@champion"


def track(root: Path, data: Path, name: str) -> runs.LoggedCompile:
    """A compile of a few records that is registered in the store below `root`."""
    lm, compile_plan = scripted(right), replace(plan(data, decide=False), name=name)
    return runs.log_compile(root, compile_program(compile_plan, lm, lm, root, SILENT))


@pytest.mark.parametrize("name", ["with a blank and %"])
def test_a_moved_folder_is_used_where_it_is(
    name: str, artifacts: Path, aisr: Callable[..., Any], loopback: Loopback, tmp_path: Path
) -> None:
    run = track(artifacts, tmp_path / "data", "first").run_id
    digest = load_registered(artifacts, MODEL).digest
    moved = artifacts.rename(tmp_path / name)
    assert load_registered(moved, MODEL).digest == digest
    words = ["--task", "track1", "--artifacts", moved]
    report = aisr("techreport", MODEL, "--artifacts", moved, "--out", tmp_path / "paper.md")
    assert report.code == 0, report.err
    lm = ["--lm", "openai/local", "--api-base", loopback.url]
    done = aisr("evaluate", "--program", MODEL, "--data", tmp_path / "data" / "test.jsonl", *words, *lm)
    assert done.code == 0, done.err
    logged = re.search(r"logged run ([0-9a-f]{32})", done.out)
    assert logged, done.out
    page = aisr("report", logged[1], "--artifacts", moved, "--out", tmp_path / "page.html")
    assert page.code == 0, page.err
    track(moved, tmp_path / "data", "second")
    assert not artifacts.exists()
    client = open_store(moved).MlflowClient()
    assert {file.path for file in client.list_artifacts(run, "artifact")} >= {"artifact/program.json"}
    (experiment,) = (one for one in client.search_experiments() if one.name == "aisr track1")
    assert all(
        one.info.artifact_uri.startswith(moved.as_uri()) for one in client.search_runs([experiment.experiment_id])
    )
    assert all(
        trace.info.tags["mlflow.artifactLocation"].startswith(moved.as_uri())
        for trace in client.search_traces([experiment.experiment_id])
    )


def test_a_copied_folder_leaves_the_first_alone(artifacts: Path, tmp_path: Path) -> None:
    track(artifacts, tmp_path / "data", "first")
    copy = shutil.copytree(artifacts, tmp_path / "copy")
    before = sorted(artifacts.rglob("*"))
    track(copy, tmp_path / "data", "second")
    assert sorted(artifacts.rglob("*")) == before
    assert load_registered(artifacts, MODEL).digest == load_registered(copy, MODEL).digest
