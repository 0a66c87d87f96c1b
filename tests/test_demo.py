"""What `make demo` shows on the way; the walk itself is run by `.ci/run`."""

from pathlib import Path

import pytest

from optimize.lm import llama_cpp
from optimize.studies import demo
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


def test_a_command_at_work_says_which_step_it_is_and_what_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    count = tmp_path / "tokens"
    count.write_text("1000 900 1\n3000 400 2\n")
    assert llama_cpp.counted(count) == (4000, 1300, 3)
    monkeypatch.setattr(demo, "SIGN_OF_LIFE", 0.01)
    progress = demo.Progress(count, done=4, steps=8, prompt_tokens=19_000)
    progress.aisr("check", "--help")
    said = capsys.readouterr().out
    assert "[step 5 of 8] $ aisr check " in said
    assert "… step 5 of 8: 2,700 of about 19,000 prompt" in said
    with pytest.raises(SystemExit, match="aisr check ended with exit code 2"):
        progress.aisr("check", "--nosuch")
    assert "[step 6 of 8]" in capsys.readouterr().out
