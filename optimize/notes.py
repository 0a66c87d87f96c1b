"""What a run says of itself on its page in MLflow, as Markdown: what won, how sure that is, and the command."""

from typing import Any

from metrics.confidence import Interval
from optimize.champion import Choice, Contender, Tested
from optimize.display import EXACT_NAMES, percent
from optimize.evaluation import Evaluation


def of_compile(made: dict[str, Any], choice: Choice, test: Tested | None) -> str:
    """made: the manifest."""
    champion, baseline = choice.champion, choice.contenders[0]
    lines = [f"**{champion.name}** of {len(choice.contenders)} candidates, chosen on dev: **{champion.dev.interval}**"]
    if test is None:
        lines.append("Not scored on a test split.")
    else:
        gain = f", {_verdict(test.gain)} {baseline.name} (difference {test.gain})" if test.gain else ""
        lines.append(f"On test, which chose nothing: **{test.champion.interval}**{gain}")
    lines += [f"Decision layer: {(made['decision'] or {}).get('kept') or 'none'}", _code(made["command"])]
    rows = [_row(step, one) for step, one in enumerate(choice.contenders)]
    lines.append("\n".join(["| step | candidate | score on dev | LM calls so far |", "|---|---|---|---|", *rows]))
    if choice.unscored:
        lines.append(f"The budget left unscored: {', '.join(choice.unscored)}")
    if made["stopped_early"]:
        lines.append(f"Stopped early: {made['stopped_early']}")
    return "\n\n".join(lines)


def of_evaluation(done: Evaluation, name: str) -> str:
    """name: that of the program."""
    found = done.found
    exact = EXACT_NAMES[found.score.exact_name]
    failed = f"; {len(found.failures)} of them failed" if found.failures else ""
    rows = [f"| {label} | {percent(part.f1)} | {part.support} |" for label, part in found.score.per_label.items()]
    lines = [
        f"**{name}** on {len(found.tally)} records of {done.data.name}: **{found.interval}**{failed}",
        f"Macro-F1 {percent(found.score.macro_f1)}, {exact} {percent(found.score.exact)}",
        _code(done.command),
        "\n".join(["| label | F1 | gold |", "|---|---|---|", *rows]),
    ]
    if done.apart:
        parts = [f"| {way} | {part.interval} |" for way, part in done.apart.results.items()]
        lines.append("\n".join(["| what decides | score |", "|---|---|", *parts]))
    return "\n\n".join(lines)


def _row(step: int, one: Contender) -> str:
    dropped = "" if one.finished else f", dropped after {len(one.dev.tally)} records"
    return f"| {step} | {one.name} | {one.dev.interval}{dropped} | {one.calls} |"


def _verdict(gain: Interval) -> str:
    return "better than" if gain.low > 0 else "no better than"


def _code(command: str) -> str:
    """A block of code that no word of the command can end: it is one line."""
    return f"    {' '.join(command.split())}"
