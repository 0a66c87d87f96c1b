"""Verdicts on a draft as an author reads them in the terminal."""

from collections.abc import Sequence
from textwrap import shorten
from typing import Any

import dspy
from rich.padding import Padding
from rich.text import Text

from aisr.base.text import percent
from aisr.cli.display import console, note, say_failures
from aisr.metrics.intervals import in_words
from aisr.optimize.decision.explain import Reason
from aisr.predict.judge import Outcome
from aisr.programs.task import Exhibit, Judgements

# --- What a compile says: how its candidates do, and what it found.


def contender_line(contender: Any) -> str:
    """A candidate's result on dev, in one line."""
    seen = "dev" if contender.finished else f"{len(contender.dev.scores)} records of dev, where it was dropped"
    price = f", {contender.usd:.2f} USD a thousand records" if contender.usd else ""
    return f"    {contender.name}: {contender.dev.interval} on {seen}{price}"


def say_champion(made: Any) -> None:
    """What a compile found."""
    champion = made.choice.champion
    note(f"  champion: {champion.name}, {champion.dev.interval} on dev")
    if made.choice.smoothed:
        few = ", ".join(f"{label} {count}" for label, count in made.choice.smoothed.items())
        note(f"    race and choice counted labels with fewer than ten gold statements in dev less: {few}")
    doubtful = made.choice.doubtful
    if doubtful:
        gain = percent(doubtful.dev.score.score - champion.dev.score.score)
        note(f"    {doubtful.name} scores {gain} points more on dev, less than a standard error: it was not taken")
    best = max((one for one in made.choice.contenders if one.finished), key=lambda one: one.dev.score.score)
    better = best.dev.score.score > champion.dev.score.score
    if better and best is not doubtful and not made.choice.smoothed and best.usd and champion.usd:
        dearer = f"{best.usd / champion.usd:.1f} times the price"
        note(f"    {best.name} scores {percent(best.dev.score.score)}, which is not worth {dearer}")
    say_failures(champion.dev.failures)
    baseline = made.choice.contenders[0].name
    note(f"  difference from {baseline} on dev, where it was chosen: {champion.gain}")
    if made.fitted:
        say_decision(made.fitted.report)
    if made.manifest.names_none is not None:
        note(f"  no evidence is named with: {', '.join(made.manifest.names_none) or '(no label)'}")
    if made.choice.unscored:
        note(f"  not scored, the budget is spent: {', '.join(made.choice.unscored)}")
    if made.manifest.stopped_early:
        note(f"  stopped early: {made.manifest.stopped_early}")
    if made.test:
        note(f"  on the held-out test split: {made.test.champion.interval}")
        for remark in made.test.champion.score.remarks:
            note(f"    {remark}")
        if made.test.champion.floor:
            note(f"  without any LM, on test: {made.test.champion.floor.interval}")
        say_failures(made.test.champion.failures)
        if made.test.gain is None:
            note(f"  difference from {baseline} on test: not known, the budget was spent before that was scored there")
        else:
            told = in_words(made.test.gain, len(made.test.champion.scores), baseline)
            note(f"  difference from {baseline} on test: {made.test.gain}: {told}")
            for remark in made.test.baseline.score.remarks:
                note(f"    {baseline}: {remark}")
    elif "test" in made.manifest.data:
        note("  on the held-out test split: not scored, the budget was spent before")


def say_decision(report: dict[str, Any]) -> None:
    """What became of the decision layer."""
    if "why" in report:
        note(f"  decision layer: none ({report['why']})")
        return
    scores = ", ".join(f"{name} {percent(score)}" for name, score in report["cross_validated"].items())
    low, high = report["gain"][1:]
    kept = f"kept: {report['kept']}" if report["kept"] else "not kept: no better than the LM as it is"
    note(f"  decision layer, cross-validated on {report['records']} records ({', '.join(report['sources'])}): {scores}")
    votes = report["sources"].get("vote")
    if votes and "stated" in report["sources"]:
        note(
            f"    {votes} of {sum(report['sources'].values())} labels came with no usable probability: a vote stands in"
        )
    note(f"    gain {percent(report['gain'][0])} [{percent(low)}, {percent(high)}]; {kept}")


# --- Verdicts on a draft as an author reads them in the terminal.

LONGEST = 400  # characters of a piece of evidence


def say_verdicts(
    labelled: Judgements,
    example: dspy.Example,
    outcome: Outcome,
    reasons: Sequence[Reason],
    evidence: Sequence[Exhibit],
) -> None:
    """Each statement of an example with its verdict, and what can be read off of why.

    evidence: the paragraphs that were named; without any, each statement has the line that is nearest.
    """
    statements = labelled.statements(example)
    for k, (text, judged, reason) in enumerate(zip(statements, outcome.judgements, reasons, strict=True), start=1):
        mark = ("✓", "bold green") if judged.label == labelled.neutral else ("✗", "bold red")
        sure = f" {judged.chances[labelled.labels.index(judged.label)]:.0%}" if judged.known else ""
        verdict = (f" {k}. {judged.label}{sure}", "bold")
        _say(Text.assemble(mark, verdict, f"  {labelled.definitions[judged.label]}"))
        _say(text, 5)
        for opinion in reason.opinions:
            weight = "" if opinion.weight is None else f", weight {opinion.weight:.2g}"
            sure = "" if opinion.chance is None else f" {opinion.chance:.0%}"
            _say(f"{opinion.expert}: {opinion.label}{sure}{weight}", 5, "dim")
        for cue, found in reason.signs.items():
            _say(f"{cue}: {', '.join(found)}", 5, "dim")
        if not evidence:
            nearest = shorten(reason.nearest, LONGEST, placeholder=" …") or "none has a word of it"
            _say(f"nearest evidence: {nearest}", 5, "dim")
    for exhibit in evidence:
        words = shorten(exhibit.text, LONGEST, placeholder=" …")
        _say(f"evidence {exhibit.chosen}: [{exhibit.key}] {words}", 5)
    neutral = labelled.neutral
    wrong = sum(judged.label != neutral for judged in outcome.judgements)
    console.print(f"{wrong} of {len(statements)} not called {neutral}" if wrong else f"all called {neutral}")


def _say(said: str | Text, indent: int = 0, style: str = "") -> None:
    """Print a text as it stands. It is not written as markup: rich takes a minute to escape 80 kB of backslashes."""
    text = Text(said) if isinstance(said, str) else said
    console.print(Padding(text, (0, 0, 0, indent), expand=False), style=style or None, soft_wrap=False)
