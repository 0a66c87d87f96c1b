"""The technical report that the shared task demands (guidelines, section 3), from what was recorded.

What the manifest of a program does not hold is shown as missing; nothing is filled in from memory.
"""

from collections.abc import Mapping
from typing import Any

import dspy

from optimize.display import percent
from optimize.documents import MISSING, Block, Section, Table, Verbatim
from programs.ensemble import Ensemble

SPLITS = {
    "baseline_dev": "baseline, dev",
    "dev": "champion without decision layer, dev",
    "baseline_test": "baseline, test",
    "test": "champion, test",
}


def sections(program: dspy.Module, made: Mapping[str, Any], evaluation: Mapping[str, Any] | None) -> list[Section]:
    """What the guidelines ask for, in their order.

    made: the manifest; evaluation: what `aisr evaluate --ablate --output` wrote, if it was run.
    """
    return [
        Section("Data and preprocessing", _data(made)),
        Section("Architecture", _architecture(program, made)),
        Section("Prompting and retrieval", _prompting(program)),
        Section("Procedure and hyper-parameters", _procedure(made)),
        Section("Language models and cost", _models(made)),
        Section("Evaluation", _evaluation(made)),
        Section("Ablations", _ablations(made, evaluation)),
        Section("Software", [Table(["package", "version"], _versions(made))]),
    ]


def _versions(made: Mapping[str, Any]) -> list[list[str]]:
    return [[name, str(version)] for name, version in _get(made, "versions", {}).items()]


def _data(made: Mapping[str, Any]) -> list[Block]:
    rows = [
        [split, str(about.get("file", MISSING)), str(about.get("records", MISSING)), str(about.get("digest", MISSING))]
        for split, about in _get(made, "data", {}).items()
    ]
    settings = _get(made, "settings", {})
    planted = settings.get("planted")
    edits = (
        f"Planted edits: {MISSING}."
        if planted is None
        else f"{planted} records with planted edits, at most {settings.get('density')} in one, were added to train."
        if planted
        else "No records were added to train."
    )
    return [
        Table(["split", "file", "records", "SHA-256, first 16 digits"], rows),
        edits,
        "Control characters in texts became spaces, and words that LaTeX had spaced letter by letter were joined.",
        f"How the splits were made: {MISSING}; `aisr split` prints it. External data: {MISSING}.",
    ]


def _architecture(program: dspy.Module, made: Mapping[str, Any]) -> list[Block]:
    members = program.members if isinstance(program, Ensemble) else {"program": program}
    rows = [[name, option, str(value)] for name, one in members.items() for option, value in one.options.items()]
    blocks: list[Block] = [Table(["", "option", "value"], rows)]
    layer = program.decision
    if layer is None or not layer.kept:
        return [*blocks, "No decision layer: the label is the one that the model gives."]
    weights = ", ".join(f"{weight:.3g} x {name}" for name, weight in layer.says.weights.items())
    offsets = ", ".join(f"{label} {offset:.3g}" for label, offset in zip(layer.labels, layer.says.offsets, strict=True))
    return [
        *blocks,
        f"A decision layer, fitted on train and dev for the ranking score, takes the label with the highest sum of "
        f"log-probabilities ({weights}) and an offset a label ({offsets}). Its wording prior is a class-weighted "
        "logistic regression on TF-IDF of words and characters, its cues one on seven counts and shares.",
    ]


def _prompting(program: dspy.Module) -> list[Block]:
    blocks: list[Block] = []
    for name, predictor in program.named_predictors():
        blocks += [
            f"Predictor {name}: {len(predictor.demos)} demonstrations, and this instruction.",
            Verbatim(predictor.signature.instructions),
        ]
    return blocks


def _procedure(made: Mapping[str, Any]) -> list[Block]:
    settings = {"optimizer": _get(made, "optimizer"), **_get(made, "settings", {})}
    return [
        Table(["setting", "value"], [[name, str(value)] for name, value in settings.items()]),
        "Optimizers saw the ranking score linearised at the uncompiled program. Every candidate raced on dev by the "
        f"official score; the champion is {_get(made, 'champion')}, the baseline {_get(made, 'baseline')}.",
        "The command that made it:",
        Verbatim(str(_get(made, "command"))),
    ]


def _models(made: Mapping[str, Any]) -> list[Block]:
    rows = []
    for role in ("lm", "teacher"):
        about = made.get(role)
        if about:
            rows.append([role, *(str(about.get(key, MISSING)) for key in ("model", "adapter", "temperature"))])
    spend = _get(made, "spend", {})
    usd = spend.get("usd")
    cost = [
        ["calls sent", spend.get("calls")],
        ["calls answered from the cache", spend.get("cached_calls")],
        ["prompt tokens", spend.get("prompt_tokens")],
        ["completion tokens", spend.get("completion_tokens")],
        ["USD", None if usd is None else f"{usd:.4f}"],
    ]
    return [
        Table(["role", "model and version", "answers as", "temperature"], rows),
        f"Requests were sent until {_get(made, 'made')}.",
        Table(["cost of the compile", ""], [[name, MISSING if value is None else str(value)] for name, value in cost]),
        f"Cost of predicting the test set: {MISSING}; `aisr predict` prints it.",
    ]


def _evaluation(made: Mapping[str, Any]) -> list[Block]:
    scores = _get(made, "scores", {})
    rows = []
    for split, title in SPLITS.items():
        if split in scores:
            found = scores[split]
            exact = found.get("pem", found.get("joint_at_3"))
            shown = [_with_interval(found["score"], *found["interval"]), percent(found["macro_f1"]), percent(exact)]
            rows.append([title, *shown, str(found["failed"])])
    gain = made.get("gain_on_test")
    return [
        Table(["", "ranking score [95 % interval]", "macro-F1", "PEM or Joint@3", "failed"], rows),
        f"Paired difference on test, which chose nothing: {_with_interval(*gain) if gain else MISSING}.",
        "Intervals are by bootstrap over records. To score the program again:",
        Verbatim(_again(made)),
    ]


def _again(made: Mapping[str, Any]) -> str:
    """The command that scores the program once more."""
    task, test = _get(made, "task"), _get(_get(made, "data", {}), "test", {})
    program = f"artifacts/{task}/{_get(made, 'name')}"
    return f"aisr evaluate --task {task} --program {program} --data {_get(test, 'file')} --ablate"


def _ablations(made: Mapping[str, Any], evaluation: Mapping[str, Any] | None) -> list[Block]:
    blocks: list[Block] = []
    layer = made.get("decision") or {}
    if "cross_validated" in layer:
        rows = [[name, percent(score)] for name, score in layer["cross_validated"].items()]
        blocks += [
            f"Decision layer, cross-validated on {layer['records']} records of train and dev:",
            Table(["what decides", "ranking score"], rows),
        ]
    parts = (evaluation or {}).get("ablation")
    if not parts:
        return [*blocks, f"Ablation on test: {MISSING}; `aisr evaluate --ablate --output FILE` makes it."]
    rows = [
        [name, _with_interval(one["score"], *one["interval"]), percent(one["macro_f1"])] for name, one in parts.items()
    ]
    return [*blocks, "On the records of the evaluation:", Table(["what decides", "ranking score", "macro-F1"], rows)]


def _with_interval(value: float, low: float, high: float) -> str:
    return f"{percent(value)} [{percent(low)}, {percent(high)}]"


def _get(made: Mapping[str, Any], key: str, default: Any = MISSING) -> Any:
    found = made.get(key)
    return default if found is None else found


def title(made: Mapping[str, Any]) -> str:
    """The report's heading."""
    return f"NLPCC 2026 Shared Task 10, {_get(made, 'task')}: {_get(made, 'name')} ({_get(made, 'digest')})"
