"""What a user sees of commands: help, refusals in one line, what is said while they work and at their end, and the
command that repeats a compile."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from aisr.base.progress import Stage, counted, heard_by
from aisr.cli import display
from aisr.cli.__main__ import app
from aisr.lm.budget import Ledger
from aisr.workflow import Event
from support.commands import Aisr
from support.compiled import FEW, Compiled
from support.corpora import beginning, write
from support.paths import ROOT, SAMPLE

NAMES = ("track1", "track2", "averitec", "context24-figures", "context24-text")
GOLD = SAMPLE / "track1" / "test.jsonl"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-L", "shema=false"], "-L shema: not a setting of the LM; expected one of: schema, "),
        (["-L", "schema"], "-L schema: expected NAME=VALUE"),
        (["-L", "price=1,1e308"], "-L price '1,1e308': expected USD a million prompt and completion tokens, at most"),
        (["-L", "threads=few"], "-L threads: 'few' is no whole number"),
        (["-L", "threads="], "-L threads=: no value; leave it out for the default"),
        (["-L", "teacher.threads=4"], "-L teacher.threads=4 goes with --teacher-lm PROVIDER/MODEL"),
        (["--teacher-lm", "openai/x", "-L", "teacher.thread=4"], "-L teacher.thread: not a setting of the LM"),
        (["-T", "picture_mod=ocr"], "-T picture_mod: not an option of track1; expected one of: pict"),
        (["-T", "picture_mode=x"], "-T picture_mode: unknown value 'x'; one of: caption, ocr, image"),
        (["--seed", "-1"], "--seed: '-1' is too small; expected 0 or more"),
        (["--candidates", str(10**9)], "--candidates: '1000000000' is too large; expected at most 1000"),
        (["--optimizer", "kn"], "--optimizer 'kn': expected one of: "),
        (["--lm", "openai/x", "--api-base", "http://[::1"], "--api-base: expected an address such as http:/"),
        (
            ["--lm", "openai/o3", "--api-base", "http://h", "-L", "temperature=0.5"],
            "--lm openai/o3: OpenAI's reasoning ",
        ),
        (["--lm", "recorded:x", "-L", "timeout=5"], "-L timeout: the answers of recorded:x are there; leave it out"),
        (["--lm", "gpt"], "--lm 'gpt': expected `embedded` or PROVIDER/MODEL"),
        (["--lm", "openai/gpt-4o-mini"], "export OPENAI_API_KEY="),
        (["--name", "../up", "--lm", "openai/x", "--api-base", "http://h"], "--name"),
        (["--task", ""], "--task is missing; expected one of: track1, "),
    ],
    ids=lambda words: " ".join(words)[:30] if isinstance(words, list) else "",
)
def test_what_an_option_cannot_be_is_refused_in_one_line(words: list[str], message: str, aisr: Aisr) -> None:
    finished = aisr("compile", "--task", "track1", "--data", "sample", *words)
    assert finished.code == 2
    assert finished.err.startswith("error: ")
    assert message in finished.err
    assert finished.err.count("\n") == 1


def test_a_compile_names_its_records(aisr: Aisr) -> None:
    """The sample is never meant by silence: its program would take the champion's place."""
    finished = aisr("compile", "--task", "track1")
    assert finished.code == 2
    assert finished.err == "error: --data is missing; expected a folder with train.jsonl and dev.jsonl, or sample\n"


def test_a_pipe_or_device_is_no_data(tmp_path: Path, aisr: Aisr) -> None:
    """It could be read only once, and would be waited for."""
    os.mkfifo(tmp_path / "pipe.jsonl")
    for file in (tmp_path / "pipe.jsonl", Path(os.devnull)):
        finished = aisr("check", file, "--task", "track1")
        assert (finished.code, finished.err.count("\n")) == (2, 1)
        assert f"{file}: a pipe or device; expected: " in finished.err


def test_help_fits_on_a_page_and_lists_the_options_of_a_task(aisr: Aisr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    whole = aisr("compile", "--help").out
    assert len(whole.splitlines()) <= 50
    monkeypatch.setenv("COLUMNS", "160")
    own = aisr("compile", "--task", "context24-figures", "--help").out
    assert aisr("compile", "--help", "--task", "context24-figures").out == own
    assert "Options of context24-figures: -T NAME=VALUE" in own
    assert "bm25, dense, hybrid" in own


def test_the_prompt_page_says_how_to_reproduce_it(compiled: Compiled) -> None:
    """Model, date, cost and data, and the command."""
    first = compiled.folder("track1")
    made = json.loads((first / "manifest.json").read_text(encoding="utf-8"))
    section = (first / "PROMPT.md").read_text(encoding="utf-8").partition("\n## Reproduce\n")[2]
    spend = made["spend"]
    for fact in (
        f"```sh\n{made['command']}\n```",
        f"| LM | openai/gpt-4o-mini (a server, digest of its address {made['lm']['endpoint']}), answers",
        f"| requests sent until | {made['made']} |",
        f"| cost | {spend['calls']} calls (+{spend['cached_calls']} from the cache), {spend['prompt_tokens']} prompt",
        f"{spend['usd']:.4f} USD |",
        *(f"| {name} | {data['file']} | {data['records']} | {data['digest']} |" for name, data in made["data"].items()),
        f"| test | {100 * made['scores']['test']['score']:.1f} (too few independent records for an interval) |",
        f"dspy {made['versions']['dspy']}",
    ):
        assert fact in section
    assert "http" not in section
    assert not re.search(r"(^|[\s=])/", section)


def test_the_command_of_a_compile_repeats_it_and_holds_what_was_set_and_no_address_or_folder(
    compiled: Compiled, aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    typed = [
        *("compile", "--task", "track2", "--data", SAMPLE / "track2", "--image-root", SAMPLE, "--no-track"),
        *("-T", "context_tokens=300", "--optimizer", "labeled", "--demos", 2, "--candidates", 1, "--seed", 3),
        *("--max-train", 4, "--max-dev", 2, "--max-test", 2, "--max-usd", 3),
        *("-L", "price=1,2", "-L", "threads=2", "-L", "logprobs=false"),
        *("--teacher-lm", "openai/writer", "-L", "teacher.price=2,3"),
        *("-L", f"teacher.api_base={compiled.server.url}", "--name", "mine"),
    ]
    with monkeypatch.context() as patch:
        patch.setenv("AISR_LM", "openai/local")
        finished = aisr(*typed, "--api-base", compiled.server.url, "--artifacts", tmp_path / "a")
    assert finished.code == 0, finished.err
    # At its end: which program it is, how it did where nothing was chosen, and the next command.
    assert "\nthe program: the hand-written prompt: no candidate was better\n" in finished.out
    assert "  on test, which chose nothing: " in finished.out
    first = tmp_path / "a" / "track2" / "mine"
    _, _, following = finished.out.partition("\nnext: aisr predict --task track2 ")
    assert following.startswith(f"--program {first} --lm openai/local --api-base {compiled.server.url} ")
    assert f" -L threads=2 -L logprobs=false --image-root {SAMPLE} --data " in following
    command = json.loads((first / "manifest.json").read_text(encoding="utf-8"))["command"]
    assert command == (
        "aisr compile --task track2 --data DATA -T context_tokens=300 "
        "--image-root IMAGES --optimizer labeled --demos 2 --candidates 1 --seed 3 "
        "--max-train 4 --max-dev 2 --max-test 2 --lm openai/local --api-base ADDRESS --teacher-lm openai/writer "
        "-L price=1,2 -L threads=2 -L logprobs=false -L teacher.price=2,3 "
        "-L teacher.api_base=ADDRESS --max-usd 3.0 --name mine"
    )
    filled = {"DATA": SAMPLE / "track2", "IMAGES": SAMPLE, "ADDRESS": compiled.server.url}
    filled["teacher.api_base=ADDRESS"] = f"teacher.api_base={compiled.server.url}"
    words = [filled.get(word, word) for word in shlex.split(command)[1:]]
    again = aisr(*words, "--no-track", "--artifacts", tmp_path / "b")
    assert again.code == 0, again.err
    second = tmp_path / "b" / "track2" / "mine"
    assert (second / "program.json").read_bytes() == (first / "program.json").read_bytes()
    assert json.loads((second / "manifest.json").read_text(encoding="utf-8"))["command"] == command


def test_a_file_of_another_task_is_said_to_be_that(aisr: Aisr, tmp_path: Path) -> None:
    """And of no third."""
    files = {task: beginning(SAMPLE / task / "dev.jsonl", 3, tmp_path / f"{task}.jsonl") for task in NAMES}
    for (task, file), another in zip(files.items(), (*NAMES[1:], NAMES[0]), strict=True):
        assert aisr("check", file, "--task", task).code == 0
        wrong = aisr("check", file, "--task", another)
        assert wrong.code == 2
        assert wrong.err.endswith(f"its first line is a record of {task}, not of {another}; is it --task {task}?\n")
    labels = write(tmp_path / "predictions.jsonl", [{"id": "track1-000001", "labels": ["Supported"]}])
    inputs = SAMPLE / "track2" / "test-inputs.jsonl"
    words = ["--task", "track2", "--data", inputs, "--predictions", labels, "--out", tmp_path / "x.zip"]
    assert "its first line is a prediction of track1, not of track2" in aisr("submit", *words).err
    assert "prediction of track1" in aisr("score", SAMPLE / "track2" / "test.jsonl", labels, "--task", "track2").err


def test_an_estimate_asks_for_no_key(aisr: Aisr, compiled: Compiled, tmp_path: Path) -> None:
    lm = ["--lm", "openai/gpt-4o-mini", "--artifacts", tmp_path, "--estimate"]
    at = ["--task", "track2", "--data", SAMPLE / "track2"]
    few = beginning(SAMPLE / "track2" / "test.jsonl", 2, tmp_path / "few.jsonl")
    data = ["--task", "track2", "--data", few, "--out", tmp_path / "out.jsonl"]
    for words in (
        ["compile", *at, *FEW, "--optimizer", "labeled", "--teacher-lm", "openai/gpt-4o", *lm],
        ["predict", *data, "--program", compiled.folder("track2"), *lm],
    ):
        done = aisr(*words)
        assert done.code == 0, done.err
        assert "USD" in done.out
        assert aisr(*words[:-1]).code == 2  # and without it does


# --- Help, and the refusal of a typing error, come at once: before DSPy, MLflow or LiteLLM are imported, which takes
# seconds

CODE = """
import shlex, sys
from aisr.cli.__main__ import main
for line in sys.stdin:
    sys.argv = ["aisr", *shlex.split(line)]
    try:
        main()
    except SystemExit as end:
        heavy = ("dspy", "mlflow", "litellm", "sklearn", "xllamacpp")
        print("ended:", end.code, *(name for name in heavy if name in sys.modules), "|", line.strip())
"""


def test_nobody_waits_for_help_or_to_be_told_of_a_typing_error(compiled: Compiled, tmp_path: Path) -> None:
    none = "models:/aisr-track1/first"
    helps = ["--help", *(f"{command.name} --help" for command in app.registered_commands)]
    lines = [
        "check nope.jsonl --task track1",
        f"check {GOLD} --task track9",
        f"split {GOLD} --task track9 --out out",
        "compile --task track1 --data nope",
        "demo averitec",
        f"evaluate --task track1 --program nope --data {GOLD}",
        f"compare uncompiled {none} --task track1 --data {GOLD}",
        f"compare uncompiled uncompiled --task track1 --data {GOLD}",
        f"predict --task track1 --program {none} --data {GOLD} --out out",
        f"predict --task track1 --program uncompiled --data {GOLD} --out out",
        f"submit --task track1 --data {GOLD} --predictions nope.jsonl --out out",
        f"score {GOLD} {tmp_path} --task track1",
        "report nope",
        f"promote {none}",
        "retrieval nope.jsonl",
    ]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "AISR_ARTIFACTS": str(compiled.root)}
    text, words = "\n".join([*helps, *lines]), [sys.executable, "-c", CODE]
    run = subprocess.run(words, input=text, env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
    ended = [line.removeprefix("ended: ") for line in run.stdout.splitlines() if line.startswith("ended: ")]
    assert ended == [*(f"0 | {line}" for line in helps), *(f"2 | {line}" for line in lines)], run.stderr
    assert run.stdout.count("Usage: ") == len(helps)
    assert run.stderr.count("error: ") == len(lines)
    for message in (
        f"{none}: expected models:/NAME@champion or models:/NAME/VERSION",
        "uncompiled: no program.json in there; expected a folder that `aisr compile` wrote, such as",
        f"such as {compiled.folder('track1')}",
        "'averitec': expected one of: track1, track2",
        "--data nope: no such folder; expected one with train.jsonl and dev.jsonl",
    ):
        assert message in run.stderr
    assert not list(tmp_path.iterdir())


def test_a_program_is_compared_with_what_it_was_before(compiled: Compiled, aisr: Aisr) -> None:
    words = ["uncompiled", compiled.folder("track1"), "--task", "track1", "--artifacts", compiled.root]
    scored = aisr("compare", *words, "--data", GOLD, "--limit", 3, *compiled.lm)
    assert scored.code == 0, scored.err
    assert "evaluating uncompiled and " in scored.out
    assert "difference, record by record: 0.0 " in scored.out
    assert "; 0 of 3 records are scored differently; " in scored.out
    assert scored.out.count(" on 3 records\n") == 2


class Awaited(io.StringIO):
    """A stream that tells when it was written to."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def write(self, text: str) -> int:
        count = super().write(text)
        self.written.set()
        return count

    def wait_for(self, pattern: str) -> None:
        """Wait until the pattern stands in what was written since the last such call."""
        while not re.search(pattern, self.getvalue()):
            assert self.written.wait(30)
            self.written.clear()
        self.truncate(self.seek(0))


def test_where_there_is_no_terminal_lines_on_stderr_tell_stage_count_and_time_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert (display.FIRST_LINE, display.SILENCE) == (2, 15)
    monkeypatch.setattr(display, "FIRST_LINE", 0.001)
    monkeypatch.setattr(display, "SILENCE", 0.001)
    monkeypatch.setattr("sys.stderr", errors := Awaited())
    with display.Live(Ledger()) as progress:
        progress.show(Event("stage", "labeled: optimizing"))
        errors.wait_for("labeled: optimizing; 0 LM calls, 0 cached")
        for number in counted(range(4), "preparing records"):
            if number == 2:
                errors.wait_for(r"… \d+ s: preparing records: 2 of 4, about \d+ s left; 0 LM calls")
        errors.wait_for("labeled: optimizing; 0 LM calls, 0 cached")  # what was counted is over


@pytest.mark.parametrize("words", [["check"], ["split", "--out", "parts"]], ids=["check", "split"])
def test_records_are_counted(words: list[str], aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stages: list[Stage] = []
    monkeypatch.setattr(display, "heard_by", lambda listener: heard_by(stages.append))
    monkeypatch.chdir(tmp_path)
    beginning(SAMPLE / "track1" / "train.jsonl", 20, tmp_path / "some.jsonl")
    assert aisr(*words, "some.jsonl", "--task", "track1").code == 0
    assert (stages[0].done, stages[0].total) == (20, 20)
    assert {stage.is_over for stage in stages} == {True}


def test_no_command_takes_the_small_model_unasked(aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AISR_LM")
    (tmp_path / "in.jsonl").write_text("{}\n")
    command = ["predict", "--task", "track1", "--program", "artifacts/example-track1", "--data", tmp_path / "in.jsonl"]
    finished = aisr(*command, "--out", tmp_path / "out.jsonl")
    assert finished.code == 2
    assert re.search(r"--lm is missing; name the LM: .*`embedded`", finished.err)
