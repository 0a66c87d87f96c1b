"""`-T`, `-L` and the options: what they set, what is refused, the help that lists them, and the command that repeats a
compile."""

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from support.commands import Aisr
from support.compiled import Compiled
from support.paths import SAMPLE

AT = ["compile", "--task", "track1"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-L", "shema=false"], "-L shema: not a setting of the LM; expected one of: schema, "),
        (["-L", "schema"], "-L schema: expected NAME=VALUE"),
        (["-L", "price=1,1e308"], "-L price '1,1e308': expected USD a million prompt and completion tokens, at most"),
        (["-L", "timeout=1e12"], "-L timeout: Input should be less than or equal to 86400"),
        (["-L", "threads=few"], "-L threads: Input should be a valid integer"),
        (["-L", "teacher.threads=4"], "-L teacher.threads goes with --teacher-lm PROVIDER/MODEL"),
        (["--teacher-lm", "openai/x", "-L", "teacher.thread=4"], "-L teacher.thread: not a setting of the LM"),
        (["--teacher-lm", "openai/x", "-L", "teacher.threads=0"], "-L teacher.threads: Input should be greater than"),
        (["-T", "evidense=ocr"], "-T evidense: not an option of track1; expected one of: evid"),
        (["-T", "evidence=x"], "-T evidence: unknown value 'x'; one of: caption, ocr, image"),
        (["--budget", "hevy"], "'hevy' is not one of 'light', 'medium', 'heavy'"),
        (["--seed", "-1"], "Invalid value for '--seed': Input should be greater than or equal to 0"),
        (["--seed", str(2**32)], "Invalid value for '--seed': Input should be less than or equal to 4294967295"),
        (["--candidates", str(10**9)], "Invalid value for '--candidates': Input should be less than or equal to 1000"),
        (["--optimizer", "kn"], "--optimizer 'kn': expected one of: "),
        (["--lm", "openai/x", "--api-base", "http://[::1"], "--api-base: expected an address such as http:/"),
        (["--lm", "openai/x", "--api-base", "http://h:port"], "--api-base: expected an address such as http:/"),
        (["--lm", "recorded:x", "-L", "timeout=5"], "-L timeout: the answers of recorded:x are there; leave it out"),
        (["--lm", "gpt"], "--lm 'gpt': expected `embedded` or PROVIDER/MODEL"),
        (["--lm", "openai/gpt-4o-mini"], "export OPENAI_API_KEY="),
        (["--name", "../up", "--lm", "openai/x", "--api-base", "http://h"], "--name"),
        (["--task", ""], "--task is missing; expected one of: track1, "),
    ],
    ids=lambda words: " ".join(words)[:30] if isinstance(words, list) else "",
)
def test_what_an_option_cannot_be_is_refused_in_one_line(words: list[str], message: str, aisr: Aisr) -> None:
    finished = aisr(*AT, *words)
    assert finished.code == 2
    assert finished.err.startswith("error: ")
    assert message in finished.err
    assert finished.err.count("\n") == 1


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
    assert "Options of context24-figures: -T NAME=VALUE" in own
    assert "element/100, fusion" in own


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
        f"| test | {100 * made['scores']['test']['score']:.1f} |",  # without an interval: it has four records
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


def test_the_command_that_repeats_a_compile_holds_what_was_set_and_no_address_or_folder(
    compiled: Compiled, aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AISR_LM", "openai/local")
    monkeypatch.setenv("AISR_API_BASE", compiled.server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    finished = aisr(
        *("compile", "--task", "track2", "--data", SAMPLE / "track2", "--image-root", SAMPLE, "--no-track"),
        *("-T", "context_tokens=300", "--optimizer", "labeled", "--demos", 2, "--candidates", 1, "--seed", 3),
        *("--max-train", 4, "--max-dev", 2, "--max-test", 2, "--max-usd", 3, "--artifacts", tmp_path),
        *("-L", "price=1,2", "-L", "threads=2", "-L", "logprobs=false"),
        *("--teacher-lm", "openai/writer", "-L", "teacher.price=2,3"),
        *("-L", f"teacher.api_base={compiled.server.url}", "--name", "mine"),
    )
    assert finished.code == 0, finished.err
    made = json.loads((tmp_path / "track2" / "mine" / "manifest.json").read_text(encoding="utf-8"))
    assert made["command"] == (
        "aisr compile --task track2 --data DATA -T context_tokens=300 -T verbalized_confidence=true "
        "--image-root IMAGES --optimizer labeled --demos 2 --candidates 1 --seed 3 "
        "--max-train 4 --max-dev 2 --max-test 2 --lm openai/local --api-base ADDRESS --teacher-lm openai/writer "
        "-L price=1,2 -L threads=2 -L logprobs=false -L teacher.price=2,3 "
        "-L teacher.api_base=ADDRESS --max-usd 3.0 --name mine"
    )
