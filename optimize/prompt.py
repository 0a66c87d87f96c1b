"""A compiled program as a person reads it: the prompt, and how what the model says becomes a label."""

import dspy

from programs.cues import CUES
from programs.decision import Decision

MOST_DEMOS = 20  # a person reads no more


def as_markdown(title: str, program: dspy.Module) -> str:
    """Instruction, fields and demos of each predictor of a program, and its decision layer, as Markdown. Text from data
    stands in fences."""
    parts = [f"# {title}"]
    for name, predictor in program.named_predictors():
        signature = predictor.signature
        parts.append(f"## Predictor `{name}`\n\n### Instruction\n\n{_fenced(signature.instructions)}")
        fields = [
            f"- `{field}` ({'input' if field in signature.input_fields else 'output'}): "
            f"{info.json_schema_extra.get('desc', '')}"
            for field, info in signature.fields.items()
        ]
        parts.append("### Fields\n\n" + "\n".join(fields))
        few = program.options.get("nearest")
        shown = f", of which the {few} nearest to a record are shown" if few else ""
        parts.append(f"### Demos: {len(predictor.demos)}{shown}")
        for k, demo in enumerate(predictor.demos[:MOST_DEMOS], start=1):
            kind = "the program's own right answer" if demo.get("augmented") else "a labelled record"
            said = "\n".join(f"{field}: {demo[field]}" for field in signature.fields if field in demo)
            parts.append(f"#### Demo {k} ({kind})\n\n{_fenced(said)}")
        if len(predictor.demos) > MOST_DEMOS:
            parts.append(f"… and {len(predictor.demos) - MOST_DEMOS} more in program.json")
    if program.decision is not None:
        parts.append(_decision(program.decision))
    return "\n\n".join(parts) + "\n"


def _decision(decision: Decision) -> str:
    """The numbers of a decision layer, but for the vocabulary of its wording prior."""
    if not decision.kept:
        return "## Decision layer\n\nThe label is the one that the model gives: no fitted rule was better."
    weights = ", ".join(f"{weight:g} × {name}" for name, weight in decision.says.weights.items())
    rows = [["readiness to say it", *decision.says.offsets]]
    if decision.cues is not None:
        rows += [[f"cue: {name}", *decision.cues.coefficients[name]] for name in CUES]
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
    for k, votes in decision.says.votes.items():
        said.append(f"{decision.labels[k]} passes before all others where {votes} or more members say it.")
    if decision.evidence is not None:
        fills = "; ".join(f"{label}: {fill}" for label, fill in decision.evidence.fill.items())
        said.append(f"Evidence to name: {fills}. Weight of what the model named: {decision.evidence.named_weight:g}.")
    return "\n\n".join(said)


def _fenced(text: str) -> str:
    """A code block whose fence is longer than any in the text, so that no text can end it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text}\n{fence}"
