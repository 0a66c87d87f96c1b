"""The technical report: what was recorded stands in it, what was not is missing, and no text becomes markup."""

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from aisr.artifact.manifest import read_manifest, save_files, write_index
from aisr.artifact.program import load_program, program_text
from aisr.base.files import digest_text
from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.optimize.run import compile_program
from aisr.optimize.search import Settings
from aisr.programs.track1.task import TRACK1
from aisr.report.techreport import MISSING, missing_parts, render_techreport
from support.commands import Aisr
from support.loopback import Loopback
from support.plans import SILENT, plan
from support.scripted import right, scripted


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place, lm = tmp_path_factory.mktemp("made"), scripted(right)
    few = Settings(demos=2, candidates=1)
    return compile_program(plan(place / "data", settings=few), lm, lm, place / "artifacts", SILENT).folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """An artifact that a compile with a scripted LM left."""
    return Path(shutil.copytree(made, tmp_path / "track1" / "x"))


def written(folder: Path, aisr: Aisr, *words: object) -> str:
    finished = aisr("techreport", folder, "--out", folder.parent / "paper.md", *words)
    assert finished.code == 0, finished.err
    return (folder.parent / "paper.md").read_text(encoding="utf-8")


def test_what_the_task_demands_is_in_it(folder: Path, aisr: Aisr) -> None:
    made = json.loads((folder / "manifest.json").read_text())
    text = written(folder, aisr)
    for said in (
        made["digest"],
        made["data"]["train"]["digest"],
        made["versions"]["dspy"],
        made["command"],
        "Program whether sentences of a paragraph",
        f"| champion without decision layer, dev | {100 * made['scores']['dev']['score']:.1f}",
        f"{100 * made['scores']['test']['score']:.1f}",
    ):
        assert said in text


def test_what_was_not_recorded_is_missing_and_not_made_up(folder: Path, aisr: Aisr) -> None:
    manifest = folder / "manifest.json"
    made = json.loads(manifest.read_text())
    before = written(folder, aisr)
    kept = {key: made[key] for key in ("task", "digest")}
    manifest.write_text(json.dumps(kept))
    text = written(folder, aisr)
    assert text.count(MISSING) == len(missing_parts(text)) > before.count(MISSING)
    assert "Language models and cost: USD" in missing_parts(text)
    assert not re.search(r"\d\d\.\d \[", text)


def test_the_command_to_score_again_does(loopback: Loopback, aisr: Aisr, tmp_path: Path) -> None:
    lm = open_lm(LMConfig("openai/local", api_base=loopback.url, schema=False, logprobs=False))
    few = Settings(demos=2, candidates=1)
    given = plan(tmp_path / "da ta", settings=few, decide=False, limits={"test": 5})
    made = compile_program(given, lm, lm, tmp_path / "out", SILENT)
    loopback.reply = lambda request: "It works!"  # nothing new is asked: what was said stands in the cache
    place = ["--artifacts", tmp_path / "out", "--out", tmp_path / "paper.md"]
    finished = aisr("techreport", made.folder, *place)
    assert finished.code == 0, finished.err
    (line,) = re.findall(r"^aisr evaluate .*$", (tmp_path / "paper.md").read_text(), re.MULTILINE)
    words = [loopback.url if word == "…" else str(word) for word in shlex.split(line)]
    again = aisr(*words[1:], "--no-track")
    assert again.code == 0, again.err
    test = made.manifest.scores["test"]
    low, high = (f"{100 * end:.1f}" for end in test.interval)
    assert f"ranking score {100 * test.score:.1f}   95 % interval [{low}, {high}]" in again.out


@pytest.mark.parametrize(
    "change",
    [
        {"scores": {"test": {"score": 0.5, "interval": [0.4]}}},
        {"decision": {"cross_validated": {"LM alone": "good"}}},
    ],
    ids=str,
)
def test_a_manifest_of_another_shape_is_refused_by_field(change: dict[str, Any], aisr: Aisr, tmp_path: Path) -> None:
    folder = tmp_path / "track1" / "mine"
    text = program_text(TRACK1, TRACK1.build({}))
    made = {"task": "track1", "name": "mine", "optimizer": "labeled", "digest": digest_text(text), "lm": {}}
    save_files(folder, {"program.json": text, "manifest.json": json.dumps({**made, "scores": {}, **change})})
    finished = aisr("techreport", folder, "--out", tmp_path / "paper.md")
    assert finished.code == 2
    assert re.fullmatch(rf"error: {folder}/manifest.json: {next(iter(change))}\b.*\n", finished.err)
    assert not list(tmp_path.glob("paper*"))
    write_index(tmp_path)
    assert "| mine | manifest.json is not one of ours |" in (tmp_path / "INDEX.md").read_text()


def test_a_strangers_manifest_leads_nowhere_and_steers_nothing(folder: Path) -> None:
    text = "a|b \x1b[2J<script>planted()</script> ![x](//planted.example/x.png) [a][b]"
    loaded = load_program(folder)
    made = read_manifest(folder).model_copy(update={"command": f"{text}\n`````\n", "champion": text})
    made.settings[text] = f"{text}\n{text}"
    shown = render_techreport(loaded.task, loaded.program, made, text)
    assert "\x1b" not in shown
    assert "``````text" in shown
    prose = re.sub(r"^(`{3,})text\n.*?^\1$", "", shown, flags=re.DOTALL | re.MULTILINE)
    for planted in ("<script", "](", "]["):
        assert planted not in prose
    assert "&lt;script>" in prose
    (row,) = (line for line in prose.splitlines() if line.startswith("| a\\|b"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 3
