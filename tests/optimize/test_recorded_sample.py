"""The sample's compiles repeat from the recorded answers of a capable LM, with no prompt that is not among them."""

from pathlib import Path

import pytest

from aisr.artifact.manifest import FILE, read_manifest
from aisr.metrics.intervals import Interval
from support.commands import Aisr
from support.paths import ROOT

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "task", "optimizer"),
    [
        ("track1", "track1", "knn"),
        ("track2", "track2", "knn"),
        ("track1-gepa", "track1", "gepa"),
        ("track2-gepa", "track2", "gepa"),
        ("track2-mipro", "track2", "mipro"),
    ],
)
def test_a_recorded_compile_repeats_and_gains(
    aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, task: str, optimizer: str
) -> None:
    monkeypatch.chdir(ROOT)
    lm = f"recorded:data/sample/recorded/{name}.jsonl.gz"
    how = ["--task", task, "--data", f"data/sample/{task}", "--optimizer", optimizer, "--budget", "light", "--lm", lm]
    done = aisr("compile", *how, "--no-track", "--artifacts", tmp_path, "--name", "example")
    assert done.code == 0, done.err
    manifest = read_manifest(tmp_path / task / "example" / FILE)
    assert manifest.spend["calls"] == 0
    assert manifest.gain_on_test is not None
    assert Interval(*manifest.gain_on_test).low > 0
    if optimizer == "knn":  # the example programs are these
        assert manifest.digest == read_manifest(ROOT / "artifacts" / f"example-{task}" / FILE).digest
