"""What a compile says: how its candidates do, and what it found."""

from typing import Any

from aisr.base.text import percent
from aisr.commands.display import note, say_failures
from aisr.metrics.confidence import in_words


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
    if made.choice.too_dear:
        note(f"  not raced, dearer than --max-usd-per-1000: {', '.join(made.choice.too_dear)}")
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
