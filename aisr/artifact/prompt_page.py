"""PROMPT.md, a compiled program as a person reads it: prompt, lengths, and how to reproduce it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dspy

from aisr.artifact.manifest import Manifest
from aisr.base.files import percent, with_interval
from aisr.lm.info import LMInfo
from aisr.programs.nearest_demos import SIMILARITY_WORDS
from aisr.programs.program import Options, Program
from aisr.programs.task import Task
from aisr.programs.text import length, tokens

MOST_DEMOS = 20  # a person reads no more
RANKER = (
    "Paragraphs are ranked by a weighted sum of what can be counted about the claim and each of them, fitted on the "
    "gold evidence of train. A weight is what one standard deviation more of it adds."
)
SPLITS = {
    "baseline_test": "uncompiled, test",
    "test": "test",
    "no_lm_test": "no-LM baseline, test",
    "target_dev": "dev, weighted to the target",
    "target_test": "test, weighted to the target",
}  # of the manifest


def prompt_page(title: str, task: Task, program: Program, manifest: Manifest | None = None) -> str:
    """Instruction, fields and demos of each predictor of a program, as Markdown. Text from data
    stands in fences. manifest: of the compile that the program comes from; the page then says how to reproduce it."""
    seeds = dict(task.build(program.options.model_dump()).named_predictors())  # as they were before any optimizer
    named = program.named_predictors()
    lengths = [[f"`{name}`", *map(str, part_tokens(predictor, program.options))] for name, predictor in named]
    parts = [
        f"# {title}",
        "Tokens, about four bytes each:",
        _table(["predictor", "instruction", "fields", "demos shown"], lengths),
    ]
    for name, predictor in named:
        instruction, seed = predictor.signature.instructions, seeds[name].signature.instructions
        parts += [f"## Predictor `{name}`", "### Instruction", _fenced(instruction)]
        if instruction == seed:
            parts.append("The instruction is the hand-written one, word for word.")
        else:
            parts += ["### The hand-written instruction, before the compile", _fenced(seed)]
        fields = "\n".join(_fields(predictor.signature))
        parts += ["### Fields", fields, *_demos(predictor, program.options)]
    if program.ranker is not None:
        weights = [[name, f"{weight:+.2f}"] for name, weight in program.ranker.by_weight()]
        parts += ["## Evidence ranker", RANKER, _table(["", "weight"], weights)]
    if program.fitted:
        parts += ["## Fitted on train", program.fitted.page()]
    if manifest is not None:
        parts += ["## Reproduce", *_reproduce(manifest)]
    return "\n\n".join(parts) + "\n"


def _fenced(text: str, language: str = "text") -> str:
    """Return a code block whose fence is longer than any in the text, so that no text can end it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def prompt_tokens(program: Program) -> int:
    """Return the tokens, about, of a program's prompts without the record: instructions, fields, and as many demos of
    average length as are shown."""
    return sum(sum(part_tokens(predictor, program.options)) for predictor in program.predictors())


def part_tokens(predictor: dspy.Predict, options: Options) -> tuple[int, int, int]:
    """Return the tokens of the instruction, the fields and the demos that a prompt of a predictor shows, about."""
    signature, count = predictor.signature, len(predictor.demos)
    of_demos = sum(length(demo, list(signature.fields)) for demo in predictor.demos)
    if 0 < options.demos_per_record < count:
        of_demos = round(options.demos_per_record * of_demos / count)
    return tokens(signature.instructions), tokens("\n".join(_fields(signature))), of_demos


def _fields(signature: type[dspy.Signature]) -> list[str]:
    lines = []
    for name, info in signature.fields.items():
        kind = "input" if name in signature.input_fields else "output"
        lines.append(f"- `{name}` ({kind}): {info.json_schema_extra.get('desc', '')}")
    return lines


def _demos(predictor: Any, options: Options) -> list[str]:
    title = f"### Demos: {len(predictor.demos)}"
    if options.demos_per_record:
        by = SIMILARITY_WORDS[options.demo_similarity]
        title += f", of which the {options.demos_per_record} nearest to a record are shown, {by}"
    parts = [title]
    for k, demo in enumerate(predictor.demos[:MOST_DEMOS], start=1):
        kind = "the program's own right answer" if demo.get("augmented") else "a labelled record"
        text = "\n".join(f"{field}: {demo[field]}" for field in predictor.signature.fields if field in demo)
        parts.append(f"#### Demo {k} ({kind})\n\n{_fenced(text)}")
    if len(predictor.demos) > MOST_DEMOS:
        parts.append(f"… and {len(predictor.demos) - MOST_DEMOS} more in program.json")
    return parts


def _describe_target(target: Mapping[str, Any]) -> str:
    """Return what the compile aimed at: the file by its digest, and the mix."""
    shares = []
    for name, ends in target.get("mix", {}).items():
        share = with_interval(*ends) if target.get("judged") else percent(ends[0])
        shares.append(f"{name} {share}")
    parts = [target.get("digest"), "; ".join(shares)]
    return ", ".join(part for part in parts if part) or "shapes alone"


def _reproduce(manifest: Manifest) -> list[str]:
    """Return what a technical report on a program must tell (guidelines, section 3): command, models, date, cost, data,
    settings, scores, versions. Of a server only the digest of its address is known."""
    spend = manifest.spend
    price = "price unknown" if spend["usd"] is None else f"{spend['usd']:.4f} USD"
    facts = {
        "LM": _describe_lm(manifest.lm),
        "teacher LM": _describe_lm(manifest.teacher) if manifest.teacher else "the same",
        "requests sent until": manifest.made or "unknown",
        "cost": f"{spend['calls']} calls (+{spend['cached_calls']} from the cache), {spend['prompt_tokens']} prompt "
        f"and {spend['completion_tokens']} completion tokens, {price}",
        "optimizer": f"{manifest.optimizer}: {listed(manifest.settings)}",
        "options": listed(manifest.options),
    }
    facts |= {title: str(manifest.scores[split]) for split, title in SPLITS.items() if split in manifest.scores}
    if manifest.target:
        facts["target"] = _describe_target(manifest.target)
    if manifest.gain_on_test:
        facts["gain on test"] = manifest.describe_gain()
    facts["versions"] = listed(manifest.versions)
    data = [[name, one.file, str(one.records), one.digest] for name, one in manifest.data.items()]
    return [
        _fenced(manifest.command or "", "sh"),
        _table(["", ""], facts.items()),
        _table(["split", "file", "records", "SHA-256, first 16 digits"], data),
    ]


def _describe_lm(lm: LMInfo) -> str:
    name = lm.spec
    if lm.model != lm.spec and lm.endpoint:
        name += f" (a server, digest of its address {lm.endpoint})"
    elif lm.model != lm.spec:
        name += f" ({lm.model})"
    return f"{name}, answers by {lm.adapter}, temperature {lm.temperature}"


def listed(values: Mapping[str, Any]) -> str:
    """Return names with their values, in a line."""
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header)]
    for row in rows:
        lines.append([cell.replace("|", "\\|") for cell in row])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
