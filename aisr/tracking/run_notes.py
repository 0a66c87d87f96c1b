"""What a run says of itself on its page in MLflow, as Markdown: what won, how sure that is, and the command.

MLflow shows the first lines and the rest on demand; it sets the cells of a table without space between them, so there
are lists.
"""

from aisr.artifact.manifest import Manifest
from aisr.base.text import percent
from aisr.metrics.confidence import in_words
from aisr.optimize.experiment.evaluation import Evaluation
from aisr.optimize.search.champion import Choice, Contender, Tested


def of_compile(made: Manifest, choice: Choice, test: Tested | None) -> str:
    champion, baseline = choice.champion, choice.contenders[0]
    layer = made.layer
    lines = [f"**{champion.name}** of {len(choice.contenders)} candidates, chosen on dev: **{champion.dev.interval}**"]
    if test is None:
        lines.append("Not scored on a test split.")
    else:
        told = in_words(test.gain, len(test.champion.scores), baseline.name) if test.gain else ""
        gain = f", {told} (difference {test.gain})" if told else ""
        with_layer = ", with its decision layer" if layer else ""
        lines.append(f"On the held-out test split{with_layer}: **{test.champion.interval}**{gain}")
    lines += [f"Decision layer: {layer or 'none'}", _code(made.command or "")]
    lines.append("\n".join(_line(step, one) for step, one in enumerate(choice.contenders)))
    if choice.unscored:
        lines.append(f"Not scored, the budget is spent: {', '.join(choice.unscored)}")
    if made.stopped_early:
        lines.append(f"Stopped early: {made.stopped_early}")
    return "\n\n".join(lines)


def of_evaluation(done: Evaluation, name: str) -> str:
    """name: that of the program."""
    found = done.found
    parts = ", ".join(f"{done.loaded.task.parts[name]} {percent(value)}" for name, value in found.score.parts.items())
    failed = f"; {len(found.failures)} of them failed" if found.failures else ""
    labels = [f"* {label}: F1 {percent(part.f1)}, {part.support} gold" for label, part in found.score.per_label.items()]
    lines = [
        f"**{name}** on {len(found.scores)} records of {done.data.name}: **{found.interval}**{failed}",
        parts,
        _code(done.command),
        "\n".join(labels),
    ]
    return "\n\n".join(lines)


def _line(step: int, one: Contender) -> str:
    seen = "dev" if one.finished else f"{len(one.dev.scores)} records of dev, where it was dropped"
    return f"* candidate {step}: {one.name}, {one.dev.interval} on {seen}, {one.calls} LM calls until then"


def _code(command: str) -> str:
    """A block of code that no word of the command can end: it is one line."""
    return f"    {' '.join(command.split())}"
