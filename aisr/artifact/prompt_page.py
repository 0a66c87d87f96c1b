"""A compiled program as a person reads it: the prompt, what became of the seed instruction, how long each part is, and
how what the model says becomes a label."""

import difflib
import re
import textwrap
from typing import Any

from aisr.artifact.program import built_as
from aisr.programs.base import Judge, JudgeOptions
from aisr.programs.decision import CUES, Decision
from aisr.programs.ranker import EvidenceRanker
from aisr.programs.task import Task
from aisr.programs.text import length, sentences, tokens

MOST_DEMOS = 20  # a person reads no more
WIDTH = 110


def as_markdown(title: str, task: Task, program: Judge) -> str:
    """Instruction, fields and demos of each predictor of a program, and its decision layer, as Markdown. Text from data
    stands in fences."""
    seeds = dict(seed(task, program).named_predictors())
    parts = [f"# {title}", _lengths(program, program.options.nearest)]
    for name, predictor in program.named_predictors():
        parts.append(f"## Predictor `{name}`\n\n### Instruction\n\n{fenced(predictor.signature.instructions)}")
        parts.append(_since_the_seed(seeds[name].signature.instructions, predictor.signature.instructions))
        parts.append("### Fields\n\n" + "\n".join(_fields(predictor.signature)))
        parts += _demos(predictor, _nearest(program.options))
    if program.ranker is not None:
        parts.append(_ranker(program.ranker))
    if program.fitted:
        parts.append(f"## Learnt from train\n\n{program.fitted.page()}")
    if task.judgements is not None:
        parts.append(_decision(program.decision))
    if task.names_evidence and program.naming:
        parts.append(f"## Evidence\n\nNamed: {program.naming.describe()}.")
    return "\n\n".join(parts) + "\n"


def seed(task: Task, program: Judge) -> Judge:
    """The program as it was before any optimizer saw it."""
    return built_as(program, task, program.options.as_dict())


def lines_of(instruction: str) -> list[str]:
    """An instruction in lines that can be compared: a sentence or so each, or an item of a list, whatever its own line
    breaks."""
    items = re.split(r"\n(?=- )", instruction)
    return [line for one in items for part in sentences(one) for line in textwrap.wrap(part, WIDTH)]


def changed_lines(before: str, after: str) -> list[str]:
    """What one instruction lost (`- `) and gained (`+ `) against another, and what stayed; empty if they are equal."""
    found = list(difflib.ndiff(lines_of(before), lines_of(after)))
    return [line for line in found if line[0] != "?"] if any(line[0] in "+-" for line in found) else []


def fenced(text: str, language: str = "text") -> str:
    """A code block whose fence is longer than any in the text, so that no text can end it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def _lengths(program: Judge, near: int) -> str:
    """How many tokens, about, each part of the prompt takes that is the same for every record. near: how many demos are
    chosen for each, if they are."""
    if not program.predictors():
        return "It asks no LM."
    rows = ["| predictor | instruction | fields | demos |", "|---|---|---|---|"]
    for name, predictor in program.named_predictors():
        signature = predictor.signature
        demos = [length(demo, list(signature.fields)) for demo in predictor.demos]
        shown = f"{sum(demos)} ({', '.join(map(str, demos[:MOST_DEMOS]))})" if demos else "0"
        if 0 < near < len(demos):
            shown = f"about {near * sum(demos) / len(demos):.0f} ({near} of {len(demos)} for each record)"
        cells = [f"`{name}`", tokens(signature.instructions), tokens("\n".join(_fields(signature))), shown]
        rows.append("| " + " | ".join(map(str, cells)) + " |")
    return "Tokens, about four bytes each:\n\n" + "\n".join(rows)


def _since_the_seed(before: str, after: str) -> str:
    changed = changed_lines(before, after)
    if not changed:
        return "The instruction is the seed's, word for word."
    return "### What changed from the seed instruction\n\n" + fenced("\n".join(changed), "diff")


def _fields(signature: Any) -> list[str]:
    given = signature.input_fields
    return [
        f"- `{name}` ({'input' if name in given else 'output'}): {info.json_schema_extra.get('desc', '')}"
        for name, info in signature.fields.items()
    ]


def _nearest(options: JudgeOptions) -> str:
    """Which of the demos a record is shown, in words; nothing where it is all of them."""
    if not options.nearest:
        return ""
    by = {"words": "by words", "both": "by words and by word vectors"}
    told = by[options.nearest_by]
    return f", of which the {options.nearest} nearest to a record are shown, {told}"


def _demos(predictor: Any, shown: str) -> list[str]:
    parts = [f"### Demos: {len(predictor.demos)}{shown}"]
    for k, demo in enumerate(predictor.demos[:MOST_DEMOS], start=1):
        kind = "the program's own right answer" if demo.get("augmented") else "a labelled record"
        said = "\n".join(f"{field}: {demo[field]}" for field in predictor.signature.fields if field in demo)
        parts.append(f"#### Demo {k} ({kind})\n\n{fenced(said)}")
    if len(predictor.demos) > MOST_DEMOS:
        parts.append(f"… and {len(predictor.demos) - MOST_DEMOS} more in program.json")
    return parts


def _ranker(ranker: EvidenceRanker) -> str:
    """The weights of an evidence ranker, the heaviest first."""
    said = (
        "Paragraphs are ranked by a weighted sum of what can be counted about the claim and each of them, fitted on "
        "the gold evidence of train. A weight is what one standard deviation more of it adds."
    )
    rows = [f"| {name} | {weight:+.2f} |" for name, weight in ranker.by_weight()]
    return "\n\n".join(["## Evidence ranker", said, "\n".join(["| | weight |", "|---|---|", *rows])])


def _decision(decision: Decision | None) -> str:
    """The numbers of a decision layer, but for the vocabulary of its wording prior."""
    if decision is None:
        return "## Decision layer\n\nThe label is the one that the LM gives."
    weights = ", ".join(f"{weight:g} × {name}" for name, weight in decision.says.weights.items())
    rows = [["readiness to say it", *decision.says.offsets]]
    if decision.cues is not None:
        known = decision.cues.coefficients
        rows += [[f"cue: {name}", *known[name]] for name in CUES if name in known]
    lines = [
        "| | " + " | ".join(decision.labels) + " |",
        "|---" * (1 + len(decision.labels)) + "|",
        *("| " + " | ".join(cell if isinstance(cell, str) else f"{cell:.2f}" for cell in row) + " |" for row in rows),
    ]
    said = [
        "## Decision layer",
        f"The label with the highest sum of log-probabilities, {weights}, and its readiness to be said.",
        "\n".join(lines),
    ]
    return "\n\n".join(said)
