"""A disk without room: every command that writes a file names it, leaves nothing of it, and does its work once there is
room."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aisr.artifact.manifest import save_files
from aisr.artifact.program import program_text
from aisr.lm.response_cache import configure_cache
from aisr.programs.track1.task import TRACK1
from aisr.tracking.store import NoStore, open_store
from support.faults import small_files
from support.paths import SAMPLE

Aisr = Callable[..., Any]
TRAIN, TEST = SAMPLE / "track1" / "train.jsonl", SAMPLE / "track1" / "test.jsonl"


def predictions(folder: Path) -> Path:
    """Right ones for the test split."""
    out = folder / "predictions.jsonl"
    rows = [json.loads(line) for line in TEST.read_text(encoding="utf-8").splitlines()]
    lines = [
        json.dumps({"id": row["id"], "labels": [one["types"][0] for one in row["sentence_label"]]}) for row in rows
    ]
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return out


def program(folder: Path) -> Path:
    save_files(folder / "mine", {"program.json": program_text(TRACK1, TRACK1.build({}))})
    return folder / "mine"


def batch_export(source: Path, out: Path) -> list[object]:
    lm = ["--lm", "openai/local", "--api-base", "http://127.0.0.1:9/v1", "--artifacts", source]
    return ["predict", "--program", program(source), "--data", TEST, *lm, "--batch", "export", "--out", out / "x.jsonl"]


def export(source: Path, out: Path) -> list[object]:
    return ["export", "--data", TRAIN, "--artifacts", source, "--out", out / "x.jsonl"]


def submit(source: Path, out: Path) -> list[object]:
    return ["submit", "--data", TEST, "--predictions", predictions(source), "--out", out / "x.zip"]


def split(source: Path, out: Path) -> list[object]:
    return ["split", TRAIN, "--out", out]


@pytest.mark.parametrize(
    ("words", "room", "named"),
    [
        (batch_export, 40_000, "x.jsonl"),
        (export, 40_000, "x.jsonl"),
        (submit, 400, "x.zip"),
        (split, 40_000, "n.jsonl"),
    ],
)
def test_a_full_disk_is_named_and_leaves_nothing_in_the_way(
    words: Callable[[Path, Path], list[object]], room: int, named: str, aisr: Aisr, tmp_path: Path
) -> None:
    configure_cache()  # while there is room
    source, out = tmp_path / "given", tmp_path / "out"
    source.mkdir()
    command = [*words(source, out), "--task", "track1"]
    with small_files(room):
        full = aisr(*command)
    assert full.code == 2
    assert f"{named}: cannot be written (File too large)" in full.err
    assert len(full.err.splitlines()) == 1
    assert "wrote" not in full.out
    assert not list(out.glob("*"))
    again = aisr(*command)
    assert again.code == 0, again.err
    assert all(json.loads(line) for file in out.glob("*.jsonl") for line in file.read_text("utf-8").splitlines())
    assert list(out.glob("*"))


def test_a_store_that_there_is_no_room_for_is_named_and_made_once_there_is(tmp_path: Path) -> None:
    with small_files(500_000), pytest.raises(NoStore, match=r"mlflow.db: .*disk I/O error; .* Make room, choose anoth"):
        open_store(tmp_path)
    assert [path.name for path in (tmp_path / ".mlflow").iterdir()] == ["create.lock"]
    assert open_store(tmp_path).MlflowClient().search_experiments()
