"""A compiled program as text: saved, checked, loaded; and the uncompiled baseline that it is compared with.

artifacts/<task>/<name>/ holds
  program.json   the program: task, options, and the state of its predictors (instructions, demos). No LM, no key
  manifest.json  what it was made from: data, LM, command, scores
  PROMPT.md      the compiled prompt as a person reads it
  report.json    the scores of all candidates on dev, and of the champion on test
  records.json   every record of dev with the champion's prompt and raw answer; report.html shows it
  compile.json   what the compile was of: one of other data or settings does not go on in this folder

The digest of an artifact is that of program.json. Loading reads JSON into a program of a known class: nothing in the
folder is ever executed.
"""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from aisr.artifact.manifest import (
    FILE,
    PROGRAM,
    REPORT,
    UNCOMPILED,
    Manifest,
    TestScores,
    check_program_exists,
    is_sample,
    read_manifest,
    read_test_scores,
)
from aisr.base.errors import UserError
from aisr.base.files import BadArtifact, digest_text, parse_json, read_file, read_json
from aisr.base.jsonl import explain
from aisr.programs.program import SEARCHED, Program
from aisr.programs.registry import TASKS, find_task
from aisr.programs.saved import FORMAT, ProgramFile
from aisr.programs.task import Task

ARTIFACT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
NUMBERS = re.compile(r"\[\n(?: *+[0-9.e+-]++,?+\n)++ *+\]")  # a list of numbers, one a line


class Loaded(NamedTuple):
    """A program from an artifact."""

    task: Task
    program: Program
    digest: str
    test_scores: TestScores | None = None  # how it did on its test split, where that is known
    manifest: Manifest | None = None  # what it was made from, where that is known
    version: str = ""  # of a registered one: its name and number, "aisr-track1/3"


def describe_origin(loaded: Loaded, data: Path) -> list[str]:
    """Return in words what a program was compiled on and how it did on test; nothing where that is not known. A warning
    says where it was compiled on the sample but is used on other records. data: those that it is used on."""
    manifest = loaded.manifest
    if manifest is None or "train" not in manifest.data:
        return []
    train = manifest.data["train"]
    name = f"version {loaded.version}" if loaded.version else f"program {loaded.digest}"
    score = f"{manifest.scores['test']} on test" if "test" in manifest.scores else "not scored on test"
    lines = [f"  {name}: compiled on {train.path or train.file} (digest {train.digest}), {score}"]
    if manifest.is_of_sample and not is_sample(manifest.task, data):
        lines.append(
            "warning: it was compiled on the invented records of the sample, not on yours; "
            "`aisr compile --data FOLDER` compiles on yours"
        )
    return lines


def program_text(task: Task, program: Program) -> str:
    """Return the content of program.json. The same program gives the same text, byte for byte."""
    content = {
        "format": FORMAT,
        "task": task.name,
        "options": program.options.model_dump(),
        "state": json.loads(json.dumps(program.dump_state(json_mode=True), default=list)),
        "ranker": program.ranker.model_dump() if program.ranker else None,
        "fitted": program.fitted.model_dump() if program.fitted else None,
    }
    _validate(content, "the program to save")
    text = json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    return NUMBERS.sub(lambda match: " ".join(match[0].split()), text)


def load_program(folder: Path, task: Task | None = None, digest: str | None = None) -> Loaded:
    """Return the program of an artifact folder, and how it did on its test split. task: as for `parse`; digest: what it
    had when it was compiled, by default that of its manifest.json, where there is one.

    Raises `BadArtifact` where it is missing, not ours or changed since, and for a report.json that is not ours.
    """
    check_program_exists(folder)
    program_file, manifest_file = folder / PROGRAM, folder / FILE
    has_manifest = manifest_file.is_file()
    if digest is None and has_manifest:
        digest = str(read_json(manifest_file).get("digest"))
    loaded = parse(read_file(program_file), str(program_file), task)
    if digest is not None and digest != loaded.digest:
        raise BadArtifact(
            f"{program_file}: digest {loaded.digest}, but it was compiled with {digest[:80]}; the program was changed "
            "since. Compile it again, or remove manifest.json beside it to use it as it is"
        )
    manifest = read_manifest(manifest_file) if has_manifest and (folder / REPORT).is_file() else None
    return loaded._replace(test_scores=read_test_scores(folder), manifest=manifest)


def parse(text: str, source: str, task: Task | None = None) -> Loaded:
    """Return the program in the text of a program.json.

    task: the one that it must be a program of; None: the one in `TASKS` that the file names. A file cannot name a task
    of another package, which would be imported: whoever loads it names that. Raises `BadArtifact`, naming `source`.
    """
    file = _validate(parse_json(text, source), source)
    if task is None:
        if file.task not in TASKS:
            raise BadArtifact(
                f"{source}: its task {file.task[:80]!r} is none of {', '.join(TASKS)}; name its place, as in --task "
                "package.module:TASK, or in AISR_TASK where MLflow serves it"
            )
        task = find_task(file.task)
    elif file.task != task.name:
        raise BadArtifact(f"{source}: it is compiled for {file.task[:80]}, not for {task.name}")
    try:
        program = task.build(file.options)
        program.load_saved(file)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadArtifact(f"{source}: {error}") from error
    return Loaded(task, program, digest_text(text))


def check_name(name: str) -> str:
    """Return the name, where it can be that of a folder. Raises UserError otherwise."""
    if not ARTIFACT_NAME.fullmatch(name):
        raise UserError(f"--name {name!r}: expected letters, digits, dot, dash and underscore, at most 80")
    return name


def _validate(content: Any, source: str) -> ProgramFile:
    try:
        return ProgramFile.model_validate(content)
    except ValidationError as error:
        raise BadArtifact(f"{source}: {explain(error)}") from error


def uncompiled_baseline(compiled: Loaded) -> Loaded:
    """Return the baseline of a compile: the hand-written instruction with the options, the evidence ranker and the
    fitted state of `compiled`; no demos."""
    program, task = compiled.program, compiled.task
    baseline = task.build(program.options.model_dump(exclude=set(SEARCHED)))
    baseline.ranker, baseline.fitted = program.ranker, program.fitted
    return parse(program_text(task, baseline), UNCOMPILED, task)  # as a loaded one, with its digest
