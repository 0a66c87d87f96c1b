"""What a compile came to, in words: which program it chose, and how that did."""

from aisr.judging.evaluate import Result
from aisr.metrics.intervals import in_words
from aisr.optimize.champion import Contender
from aisr.optimize.run import Run
from aisr.programs.nearest_demos import SIMILARITY_WORDS

HAND_WRITTEN = "the hand-written prompt"


def describe_contender(contender: Contender) -> str:
    """Return a candidate's result on dev, in one line."""
    name, seen = contender.name, "dev"
    options = contender.program.options
    if options.demos_per_record:
        name += f" (most similar demos {SIMILARITY_WORDS[options.demo_similarity]})"
    if not contender.finished:
        seen = f"{len(contender.dev.scores)} records of dev, where it was dropped"
    return f"{name}: {contender.dev.interval} on {seen}; {contender.prompt_tokens:,} prompt tokens"


def describe_champion(run: Run) -> str:
    """Return which program a compile chose, in words a reader of no document understands."""
    champion, seed = run.choice.champion, run.choice.contenders[0]
    if champion.name == seed.name:
        reason = "no candidate was better" if run.choice.contenders[1:] else "there is no candidate"
        return f"{HAND_WRITTEN}: {reason}"
    pairs = zip(champion.program.predictors(), seed.program.predictors(), strict=True)
    is_rewritten = any(now.signature.instructions != before.signature.instructions for now, before in pairs)
    counts = [len(predictor.demos) for predictor in champion.program.predictors() if predictor.demos]
    nearest = champion.program.options.demos_per_record
    parts = []
    if is_rewritten:
        parts.append("a rewritten instruction")
    if counts and nearest:
        parts.append(f"the {nearest} most similar of {max(counts)} demos for each record")
    elif counts:
        parts.append(f"{' and '.join(map(str, counts))} demos")
    what = " and ".join(parts) or "other settings than the uncompiled program"
    return f"{what} ({champion.name})"


def describe_run(run: Run) -> list[str]:
    """Return the champion of a compile, and how it did on dev and test, a line each. Failed records are not listed."""
    champion, seed = run.choice.champion, run.choice.contenders[0]
    lines = [
        f"the program: {describe_champion(run)}",
        f"  on dev, where it was chosen: {champion.dev.interval}; {HAND_WRITTEN} {seed.dev.interval}",
    ]
    if champion.dev.no_lm:
        lines.append(f"    no-LM baseline {champion.dev.no_lm.interval}")
    if champion.dev.at_target:
        lines.append(f"    weighted to the target: {champion.dev.at_target}; {HAND_WRITTEN} {seed.dev.at_target}")
    if run.choice.smoothed:
        few = ", ".join(f"{label} {count}" for label, count in run.choice.smoothed.items())
        lines.append(f"    race and choice counted labels with fewer than ten gold statements in dev less: {few}")
    if run.target:
        lines += [f"  forecast: {warning}" for warning in run.target.warnings()]
    if run.choice.unscored:
        lines.append(f"  not scored, the budget is spent: {', '.join(run.choice.unscored)}")
    if run.manifest.stopped_early:
        lines.append(f"  stopped early: {run.manifest.stopped_early}")
    if run.test:
        lines += _describe_test(run, run.test)
    elif "test" in run.manifest.data:
        lines.append("  on test: not scored, the budget was spent before")
    return lines


def _describe_test(run: Run, test: Result) -> list[str]:
    """Return how the champion did on test."""
    lines = [f"  on test, which chose nothing: {test.interval}"]
    gain = run.gain_on_test
    if gain is None:
        lines.append(f"    against {HAND_WRITTEN}: not known, the budget was spent before that was scored")
    elif run.choice.champion.name != run.choice.contenders[0].name:
        lines.append(f"    {in_words(gain, HAND_WRITTEN)}: {gain}")
    if test.at_target:
        lines.append(f"    weighted to the target: {test.at_target}")
    lines += [f"    {remark}" for remark in test.score.remarks]
    if test.no_lm:
        lines.append(f"    no-LM baseline {test.no_lm.interval}")
        if test.no_lm.score.score > test.score.score:
            lines.append(
                "    word counts score higher than this LM: try another one, or look at what it answers in report.html"
            )
    return lines
