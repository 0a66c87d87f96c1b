"""The technical report that the shared task demands (guidelines, section 3), from what was recorded.

What the manifest of a program does not hold is shown as missing; nothing is filled in from memory.
"""

import shlex

from aisr.artifact.manifest import Manifest
from aisr.base.text import percent, with_interval
from aisr.programs.judges.contract import Program
from aisr.report.documents import MISSING, Block, Section, Table, Verbatim
from aisr.tasks.task import Task

SPLITS = {
    "baseline_dev": "baseline, dev",
    "dev": "champion without decision layer, dev",
    "baseline_test": "baseline, test",
    "test": "champion, test",
    "floor_test": "without any LM, test",
}


def sections(task: Task, program: Program, made: Manifest, again: str) -> list[Section]:
    """What the guidelines ask for, in their order.

    again: the command that scores the program once more.
    """
    return [
        Section("Data and preprocessing", _data(made)),
        Section("Architecture", _architecture(program, made)),
        Section("Prompting and retrieval", _prompting(program)),
        Section("Procedure and hyper-parameters", _procedure(made)),
        Section("Language models and cost", _models(made)),
        Section("Evaluation", _evaluation(task, made, again)),
        Section("Ablations", _ablations(made)),
        Section("Software", [Table(["package", "version"], _versions(made))]),
    ]


def _versions(made: Manifest) -> list[list[str]]:
    return [[name, version] for name, version in made.versions.items()]


def _data(made: Manifest) -> list[Block]:
    rows = [[split, about.file, str(about.records), about.digest] for split, about in made.data.items()]
    return [
        Table(["split", "file", "records", "SHA-256, first 16 digits"], rows),
        *_corrections(made),
        "Control characters in texts became spaces, and words that LaTeX had spaced letter by letter were joined.",
        f"How the splits were made: {MISSING}; `aisr split` prints it. External data: {MISSING}.",
    ]


def _architecture(program: Program, made: Manifest) -> list[Block]:
    rows = [[option, str(value)] for option, value in program.options.items()]
    blocks: list[Block] = [Table(["option", "value"], rows)]
    layer = program.decision
    if layer is None:
        return [*blocks, "No decision layer: the label is the one that the model gives."]
    weights = ", ".join(f"{weight:.3g} x {name}" for name, weight in layer.says.weights.items())
    offsets = ", ".join(f"{label} {offset:.3g}" for label, offset in zip(layer.labels, layer.says.offsets, strict=True))
    return [
        *blocks,
        f"A decision layer, fitted on train and dev for the ranking score, takes the label with the highest sum of "
        f"log-probabilities ({weights}) and an offset a label ({offsets}). Its wording prior is a class-weighted "
        "logistic regression on TF-IDF of words and characters, its cues one on seven counts and shares.",
    ]


def _prompting(program: Program) -> list[Block]:
    blocks: list[Block] = []
    for name, predictor in program.named_predictors():
        demos = f"Predictor {name}: {len(predictor.demos)} demonstrations"
        blocks += [f"{demos}, and this instruction.", Verbatim(predictor.signature.instructions)]
    return blocks


def _procedure(made: Manifest) -> list[Block]:
    settings = {"optimizer": made.optimizer or MISSING, **made.settings}
    return [
        Table(["setting", "value"], [[name, str(value)] for name, value in settings.items()]),
        "Optimizers saw the ranking score linearised at the uncompiled program. Every candidate raced on dev by the "
        f"official score; the champion is {made.champion or MISSING}, the baseline {made.baseline or MISSING}.",
        "The command that made it:",
        Verbatim(made.command or MISSING),
    ]


def _models(made: Manifest) -> list[Block]:
    rows = [
        [role, *(MISSING if value is None else str(value) for value in (about.model, about.adapter, about.temperature))]
        for role, about in (("lm", made.lm), ("teacher", made.teacher))
        if about
    ]
    spend = made.spend
    cost = [
        ["calls sent", str(spend.calls)],
        ["calls answered from the cache", str(spend.cached_calls)],
        ["prompt tokens", str(spend.prompt_tokens)],
        ["completion tokens", str(spend.completion_tokens)],
        ["USD", MISSING if spend.usd is None else f"{spend.usd:.4f}"],
    ]
    return [
        Table(["role", "model and version", "answers as", "temperature"], rows),
        f"Requests were sent until {made.made or MISSING}.",
        Table(["cost of the compile", ""], cost),
        f"Cost of predicting the test set: {MISSING}; `aisr predict` prints it.",
    ]


def _evaluation(task: Task, made: Manifest, again: str) -> list[Block]:
    rows = [
        [title, str(found), *_parts(task, found.parts), str(found.failed)]
        for split, title in SPLITS.items()
        if (found := made.scores.get(split))
    ]
    gain = with_interval(*made.gain_on_test) if made.gain_on_test else MISSING
    return [
        Table(["", "ranking score [95 % interval]", *task.parts.values(), "failed"], rows),
        f"Paired difference on the held-out test split: {gain}.",
        "Intervals are by bootstrap over records. To score the program again:",
        Verbatim(again),
    ]


def _parts(task: Task, found: dict[str, float]) -> list[str]:
    return [percent(found[name]) if name in found else MISSING for name in task.parts]


def _corrections(made: Manifest) -> list[Block]:
    """What of train people corrected; nothing where nobody did."""
    if (found := made.corrections) is None:
        return []
    return [
        f"{found.records} records that people corrected were in train (digest {found.digest}), {found.replaced} of "
        f"them in the place of others; {found.left_out} were left out, as dev or test share something with them."
    ]


def scoring_again(made: Manifest, name: str, artifacts: str) -> str:
    """The command that scores a program once more on the test split of its compile, where it ran; a server's address is
    not known. name: as the user gave it; artifacts: the folder."""
    lm, test = made.lm, made.data.get("test")
    words = ["aisr", "evaluate", "--task", made.task, "--program", name, "--data", (test and test.path) or MISSING]
    words += ["--limit", str(test.records)] if test else []
    words += ["--lm", lm.spec or MISSING, *(["--api-base", "…"] if lm.endpoint else [])]
    words += ["--no-schema"] if lm.adapter == "ChatAdapter" else []
    words += ["--no-logprobs"] if lm.logprobs is False else []
    return shlex.join([*words, "--artifacts", artifacts]).replace("'…'", "…")


def _ablations(made: Manifest) -> list[Block]:
    layer = made.decision
    if not layer or not layer.cross_validated:
        return [f"Ablations: {MISSING}."]
    rows = [[name, percent(score)] for name, score in layer.cross_validated.items()]
    return [
        f"Decision layer, cross-validated on {layer.records or MISSING} records of train and dev:",
        Table(["what decides", "ranking score"], rows),
    ]


def title(made: Manifest) -> str:
    """The report's heading."""
    return f"NLPCC 2026 Shared Task 10, {made.task}: {made.name or MISSING} ({made.digest})"
