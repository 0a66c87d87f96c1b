"""What sets two compiled programs of a task apart: options, instructions, demos, decision layer."""

import difflib
from collections.abc import Mapping
from typing import Any

from aisr.artifact.program_file import Loaded
from aisr.artifact.prompt_page import changed_lines, fenced
from aisr.programs.decision.layer import Decision
from aisr.programs.errors import UserError
from aisr.programs.judges.contract import Program, named_by
from aisr.programs.judges.learnt import learnt_by
from aisr.programs.retrieval.evidence_list import described
from aisr.programs.retrieval.knn_demos import wording

ELSEWHERE = (
    "Options, instructions and demos are the same; they differ in fitted numbers that are not listed here, such as "
    "those of the wording prior. `aisr compare` shows whether it matters."
)
SHOWN = 100  # characters of a demo


def as_markdown(a: Loaded, b: Loaded, names: tuple[str, str]) -> str:
    """The differences as Markdown, `-` for what only the first has and `+` for what only the second has.

    Raises UserError for programs of two tasks.
    """
    if a.task is not b.task:
        raise UserError(
            f"{names[0]} is compiled for {a.task.name}, {names[1]} for {b.task.name}; compare two of one task"
        )
    parts = [f"# `{names[0]}` ({a.digest}) → `{names[1]}` ({b.digest})"]
    if a.digest == b.digest:
        return f"{parts[0]}\n\nThe same program.\n"
    parts += _table("Options", _options(a.program), _options(b.program))
    first, second = (dict(loaded.program.named_predictors()) for loaded in (a, b))
    for name in dict.fromkeys([*first, *second]):
        parts += _predictor(name, first.get(name), second.get(name))
    parts += _table("Evidence ranker", _ranked(a.program), _ranked(b.program))
    parts += _learnt(a.program, b.program)
    parts += _table("Decision layer", _numbers(a.program.decision), _numbers(b.program.decision))
    if a.task.names_evidence:
        parts += _table(
            "Evidence", *({"named": described(one)} for one in map(named_by, (a.program, b.program)) if one)
        )
    if len(parts) == 1:
        parts.append(ELSEWHERE)
    return "\n\n".join(parts) + "\n"


def _options(program: Program) -> dict[str, str]:
    return {option: str(value) for option, value in program.options.items()}


def _ranked(program: Program) -> dict[str, str]:
    """The weights of the evidence ranker by what they weigh."""
    return {name: f"{weight:+.2f}" for name, weight in program.ranker.by_weight()} if program.ranker else {}


def _learnt(a: Program, b: Program) -> list[str]:
    """What was learnt from train, line by line."""
    before, after = ((known.page() if (known := learnt_by(one)) else "").splitlines() for one in (a, b))
    changed = [line for line in difflib.ndiff(before, after) if line[0] in "+-"]
    return ["## Learnt from train\n\n" + fenced("\n".join(changed), "diff")] if changed else []


def _predictor(name: str, a: Any, b: Any) -> list[str]:
    if a is None or b is None:
        return [f"## Predictor `{name}`\n\nOnly the {'second' if a is None else 'first'} has it."]
    parts = []
    changed = changed_lines(a.signature.instructions, b.signature.instructions)
    if changed:
        parts.append("### Instruction\n\n" + fenced("\n".join(changed), "diff"))
    lost, gained = _only(a, b), _only(b, a)
    if lost or gained:
        lines = [*(f"- {demo}" for demo in lost), *(f"+ {demo}" for demo in gained)]
        kept = len(a.demos) - len(lost)
        parts.append(f"### Demos ({kept} in both)\n\n" + fenced("\n".join(lines), "diff"))
    return [f"## Predictor `{name}`", *parts] if parts else []


def _only(one: Any, other: Any) -> list[str]:
    """The demos of one predictor that another lacks, each in a line: its outputs, and how its last input begins."""
    known = [_content(demo) for demo in other.demos]
    signature = one.signature
    judged = list(signature.input_fields)[-1]
    return [
        f"{' | '.join(wording(demo.get(name, '')) for name in signature.output_fields)[:SHOWN]}"
        f" ← {' '.join(wording(demo.get(judged, '')).split())[:SHOWN]}"
        for demo in one.demos
        if _content(demo) not in known
    ]


def _content(demo: Any) -> dict[str, Any]:
    return {name: value for name, value in dict(demo).items() if name != "augmented"}


def _numbers(decision: Decision | None) -> dict[str, str]:
    """The numbers of a layer by what they are."""
    if decision is None:
        return {"": "none: the label is the LM's"}
    found = {f"weight of {name}": f"{weight:.3g}" for name, weight in decision.says.weights.items()}
    offsets = zip(decision.labels, decision.says.offsets, strict=True)
    found |= {f"readiness to say {label}": f"{offset:.3g}" for label, offset in offsets}
    return found


def _table(title: str, a: Mapping[str, str], b: Mapping[str, str]) -> list[str]:
    rows = [
        f"| {name} | {a.get(name, '–')} | {b.get(name, '–')} |"
        for name in dict.fromkeys([*a, *b])
        if a.get(name) != b.get(name)
    ]
    return [f"## {title}\n\n" + "\n".join(["| | first | second |", "|---|---|---|", *rows])] if rows else []
