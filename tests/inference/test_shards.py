"""Shares of the records for several machines, and what joins them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from aisr.artifact.folder import save
from aisr.artifact.program_file import program_text
from aisr.inference.merge import CannotMerge, Merged, merge
from aisr.inference.predict import here, predict
from aisr.inference.predictions_file import CannotResume, lock_file, run_file
from aisr.inference.shards import Shard
from aisr.tasks.task import Task
from aisr.tasks.track1 import TRACK1
from support.corpora import read_rows, write
from support.scripted import TRACKS, claim, corpus, right, scripted

Who = dict[str, str]
WHO: Who = {"task": "track1", "program": "abc", "lm": "scripted"}


def file_of(folder: Path, task: Task = TRACK1) -> Path:
    return write(folder / "records.jsonl", [record.model_dump(mode="json") for record in corpus(task)])


def run(data: Path, out: Path, shard: str = "1/1", task: Task = TRACK1, answer: Any = right, who: Who = WHO) -> None:
    lm = scripted(answer, threads=2)
    identity = {**who, "task": task.name}
    predict(task, here(task, task.build({}), lm), data, out, identity, lm.ledger, Shard.parse(shard))


def shards(data: Path, folder: Path, of: int = 3, task: Task = TRACK1) -> list[Path]:
    """The predicted shards, in files that stand in no order."""
    files = [folder / f"shard-{number}.jsonl" for number in range(1, of + 1)]
    for number, file in enumerate(files, start=1):
        run(data, file, f"{number}/{of}", task)
    return files[::-1]


def ids(file: Path) -> list[str]:
    return [row["id"] for row in read_rows(file)]


@pytest.mark.parametrize("task", TRACKS)
@pytest.mark.parametrize("of", [1, 2, 5, 12, 14])
def test_merged_shards_are_what_one_run_writes(task: Task, of: int, tmp_path: Path) -> None:
    data, whole, out = file_of(tmp_path, task), tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    run(data, whole, task=task)
    assert merge(out, shards(data, tmp_path, of, task), data) == Merged(12, 0)
    assert out.read_bytes() == whole.read_bytes()
    assert run_file(out).read_bytes() == run_file(whole).read_bytes()


def test_a_shard_holds_every_nth_record(tmp_path: Path) -> None:
    data = file_of(tmp_path)
    third, second, first = shards(data, tmp_path, 3)
    assert ids(first) == [f"track1-{k:06d}" for k in (1, 4, 7, 10)]
    assert ids(second) == [f"track1-{k:06d}" for k in (2, 5, 8, 11)]
    assert ids(third) == [f"track1-{k:06d}" for k in (3, 6, 9, 12)]


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/0", "a/b", "-1/3", "1/3/5", "1.0/3", ""])
def test_a_shard_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"--shard .*: expected I/N"):
        Shard.parse(text)


def test_another_shard_does_not_go_on_in_the_file_of_one(tmp_path: Path) -> None:
    data, out = file_of(tmp_path), tmp_path / "out.jsonl"
    run(data, out, "1/3")
    with pytest.raises(CannotResume, match="another shard: 1/3 then, 2/3 now"):
        run(data, out, "2/3", answer=[])
    with pytest.raises(CannotResume, match="another shard: 1/3 then, None now"):
        run(data, out, answer=[])


def test_failed_records_are_merged_as_failed_and_tried_again(tmp_path: Path) -> None:
    data, out = file_of(tmp_path), tmp_path / "out.jsonl"
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    run(data, a, "1/2", answer=lambda request: "garbage")
    run(data, b, "2/2")
    assert merge(out, [a, b], data) == Merged(12, 6)
    run(data, out)
    run(data, tmp_path / "whole.jsonl")
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def drop_a_line(files: list[Path]) -> None:
    files[0].write_bytes(b"".join(files[0].read_bytes().splitlines(keepends=True)[:-1]))


def repeat_a_line(files: list[Path]) -> None:
    files[0].write_bytes(files[0].read_bytes() + files[0].read_bytes().splitlines(keepends=True)[-1])


def swap_lines(files: list[Path]) -> None:
    files[0].write_bytes(b"".join(files[0].read_bytes().splitlines(keepends=True)[::-1]))


def tear_a_line(files: list[Path]) -> None:
    files[0].write_bytes(files[0].read_bytes()[:-9])


def forge_a_label(files: list[Path]) -> None:
    files[0].write_bytes(files[0].read_bytes().replace(b"Supported", b"Fine", 1))


def lose_a_label(files: list[Path]) -> None:
    files[0].write_bytes(files[0].read_bytes().replace(b', "Supported"]', b"]", 1))


def forget_who(files: list[Path]) -> None:
    run_file(files[0]).unlink()


def leave_one_out(files: list[Path]) -> None:
    files.pop()


def give_one_twice(files: list[Path]) -> None:
    files[1] = files[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (drop_a_line, "track1-000012: no prediction; run the same"),
        (repeat_a_line, "more lines than its shard"),
        (swap_lines, "track1-000003: 'track1-000012' stands in its place"),
        (tear_a_line, "track1-000012: its line is not JSON"),
        (forge_a_label, "labels.*: unknown label 'Fine'"),
        (lose_a_label, "2 labels for 3 sentences"),
        (forget_who, "no predictions of `aisr predict --shard`"),
        (leave_one_out, "shard 1/3 is missing"),
        (give_one_twice, "shard 3/3, beside 3/3; each once"),
    ],
)
def test_what_is_not_whole_is_refused(change: Callable[[list[Path]], None], said: str, tmp_path: Path) -> None:
    data, out = file_of(tmp_path), tmp_path / "out.jsonl"
    files = shards(data, tmp_path)
    change(files)
    with pytest.raises(CannotMerge, match=said):
        merge(out, files, data)
    assert not out.exists()


@pytest.mark.parametrize("key", ["program", "lm"])
def test_shards_of_different_runs_are_refused(key: str, tmp_path: Path) -> None:
    data, files = file_of(tmp_path), [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    run(data, files[0], "1/2")
    run(data, files[1], "2/2", who={**WHO, key: "other"})
    with pytest.raises(CannotMerge, match=f"b.jsonl: its {key} is other, and {WHO[key]} in .*a.jsonl"):
        merge(tmp_path / "out.jsonl", files, data)


def test_another_number_of_shards_is_refused(tmp_path: Path) -> None:
    data, files = file_of(tmp_path), [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    run(data, files[0], "1/2")
    run(data, files[1], "2/3")
    with pytest.raises(CannotMerge, match="shard 2/3, beside 1/2"):
        merge(tmp_path / "out.jsonl", files, data)


def test_another_input_is_refused(tmp_path: Path) -> None:
    data, out = file_of(tmp_path), tmp_path / "out.jsonl"
    files = shards(data, tmp_path)
    other = write(tmp_path / "other.jsonl", [claim("Supported").model_dump(mode="json")])
    with pytest.raises(CannotMerge, match=r"predicted from an input of digest .*other.jsonl is"):
        merge(out, files, other)


def test_a_shard_that_is_being_written_is_refused(tmp_path: Path) -> None:
    data, out = file_of(tmp_path), tmp_path / "out.jsonl"
    files = shards(data, tmp_path)
    with FileLock(lock_file(files[0])), pytest.raises(CannotResume, match="another process is writing it"):
        merge(out, files, data)


def test_a_file_that_is_there_is_left_alone(tmp_path: Path) -> None:
    data, out = file_of(tmp_path), tmp_path / "out.jsonl"
    files = shards(data, tmp_path)
    out.write_text("precious\n")
    with pytest.raises(CannotMerge, match="is there already"):
        merge(out, files, data)
    assert out.read_text() == "precious\n"


def test_the_commands_shard_and_merge(aisr: Callable[..., Any], loopback: Any, tmp_path: Path) -> None:
    data, out = file_of(tmp_path), tmp_path / "out.jsonl"
    save(tmp_path / "mine", {"program.json": program_text(TRACK1, TRACK1.build({}))})
    words = ["predict", "--task", "track1", "--program", tmp_path / "mine", "--data", data]
    words += ["--lm", "openai/local", "--api-base", loopback.url, "--artifacts", tmp_path / "artifacts"]
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for number, file in enumerate(files, start=1):
        finished = aisr(*words, "--out", file, "--shard", f"{number}/2")
        assert finished.code == 0, finished.err
        assert "6 records" in finished.out
    assert len(loopback.asked) == 12
    finished = aisr("merge", out, *files, "--data", data)
    assert (finished.code, finished.err) == (0, "")
    assert f"wrote {out}: 12 records of 2 shards" in finished.out
    assert ids(out) == [record.id for record in corpus(TRACK1)]
    finished = aisr("merge", out, *files, "--data", data)
    assert finished.code == 2
    assert "is there already" in finished.err


def test_shards_of_one_model_at_two_addresses_make_a_whole(
    aisr: Callable[..., Any], loopback: Any, tmp_path: Path
) -> None:
    data, out = file_of(tmp_path), tmp_path / "out.jsonl"
    save(tmp_path / "mine", {"program.json": program_text(TRACK1, TRACK1.build({}))})
    words = ["predict", "--task", "track1", "--program", tmp_path / "mine", "--data", data, "--lm", "openai/local"]
    words += ["--artifacts", tmp_path / "artifacts"]
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for number, (file, place) in enumerate(zip(files, ("here", "there"), strict=True), start=1):
        address = loopback.url.replace("/v1", f"/{place}/v1")
        finished = aisr(*words, "--out", file, "--shard", f"{number}/2", "--api-base", address)
        assert finished.code == 0, finished.err
    finished = aisr("merge", out, *files, "--data", data)
    assert (finished.code, finished.err) == (0, "")
    assert ids(out) == [record.id for record in corpus(TRACK1)]
