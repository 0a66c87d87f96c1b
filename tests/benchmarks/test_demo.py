"""What `make demo` shows on the way; the walk itself is run by `.ci/run`."""

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
