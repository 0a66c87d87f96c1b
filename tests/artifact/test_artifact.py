"""An artifact is text: what is saved is what is loaded, and what is not ours is refused before anything is built."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest

from aisr.artifact.manifest import save_files
from aisr.artifact.program import load_program, program_text
from aisr.base import files
from aisr.base.files import BadArtifact, digest_text
from aisr.programs.task import Task
from aisr.programs.track1 import TRACK1
from aisr.programs.track2 import TRACK2
from support.commands import Aisr
from support.scripted import cases

Edit = Callable[[dict[str, Any]], object]


def with_demos(task: Task, count: int, **options: Any) -> dspy.Module:
    program = task.build(options)
    program.main_predictor.demos = [case.example.toDict() for case in cases(task, program)[:count]]
    return program


def text_of(task: Task, **options: Any) -> str:
    return program_text(task, with_demos(task, 2, **options))


def saved(folder: Path, text: str) -> Path:
    manifest = files.as_json({"digest": digest_text(text)})
    save_files(folder, {"program.json": text, "manifest.json": manifest})
    return folder


def edited(text: str, edit: Edit) -> str:
    content = json.loads(text)
    edit(content)
    return json.dumps(content)


def state(content: dict[str, Any]) -> dict[str, Any]:
    """The state of the only predictor of a program.json."""
    state: dict[str, Any]
    (state,) = content["state"].values()
    return state


@pytest.mark.parametrize(
    ("task", "options"),
    [(TRACK1, {}), (TRACK2, {"context_tokens": 77})],
    ids=["track1", "track2 with 77 tokens"],
)
def test_round_trip(task: Task, options: dict[str, Any], tmp_path: Path) -> None:
    text = text_of(task, **options)
    loaded = load_program(saved(tmp_path / "a", text))
    assert loaded.task is task
    assert loaded.digest == digest_text(text)
    assert program_text(task, loaded.program) == text
    assert options.items() <= loaded.program.options.model_dump().items()


def test_an_lm_is_never_saved() -> None:
    program = TRACK1.build({})
    program.set_lm(dspy.LM("openai/x", api_key="sk-planted", api_base="http://127.0.0.1:1/v1"))
    with pytest.raises(BadArtifact, match=r"state\.label\.lm"):
        program_text(TRACK1, program)


IMAGE = '{"type": "image_url", "image_url": {"url": "http://evil.example/x.png"}}'


def part(written: str) -> str:
    return f"<<CUSTOM-TYPE-START-IDENTIFIER>>{written}<<CUSTOM-TYPE-END-IDENTIFIER>>"


@pytest.mark.parametrize(
    "demo",
    [
        {"evidence": part(f"[{IMAGE}]")},
        {"evidence": part(f"[{IMAGE},]")},  # which DSPy would repair
        {"evidence": "<<CUSTOM-TYPE-START-IDENTIFIER>>[", "sentences": [part(f"{IMAGE}]")]},
        {"evidence": {part(f"[{IMAGE}]"): "key"}},
    ],
    ids=str,
)
def test_a_demo_that_would_be_sent_as_an_address_is_refused(demo: dict[str, Any], tmp_path: Path) -> None:
    def edit(content: dict[str, Any]) -> None:
        state(content)["demos"][1] |= demo

    folder = saved(tmp_path / "a", edited(text_of(TRACK1), edit))
    with pytest.raises(BadArtifact, match=r"label: demos\[1\] holds a part of a message"):
        load_program(folder)


def test_a_program_of_the_first_format_is_read(tmp_path: Path) -> None:
    """It had room for label weights, and this one has none; an option had another name."""
    options = {"evidence": "ocr", "demos_per_record": 0}
    text = edited(text_of(TRACK1), lambda at: at.update(format=1, label_weights=None, options=options))
    assert load_program(saved(tmp_path / "a", text)).program.picture_mode == "ocr"
    demos = load_program(saved(tmp_path / "a", text)).program.main_predictor.demos
    assert demos == with_demos(TRACK1, 2).main_predictor.demos


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda at: state(at).update(lm={"model": "x", "api_base": "http://evil.example/v1"}), "state.label.lm"),
        (lambda at: state(at).update({"py/reduce": [{"py/function": "os.system"}, ["true"]]}), "py/reduce"),
        (lambda at: at.update(task="track3"), "its task 'track3' is none of track1, track2"),
        (lambda at: at.update(options={"temperature": 1}), "track1: no option 'temperature'; options: demos"),
        (
            lambda at: at.update(options={"picture_mode": "x"}),
            "picture_mode: unknown value 'x'; one of: caption, ocr, image",
        ),
        (lambda at: state(at)["signature"]["fields"].pop(), "label: fields 'Evidence', 'Sentences'; this program has"),
        (lambda at: state(at)["signature"]["fields"].reverse(), "'Sentence Labels', in this order"),
        (lambda at: state(at).update(traces=[{"a": 1}]), "traces"),
        (lambda at: at.update(format=3), "format"),
        (lambda at: at.update(format=1, label_weights={"labels": []}), "no longer used; compile it again"),
    ],
)
def test_a_hostile_program_is_refused(edit: Edit, message: str, tmp_path: Path) -> None:
    folder = saved(tmp_path / "a", edited(text_of(TRACK1), edit))
    with pytest.raises(BadArtifact) as refused:
        load_program(folder)
    assert message in str(refused.value)
    assert str(folder / "program.json") in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["program.json", "manifest.json"])
def test_a_file_that_is_too_large_or_outside_is_refused_unread(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = saved(tmp_path / "a", text_of(TRACK1))
    monkeypatch.setattr(files, "MOST_JSON_BYTES", 2**20)
    (folder / name).write_bytes(b" " * (2**20 + 1))
    with pytest.raises(BadArtifact, match=f"{name}: larger than 1 MiB"):
        load_program(folder)
    (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    with pytest.raises(BadArtifact, match=f"{name}: expected a file; it is a link out of its folder"):
        load_program(folder)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    files.write_whole(file, "old")
    with pytest.raises(UnicodeEncodeError):
        files.write_whole(file, "new \ud800")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


# --- Compiled programs as a person reads them, one alone and two against each other


def test_the_command_prints_and_steers_no_terminal(tmp_path: Path, aisr: Aisr) -> None:
    program = with_demos(TRACK1, 2)
    program.main_predictor.demos[-1]["evidence"] = "\x1b[2Jgone"
    signature = program.main_predictor.signature
    program.main_predictor.signature = signature.with_instructions("Judge as a reviewer would.")
    save_files(tmp_path / "a", {"program.json": program_text(TRACK1, program)})
    finished = aisr("inspect", tmp_path / "a")
    assert finished.code == 0, finished.err
    assert "Judge as a reviewer would." in finished.out
    _, _, before = finished.out.partition("### The hand-written instruction, before the compile")
    assert signature.instructions in before
    assert "### Demos: 2" in finished.out
    assert "\x1b" not in finished.out
