"""Fills `techreport.md.jinja`, the technical report that the shared task demands (guidelines, section 3), from what was
recorded. Text from outside can end no fence and no cell, and is no markup that leads or loads anything."""

import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from aisr.artifact.manifest import Manifest, Score
from aisr.base.files import percent, with_interval
from aisr.base.redact import printable
from aisr.programs.program import Program
from aisr.programs.task import Task

TEMPLATE = Path(__file__).with_name("techreport.md.jinja")
MISSING = "(not recorded)"
LONGEST = 80  # characters of what is named as missing
SPLITS = {
    "baseline_dev": "baseline, dev",
    "dev": "champion without decision layer, dev",
    "baseline_test": "baseline, test",
    "test": "champion, test",
    "no_lm_test": "without any LM, test",
}


class _Whole(str):
    """Markdown as it is to stand in the report."""

    __slots__ = ()


def render_techreport(task: Task, program: Program, made: Manifest, again: str) -> str:
    """The report, in Markdown. again: the command that scores the program once more."""
    from jinja2 import Environment, FileSystemLoader

    pages = Environment(loader=FileSystemLoader(TEMPLATE.parent), finalize=_prose, keep_trailing_newline=True)
    pages.filters |= {"known": _known, "fenced": _fenced}
    lms = {"lm": made.lm, "teacher": made.teacher}
    layer = made.decision
    return pages.get_template(TEMPLATE.name).render(
        made=made,
        program=program,
        again=again,
        missing=MISSING,
        zip=zip,
        table=_table,
        splits=[(name, about.file, about.records, about.digest) for name, about in made.data.items()],
        models=[(role, *map(_known, (lm.model, lm.adapter, lm.temperature))) for role, lm in lms.items() if lm],
        parts=list(task.parts.values()),
        scores=[
            (title, *_row(task, score), score.failed)
            for split, title in SPLITS.items()
            if (score := made.scores.get(split))
        ],
        gain=with_interval(*made.gain_on_test) if made.gain_on_test else MISSING,
        cross_validated=[(name, percent(one)) for name, one in (layer.cross_validated if layer else {}).items()],
    )


def missing_parts(markdown: str) -> list[str]:
    """What a report says was not recorded, one by one: its heading, and the words that name it."""
    parts, heading = [], ""
    for line in markdown.splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        for before in line.split(MISSING)[:-1]:
            cells = line.strip("| ").split(" | ") if line.startswith("|") else []
            words = cells[0] if cells else re.split(r"[.;,] ", before.strip(" :"))[-1][-LONGEST:]
            parts.append(f"{heading}: {words}" if words else heading)
    return parts


def rescore_command(made: Manifest, name: str, artifacts: str) -> str:
    """The command that scores a program once more on the test split of its compile, where it ran; a server's address is
    not known. name: as the user gave it; artifacts: the folder."""
    lm, test = made.lm, made.data.get("test")
    words = ["aisr", "evaluate", "--task", made.task, "--program", name, "--data", (test and test.path) or MISSING]
    words += ["--limit", str(test.records)] if test else []
    words += ["--lm", lm.spec or MISSING, *(["--api-base", "…"] if lm.endpoint else [])]
    words += ["--set", "lm.schema=false"] if lm.adapter == "ChatAdapter" else []
    words += ["--set", "lm.logprobs=false"] if lm.logprobs is False else []
    return shlex.join([*words, "--artifacts", artifacts]).replace("'…'", "…")


def _row(task: Task, one: Score) -> list[str]:
    return [str(one), *(percent(one.parts[name]) if name in one.parts else MISSING for name in task.parts)]


def _known(value: Any) -> Any:
    return MISSING if value is None or value == "" else value


def _prose(value: Any) -> Any:
    """Text in which nothing is an element of HTML, a link or a picture."""
    if not isinstance(value, str) or isinstance(value, _Whole):
        return value
    return printable(value).replace("<", "&lt;").replace("](", "]\\(").replace("][", "]\\[")


def _table(header: Iterable[Any], rows: Iterable[Iterable[Any]]) -> _Whole:
    lines = [[_cell(one) for one in row] for row in (header, *rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return _Whole("\n".join("| " + " | ".join(line) + " |" for line in lines))


def _cell(value: Any) -> str:
    return str(_prose(" ".join(str(value).split()))).replace("|", "\\|")


def _fenced(text: str) -> _Whole:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return _Whole(f"{fence}text\n{printable(text)}\n{fence}")
