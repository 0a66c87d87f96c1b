"""Golden prompts: what programs send to an LM about kept records, as text that is compared byte for byte.

A case is a folder. `records.jsonl` holds records to judge, `answers.jsonl` the LM's answer to each, and for some of
them an unusable one that comes first; a compiled program is built from `train.jsonl`. `FORM.txt` is rendered from
these: the calls of the uncompiled program, of the compiled one, and of the uncompiled one where it needs a repair.
A message stands below its digest; the same message later in the file is its digest alone.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dspy.lm15 import Request

from aisr.artifact.program import parse, program_text
from aisr.base.jsonl import read
from aisr.optimize.leakage import Prepare, groups, keys_of, prepare_all
from aisr.optimize.optimizers import compile_candidates
from aisr.optimize.ranker_fit import fit_ranker, out_of_fold_prepare
from aisr.optimize.search import Search, Settings
from aisr.programs.pictures import ImageFolder
from aisr.programs.program import Program
from aisr.programs.records import Record
from aisr.programs.task import Task
from support.scripted import AS_JSON, requests, scripted, written

FORMS = ("json", "chat")  # for an LM that takes a JSON schema, as the built-in one does, and one that takes none
SETTINGS = Settings(demos=3, demo_tokens=3000, candidates=1)
COMPLAINT = "Your previous answer could not be used"
RULE = "═" * 8


@dataclass(frozen=True)
class Case:
    """How the programs of a case are built. options: of both; compiled: further ones of the compiled program; ranker:
    whether that has a fitted evidence ranker."""

    task: Task
    optimizer: str
    options: Mapping[str, Any] = field(default_factory=dict)
    compiled: Mapping[str, Any] = field(default_factory=dict)
    ranker: bool = False


def render(case: Case, folder: Path, form: str) -> str:
    """Return the content of `FORM.txt`."""
    records = list(read(folder / "records.jsonl", case.task.record, case.task.name))
    lines = (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    answers = {line["id"]: line for line in map(json.loads, lines)}
    uncompiled, compiled = build_student(case, folder), build_compiled(case, folder)
    sections = [
        *(("uncompiled", uncompiled, record, None) for record in records),
        *(("compiled", compiled, record, None) for record in records),
        *(("repair", uncompiled, one, answers[one.id]["unusable"]) for one in records if "unusable" in answers[one.id]),
    ]
    text, seen = "", set[str]()
    for title, program, record, unusable in sections:
        for number, request in enumerate(calls(program, record, form, answers[record.id]["answer"], unusable), start=1):
            text += f"{RULE} {title}: {record.id}, call {number}\n"
            for role, content in messages(request):
                digest = hashlib.sha256(f"{role}\n{content}".encode()).hexdigest()[:12]
                text += f"{RULE} {role} {digest}\n" + ("" if digest in seen else f"{content}\n")
                seen.add(digest)
    return text


def write_anew(case: Case, folder: Path) -> None:
    """Write the text files of a case."""
    for form in FORMS:
        (folder / f"{form}.txt").write_text(render(case, folder, form), encoding="utf-8", newline="")


def build_student(case: Case, folder: Path, **options: Any) -> Program:
    """Return the uncompiled program, as a compile begins with it."""
    program = case.task.build({**case.options, **options})
    program.image_folder = ImageFolder(folder)
    return program


def build_compiled(case: Case, folder: Path) -> Program:
    """Return a program fitted and optimized on `train.jsonl` by the functions of a compile, then saved and loaded."""
    task, path = case.task, folder / "train.jsonl"
    student = build_student(case, folder, **case.compiled)
    train = list(read(path, task.record, task.name))
    keys = keys_of(task, train)
    prepare: Prepare = student.prepare
    if case.ranker:
        fitted = fit_ranker(task, train, keys, student.match, SETTINGS.seed)
        student.ranker = fitted.ranker
        prepare = out_of_fold_prepare(task, student, fitted.out_of_fold)
    student.fit(train)
    cases = prepare_all(task, prepare, train, path, groups(keys))
    lm = scripted([])  # the optimizers of the cases ask nothing
    search = Search(task, student, cases, [], SETTINGS, lm, lm, print)
    program = compile_candidates(case.optimizer, search, [])[0].program
    loaded = parse(program_text(task, program), "the compiled program", task).program
    loaded.copy_context(student)
    return loaded


def calls(program: Program, record: Record, form: str, answer: Any, unusable: Any = None) -> list[Request]:
    """Return the calls of a program for a record. unusable: the answer to calls without a complaint, if any."""

    def reply(request: Request) -> str:
        is_repair = any(COMPLAINT in content for _, content in messages(request))
        text = answer if unusable is None or is_repair else unusable
        return text if isinstance(text, str) else written("" if form == "chat" else AS_JSON, text)

    lm = scripted(reply, adapter=form)
    lm.cache = False  # the second call may be the first one again
    case = program.prepare(record)
    with lm.context():
        program(**case.example.inputs())
    return requests(lm)


def messages(request: Request) -> list[tuple[str, str]]:
    """Return role and text of each message, and behind them the schema of the answer if one is sent."""
    texts = [] if request.system is None else [("system", content_text(request.system))]
    texts += [(message.role, content_text(message.parts)) for message in request.messages]
    schema = request.config.response_format
    return texts if schema is None else [*texts, ("schema", json.dumps(schema, indent=1, ensure_ascii=False))]


def content_text(content: Any) -> str:
    """Return the text of a message: its parts one below the other, of a picture type, size and digest."""
    texts = [content] if isinstance(content, str) else []
    for part in content if not texts else ():
        if part.type == "text":
            texts.append(part.text)
        else:
            picture = base64.b64decode(part.data)
            texts.append(f"{part.media_type}, {len(picture)} bytes, {hashlib.sha256(picture).hexdigest()[:12]}")
    return f"\n{RULE} next part\n".join(texts)
