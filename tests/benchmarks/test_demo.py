"""What `make demo` shows on the way; the walk itself is run by `.ci/run`."""

import os
import threading
from pathlib import Path

import pytest

from benchmarks import demo
from support.corpora import read_rows
from support.paths import SAMPLE


@pytest.mark.parametrize("task", list(demo.DEMOS))
def test_it_takes_the_shortest_records_with_the_test_inputs_that_belong_to_them(task: str, tmp_path: Path) -> None:
    demo.shortest(SAMPLE / task, tmp_path)
    for split, count in demo.RECORDS.items():
        taken = (tmp_path / f"{split}.jsonl").read_bytes().splitlines()
        whole = (SAMPLE / task / f"{split}.jsonl").read_bytes().splitlines()
        assert len(taken) == min(count, len(whole))
        assert taken == [line for line in whole if line in taken]  # in their order
        assert max(map(len, taken)) <= min(
            (len(line) for line in whole if line not in taken), default=max(map(len, taken))
        )
    inputs, gold = (read_rows(tmp_path / f"{name}.jsonl") for name in ("test-inputs", "test"))
    assert [row["id"] for row in inputs] == [row["id"] for row in gold]
    assert not any("label" in row or "types" in row.get("sentence_label", [{}])[0] for row in inputs)


def test_a_step_says_which_it_is_and_ends_the_walk_where_it_fails(capsys: pytest.CaptureFixture[str]) -> None:
    progress = demo.Progress(done=4, steps=8)
    progress.aisr("check", "--help")
    assert "[step 5 of 8] $ aisr check " in capsys.readouterr().out
    with pytest.raises(SystemExit, match="aisr check ended with exit code 2"):
        progress.aisr("check", "--nosuch")
    assert "[step 6 of 8]" in capsys.readouterr().out


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2, reason="one core")
def test_tasks_are_walked_at_once_on_cores_of_their_own_and_told_of_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    cores, second = {}, threading.Event()

    def walk(task: str, root: Path, progress: demo.Progress) -> demo.Walked:
        cores[task] = os.sched_getaffinity(0)
        if task == "track2":
            second.set()
        assert second.wait(60)  # both are under way
        progress.aisr("check", "--help")
        progress.say(f"submission of {task}")
        return demo.Walked({"task": task}, 1)

    monkeypatch.setattr(demo, "_walk", walk)
    done = demo._walks(["track1", "track2"], tmp_path, tmp_path)
    assert [one.report["task"] for one in done] == ["track1", "track2"]
    assert not cores["track1"] & cores["track2"]
    said = capfd.readouterr().out
    places = [said.index(part) for part in ("[step 1 of 8]", "submission of track1", "[step 5 of 8]", "of track2\n")]
    assert places == sorted(places)
