"""Plan files, `--set` and `-T`: what they set, what wins, what is refused; and the help that lists it."""

import json
import os
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from aisr.cli.plan import compile_command, plan_text, read_plan
from support.commands import Aisr
from support.compiled import Compiled
from support.paths import SAMPLE

PLAN = """
[task]
name = "track2"
context_tokens = 300

[search]
optimizer = "labeled"
demos = 2

[lm]
model = "openai/local"
price = "1,2"
threads = 2

[teacher]
model = "openai/writer"

[limits]
max_usd = 3
train = 8
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN, encoding="utf-8")
    return path


def test_a_plan_file_is_read_and_the_command_line_wins(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AISR_LM", "openai/other")
    monkeypatch.setenv("AISR_API_BASE", "http://h/v1")
    settings = ["limits.train=6", "lm.schema=false", "teacher.api_base=http://t/v1"]
    plan = read_plan(file, settings, uses=("lm", "teacher", "limits"), lm={"model": None}, search={"demos": 4})
    assert (plan.task, plan.options) == ("track2", {"context_tokens": 300})
    assert (plan.search.optimizer, plan.search.demos, plan.search.budget) == ("labeled", 4, "medium")
    assert (plan.lm.model, plan.lm.api_base, plan.lm.schema) == ("openai/local", "http://h/v1", False)
    assert (plan.limits.max_usd, plan.limits.train, plan.limits.dev) == (3.0, 6, None)
    assert plan.teacher
    assert (plan.teacher.model, plan.teacher.threads, plan.teacher.api_base) == ("openai/writer", 2, "http://t/v1")


def test_its_text_is_the_same_plan_without_addresses(file: Path) -> None:
    addresses = ["lm.api_base=http://h/v1", "teacher.api_base=http://t/v1"]
    plan = read_plan(file, addresses, uses=("lm", "teacher"))
    text = plan_text(plan)
    assert "http" not in text
    file.write_text(text, encoding="utf-8")
    assert read_plan(file, addresses, uses=("lm", "teacher")) == plan
    # It names an LM though it is the default: `AISR_LM` of another machine may name one that costs money.
    file.write_text('[task]\nname = "track1"\n', encoding="utf-8")
    assert tomllib.loads(plan_text(read_plan(file)))["lm"] == {"model": "embedded"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[serach]\ndemos = 1", "no table is called 'serach'; did you mean search?; expected [task], [search]"),
        ("[search]\ndemo = 1", "[search] has no 'demo'; did you mean demos?"),
        ("[search]\nbudget = 'hevy'", "[search] budget is 'hevy'; one of: light, medium, heavy; did you mean heavy?"),
        ("[search]\ndemos = true", "[search] demos is True; expected a whole number, 0 or more"),
        (f"[lm]\nthreads = {10**18}", "[lm] threads is 1000000000000000000; expected 1 to 1000"),
        (f"[limits]\nmax_usd = 1{'0' * 400}", f"[limits] max_usd is 1{'0' * 79}; expected a number, 0 or more"),
        ("[limits]\nmax_minutes = inf", "[limits] max_minutes is inf; expected 0 or more"),
        ("lm = 4", "lm = 4: expected the table [lm]"),
        ("demos", "expected a plan file, TOML of at most 64 KiB"),
        ("#" * (2**16 + 1), "expected a plan file, TOML of at most 64 KiB: it is longer"),
        ("[search]\nseed = " + "9" * 5000, "expected a plan file, TOML of at most 64 KiB"),
        ("[task]\nname = ['track1']", "[task] name is \"['track1']\"; expected one of: track1"),
    ],
)
def test_a_wrong_plan_file_is_refused(text: str, message: str, file: Path, aisr: Aisr) -> None:
    file.write_text(text, encoding="utf-8")
    finished = aisr("compile", file, "--task", "track1")
    assert finished.code == 2
    assert finished.err.startswith(f"error: {file}: ")
    assert message in finished.err


def test_a_pipe_is_not_waited_for(tmp_path: Path, aisr: Aisr) -> None:
    os.mkfifo(tmp_path / "plan.toml")
    assert "plan.toml: not a file; expected a plan file" in aisr("compile", tmp_path / "plan.toml").err


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("lm.shema=false", "--set lm.shema: lm has no 'shema'; did you mean schema?"),
        ("limit.train=4", "expected one of the tables search, lm, teacher, limits; did you mean limits?"),
        ("lm.price=1,1e400", "--set lm.price '1,1e400': expected USD a million prompt and completion tokens"),
        ("lm.embedding_price=nan", "--set lm.embedding_price"),
        ("lm.embedding_price=-1", "--set lm.embedding_price"),
        ("lm.timeout=1e12", "--set lm.timeout 1000000000000.0: expected seconds, more than 0, at most a day"),
        ("limits.train=few", "--set limits.train: limits train is 'few'; expected a whole number, 1 or more"),
        ("task.unit=sentence", "-T NAME=VALUE"),
        ("schema", "expected TABLE.NAME=VALUE, such as lm.schema=false, or a plan file (.toml)"),
    ],
)
def test_a_wrong_setting_is_refused(setting: str, message: str, aisr: Aisr) -> None:
    finished = aisr("compile", "--task", "track1", "--set", setting)
    assert finished.code == 2
    assert message in finished.err


def test_help_lists_the_options_of_a_task_or_the_settings(aisr: Aisr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    whole, own = aisr("compile", "--help").out, aisr("compile", "--task", "context24-figures", "--help").out
    assert "demo_tokens" in whole
    assert "[limits] of plan.toml" in whole
    assert "Options of context24-figures" in own
    assert "element/sentence" in own
    assert "[limits] of plan.toml" not in own


def test_an_artifact_holds_the_plan_that_repeats_it(compiled: Compiled, aisr: Aisr, tmp_path: Path) -> None:
    """Without a key, an address or a path of the machine."""
    first = compiled.folder("track1")
    text = (first / "plan.toml").read_text(encoding="utf-8")
    assert compiled.server.url not in text
    assert str(tmp_path.parent) not in text
    tables = tomllib.loads(text)
    assert tables["lm"] == {"model": "openai/gpt-4o-mini"}
    assert tables["limits"] == {"train": 8, "dev": 6, "test": 4}
    words = ["--data", SAMPLE / "track1", "--name", "again", "--no-track", "--artifacts", tmp_path, *compiled.lm[2:4]]
    again = aisr("compile", first / "plan.toml", *words)
    assert again.code == 0, again.err
    repeated = tmp_path / "track1" / "again"
    assert (repeated / "program.json").read_bytes() == (first / "program.json").read_bytes()
    assert (repeated / "plan.toml").read_text(encoding="utf-8") == text


def test_the_prompt_page_says_how_to_reproduce_it(compiled: Compiled, aisr: Aisr, tmp_path: Path) -> None:
    """Model, date, cost and data, and a command that makes the same program again."""
    first = compiled.folder("track1")
    made = json.loads((first / "manifest.json").read_text(encoding="utf-8"))
    section = (first / "PROMPT.md").read_text(encoding="utf-8").partition("\n## Reproduce\n")[2]
    spend = made["spend"]
    for fact in (
        f"| LM | openai/gpt-4o-mini (a server, digest of its address {made['lm']['endpoint']}), answers",
        f"| requests sent until | {made['made']} |",
        f"| cost | {spend['calls']} calls (+{spend['cached_calls']} from the cache), {spend['prompt_tokens']} prompt",
        f"{spend['usd']:.4f} USD |",
        *(f"| {name} | {data['file']} | {data['records']} | {data['digest']} |" for name, data in made["data"].items()),
        f"| test | {100 * made['scores']['test']['score']:.1f} [",
        f"dspy {made['versions']['dspy']}",
    ):
        assert fact in section
    assert "http" not in section
    assert not re.search(r"(^|[\s=])/", section)
    (command,) = re.findall(r"^```sh\n(aisr compile .*)\n```$", section, re.MULTILINE)
    assert command == made["command"]
    filled = {"DATA": SAMPLE / "track1", "ADDRESS": compiled.server.url, "IMAGES": SAMPLE}
    words = [filled.get(word, word) for word in shlex.split(command)[1:]]
    again = aisr(*words, "--no-track", "--artifacts", tmp_path)
    assert again.code == 0, again.err
    repeated = tmp_path / "track1" / first.name
    assert (repeated / "program.json").read_bytes() == (first / "program.json").read_bytes()
    assert json.loads((repeated / "manifest.json").read_text(encoding="utf-8"))["command"] == command


def test_the_command_that_repeats_a_compile_names_no_address_and_no_folder(file: Path) -> None:
    settings = ["lm.api_base=http://h/v1", "teacher.api_base=http://t/v1", "lm.embedding_api_base=provider"]
    plan = read_plan(file, [*settings, "search.label_weights=false"], uses=("lm", "teacher", "search"))
    command = compile_command(plan, "mine", file.parent, Path("images of ours"))
    assert command == (
        "aisr compile --task track2 --data DATA --image-root 'images of ours' -T context_tokens=300 "
        "--optimizer labeled --demos 2 --set search.label_weights=false "
        "--lm openai/local --set lm.threads=2 --set lm.price=1,2 "
        "--teacher-lm openai/writer --set teacher.threads=2 "
        "--max-usd 3.0 --set limits.train=8 "
        "--api-base ADDRESS --set lm.embedding_api_base=provider --set teacher.api_base=ADDRESS --name mine"
    )
