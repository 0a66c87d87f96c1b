"""A compiled program as a folder of text: saved, checked, loaded.

artifacts/<task>/<name>/ holds
  program.json   the program: task, options, and the state of its predictors (instructions, demos). No LM, no key
  manifest.json  who made it from what
  PROMPT.md      the compiled prompt as a person reads it
  report.json    the scores of all candidates on dev, and of the champion on test
  records.json   every record of dev as the champion judged it, with prompt and raw answer; report.html shows it
  figures/       pictures of the scores
  compile.json   what a compile was begun with, so that another one does not go on in its place

The digest of an artifact is that of program.json. Loading reads JSON into a program of a known class: nothing in the
folder is ever executed.
"""

import json
import os
import re
from pathlib import Path
from typing import Any, NamedTuple

import dspy
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from optimize import digests
from optimize.tasks import TASKS, Task
from programs.decision import CUES, LM, WORDING, Decision
from programs.ensemble import Ensemble
from programs.records import explain

FORMAT = 1
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
MAX_BYTES = 64 * 2**20
NUMBERS = re.compile(r"\[\n(?: *-?[0-9.e+-]+,?\n)+ *\]")  # a list of numbers, one a line


class BadArtifact(ValueError):
    """A folder or file that is no artifact of ours, or not the one it says it is."""


class _SignatureState(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    instructions: str
    fields: list[dict[str, str]]


class _PredictorState(BaseModel):
    """What DSPy saves of a predictor. `lm` must be empty: an LM with an address or a key has no place here."""

    model_config = ConfigDict(extra="forbid", strict=True)
    traces: list[Any] = Field(max_length=0)
    train: list[Any] = Field(max_length=0)
    demos: list[dict[str, Any]]
    signature: _SignatureState
    lm: None


_Options = dict[str, str | int | float | bool]


class _ProgramFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    format: int = Field(ge=FORMAT, le=FORMAT)
    task: str
    options: _Options
    members: dict[str, _Options] = {}
    state: dict[str, _PredictorState]
    decision: Decision | None = None


class Loaded(NamedTuple):
    """A program that came out of an artifact."""

    task: Task
    program: dspy.Module
    digest: str


def program_text(task: Task, program: dspy.Module) -> str:
    """The content of program.json. The same program gives the same text, byte for byte."""
    members = program.members if isinstance(program, Ensemble) else {}
    content = {
        "format": FORMAT,
        "task": task.name,
        "options": program.options,
        "members": {name: member.options for name, member in members.items()},
        "state": json.loads(json.dumps(program.dump_state(json_mode=True), default=list)),
        "decision": program.decision.model_dump() if program.decision else None,
    }
    _validated(content, "the program to save")
    text = json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    return NUMBERS.sub(lambda found: " ".join(found[0].split()), text)


def parse(text: str, source: str) -> Loaded:
    """The program in the text of a program.json. Raises `BadArtifact`, naming `source`."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadArtifact(f"{source}: not JSON ({error})") from error
    file = _validated(content, source)
    task = TASKS[file.task]
    try:
        members = {check_name(name): task.build(options) for name, options in file.members.items()}
        program = Ensemble(members) if members else task.build(file.options)
        expected = {name for name, _ in program.named_parameters()}
        if expected != set(file.state):
            raise ValueError(f"predictors {sorted(file.state)}; this program has {sorted(expected)}")
        for name, predictor in program.named_predictors():
            _check_fields(predictor, file.state[name], name)
        program.load_state(file.model_dump()["state"])
        if file.decision is not None:
            _check_decision(task, file.decision, set(members) or {LM})
            program.decision = file.decision
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadArtifact(f"{source}: {error}") from error
    return Loaded(task, program, digests.of_text(text))


def load(folder: Path) -> Loaded:
    """The program of an artifact folder. Raises `BadArtifact` where it is not there, not ours or was changed since."""
    file = folder / "program.json"
    if not file.is_file():
        raise BadArtifact(f"{folder}: no program.json in there; expected a folder that `aisr compile` wrote")
    if file.stat().st_size > MAX_BYTES:
        raise BadArtifact(f"{file}: larger than {MAX_BYTES >> 20} MiB; not a program that `aisr compile` wrote")
    loaded = parse(file.read_text(encoding="utf-8", errors="replace"), str(file))
    manifest = folder / "manifest.json"
    if manifest.is_file():
        recorded = read_json(manifest).get("digest")
        if recorded != loaded.digest:
            raise BadArtifact(
                f"{file}: digest {loaded.digest}, but manifest.json says {str(recorded)[:80]}; the program was changed "
                "after it was compiled. Compile it again, or remove manifest.json to use it as it is"
            )
    return loaded


def save(folder: Path, files: dict[str, str]) -> None:
    """Write the files of an artifact, each whole or not at all, program.json last."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(files, key=lambda name: name == "program.json"):
        write_whole(folder / name, files[name])


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that a reader, or a kill, never meets half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def as_json(content: dict[str, Any]) -> str:
    """JSON as it stands in an artifact: readable, and the same for the same content."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def check_name(name: str) -> str:
    """The name, if it can be a folder's. Raises ValueError otherwise."""
    if not NAME.fullmatch(name):
        raise ValueError(f"--name {name!r}: expected letters, digits, dot, dash and underscore, at most 80")
    return name


def write_index(root: Path) -> None:
    """INDEX.md: all artifacts under `root`, a line each."""
    rows = [
        "| task | name | optimizer | LM | dev | test | digest |",
        "|---|---|---|---|---|---|---|",
    ]
    for path in sorted(root.glob("*/*/manifest.json")):
        try:
            cells = _index_cells(path)
        except (BadArtifact, ValidationError):
            cells = ["?", path.parent.name, "manifest.json is not one of ours", "", "", "", ""]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    write_whole(root / "INDEX.md", "# Compiled programs\n\n" + "\n".join(rows) + "\n")


class _Scored(BaseModel):
    score: float
    interval: tuple[float, float]


class _Made(BaseModel):
    """What the index needs of a manifest."""

    task: str
    optimizer: str
    digest: str
    lm: dict[str, Any]
    scores: dict[str, _Scored]


def _index_cells(path: Path) -> list[str]:
    made = _Made.model_validate(read_json(path))
    dev, test = (_percent(made.scores.get(split)) for split in ("dev", "test"))
    return [made.task, path.parent.name, made.optimizer, str(made.lm.get("spec")), dev, test, made.digest]


def _percent(found: _Scored | None) -> str:
    if found is None:
        return "–"
    low, high = found.interval
    return f"{100 * found.score:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def _check_fields(predictor: dspy.Predict, state: _PredictorState, name: str) -> None:
    """DSPy lays saved prefixes and descriptions over the fields by position: their number must be right."""
    wanted = len(predictor.signature.fields)
    if len(state.signature.fields) != wanted:
        raise ValueError(f"{name}: {len(state.signature.fields)} fields; this program has {wanted}")


def _check_decision(task: Task, decision: Decision, models: set[str]) -> None:
    if decision.labels != list(task.labels):
        raise ValueError(f"decision: labels {', '.join(decision.labels)}; {task.name} has {', '.join(task.labels)}")
    unknown = {name for rule in decision.rules for name in rule.weights} - {*models, WORDING, CUES}
    if unknown:
        raise ValueError(f"decision: weighs {sorted(unknown)[0]!r}, which is no expert of this program")


def _validated(content: Any, source: str) -> _ProgramFile:
    try:
        file = _ProgramFile.model_validate(content)
    except ValidationError as error:
        raise BadArtifact(f"{source}: {explain(error)}") from error
    if file.task not in TASKS:
        raise BadArtifact(f"{source}: task {file.task!r} is unknown; one of: {', '.join(TASKS)}")
    return file


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file. Raises `BadArtifact` where there is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise BadArtifact(f"{path}: not readable as JSON ({error})") from error
    if not isinstance(content, dict):
        raise BadArtifact(f"{path}: a {type(content).__name__}; expected a JSON object")
    return content
