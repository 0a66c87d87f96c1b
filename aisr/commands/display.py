"""What the command shows while it works and when it is done."""

import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from aisr.base import redact
from aisr.base.redact import printable
from aisr.base.text import percent

# Into a pipe or a file, tables may be wider than the 80 columns that rich would assume.
console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 120)


SILENCE = 15.0  # seconds, at most, where no terminal shows that a command is at work


class Calls(ProgressColumn):
    """LM calls so far, read from the ledger whenever the line is drawn."""

    def __init__(self, ledger: Any) -> None:
        super().__init__()
        self.ledger = ledger

    def render(self, task: Any) -> Text:
        spend = self.ledger.spend
        cached = f" (+{spend.cached_calls} cached)" if spend.cached_calls else ""
        return Text(f"{spend.calls} LM calls{cached}")


class Live:
    """A line that says what is going on, below the lines already printed."""

    def __init__(self, progress: Progress) -> None:
        self.now = "starting"
        self._progress = progress
        self._task = progress.add_task(self.now, total=None)
        self._records = 0

    def stage(self, text: str) -> None:
        self.say(f"  {text}")
        self._records = 0
        self._describe(text)

    def judged(self) -> None:
        self._records += 1
        self._describe(f"{self._records} records judged")

    def _describe(self, text: str) -> None:
        self.now = text
        self._progress.update(self._task, description=text)

    def say(self, text: str) -> None:
        self._progress.console.print(text, markup=False)


@contextmanager
def live(ledger: Any) -> Iterator[Live]:
    """Show progress on a terminal; elsewhere what `stage` and `say` print, and a line every `SILENCE` seconds."""
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), Calls(ledger), TimeElapsedColumn())
    console.file = sys.stdout  # bound meanwhile: what DSPy prints is redirected while optimizers run, and this is not
    ended = threading.Event()
    try:
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            shown = Live(progress)
            if not console.is_terminal:
                threading.Thread(target=_signs_of_life, args=(shown, ledger, ended), daemon=True).start()
            yield shown
    finally:
        ended.set()
        console.file = None  # type: ignore[assignment]  # rich: whatever sys.stdout is at the time


def _signs_of_life(shown: Live, ledger: Any, ended: threading.Event) -> None:
    began = time.monotonic()
    while not ended.wait(SILENCE):
        spend = ledger.spend
        shown.say(
            f"  … {time.monotonic() - began:.0f} s: {shown.now}; {spend.calls} LM calls, {spend.cached_calls} cached"
        )


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; all but the first column are aligned right."""
    shown = Table(title=title, title_justify="left", title_style="bold")
    for k, name in enumerate(header):
        shown.add_column(name, justify="left" if k == 0 else "right", overflow="fold")
    for row in rows:
        shown.add_row(*(Text(cell) for cell in row))
    console.print(shown, soft_wrap=False)


def score_table(parts: Mapping[str, str], report: Mapping[str, Any]) -> None:
    """A score report: the ranking score with its parts (see `Task.parts`), then each label where there are some."""
    interval = report.get("interval")
    suffix = f"   95 % interval [{percent(interval[0])}, {percent(interval[1])}]" if interval else ""
    console.print(f"ranking score {percent(report['score'])}{suffix}", style="bold")
    console.print("  " + "   ".join(f"{words} {percent(report[name])}" for name, words in parts.items()))
    for remark in report.get("remarks", ()):
        note(f"  {remark}")
    if floor := report.get("floor"):
        low, high = map(percent, floor["interval"])
        told = "   ".join(f"{words} {percent(floor[name])}" for name, words in parts.items())
        note(f"  without any LM {percent(floor['score'])} [{low}, {high}]   {told}")
    rows = [
        [label, percent(part["precision"]), percent(part["recall"]), percent(part["f1"]), str(part["support"])]
        for label, part in report.get("per_label", {}).items()
    ]
    if rows:
        table("by label", ["label", "precision", "recall", "F1", "gold"], rows)


def note(text: str) -> None:
    console.print(printable(text), markup=False)


def complain(text: str) -> None:
    """Say on standard error what went wrong, where a command goes on all the same."""
    print(f"error: {redact.secrets(text)}", file=sys.stderr)


def say_estimate(found: Any) -> None:
    """What a compile would come to."""
    note(
        f"about {_spending(found.usual)}, where every answer can be used; at most {_spending(found.most)}, if each has "
        "to be asked for twice and the cache keeps none (an answer as long as a labelled one; a model that reasons "
        "first writes more). Nothing was sent"
    )


def say_budgets(offered: Mapping[str, Any]) -> None:
    """What a compile would come to with each budget: settings and bounds by its name."""
    rows = [
        [
            name,
            f"{settings.candidates}",
            f"{settings.demos}",
            *(f"{part.calls:,}" for part in (found.usual, found.most)),
            *("?" if part.usd is None else f"{part.usd:.2f}" for part in (found.usual, found.most)),
        ]
        for name, (settings, found) in offered.items()
    ]
    if rows:
        names = ["--budget", "candidates", "demos", "LM calls, about", "at most", "USD, about", "at most"]
        table("the same with each budget", names, rows)


def _spending(part: Any) -> str:
    price = "price unknown (--price gives it)" if part.usd is None else f"{part.usd:.2f} USD"
    embedded = ""
    if part.embedded:
        price = price.replace("(--price gives", "(--price and --embedding-price give")
        embedded = f" ({part.embedded:,} of them to embed)"
    return (
        f"{part.calls:,} LM calls, {part.prompt_tokens:,} prompt{embedded} and {part.completion_tokens:,} completion "
        f"tokens, {price}"
    )


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
    best = max((one for one in made.choice.contenders if one.finished), key=lambda one: one.dev.score.score)
    if best.dev.score.score > champion.dev.score.score and not made.choice.smoothed:
        priced = best.usd and champion.usd
        dearer = f"{best.usd / champion.usd:.1f} times the price" if priced else "its many demos"
        note(f"    {best.name} scores {percent(best.dev.score.score)}, which is not worth {dearer}")
    say_failures(champion.dev.failures)
    baseline = made.choice.contenders[0].name
    note(f"  difference from {baseline} on dev, where it was chosen: {champion.gain}")
    if made.fitted:
        say_decision(made.fitted.report)
    if made.manifest.naming:
        say_naming(made.manifest.naming)
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
        if made.test.gain:
            better = "better" if made.test.gain.low > 0 else "no better"
            note(f"  difference from {baseline} on test: {made.test.gain}: {better} than {baseline}")
            for remark in made.test.baseline.score.remarks:
                note(f"    {baseline}: {remark}")


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


def say_naming(naming: Any) -> None:
    """What became of how evidence is named."""
    if naming.why:
        note(f"  evidence: the model's first two ids and the ranker's best ({naming.why})")
        return
    hits = ", ".join(f"{way} {percent(hit)}" for way, hit in naming.hit.items())
    fills = "; ".join(f"{label}: {fill}" for label, fill in naming.fill.items())
    gain, low, high = map(percent, naming.gain)
    note(f"  evidence, cross-validated Hit@3: {hits}")
    note(f"    taken: {naming.way}; {fills}; right with its label {gain} [{low}, {high}] points more often")


def say_ablation(parts: Mapping[str, str], found: Any) -> None:
    """The scores of a program with less and less of its decision layer left out."""
    rows = [
        [name, str(part.interval), *(percent(value) for value in part.score.parts.values())]
        for name, part in found.results.items()
    ]
    table("what decides", ["", "ranking score", *parts.values()], rows)
    labels = next(iter(found.results.values())).score.per_label
    f1 = [[label, *(percent(part.score.per_label[label].f1) for part in found.results.values())] for label in labels]
    table("F1 by label and what decides", ["", *found.results], f1)
    if found.error_before is not None and found.error_after is not None:
        note(
            f"expected calibration error: {percent(found.error_before)} of the LM alone, "
            f"{percent(found.error_after)} with the layer"
        )


def say_confidence(held: Mapping[str, Any]) -> None:
    """How sure a program was, by where its probabilities come from, and whether it was right to be."""
    from aisr.programs.asking.label_probabilities import SOURCES  # loads DSPy

    for source, one in held.items():
        found = one.report()
        surest = ", ".join(
            f"{percent(hit)} of the surest {share} %" for share, hit in found["accuracy_of_surest"].items()
        )
        note(
            f"{found['judgements']} labels with probabilities ({SOURCES[source]}): right {surest}; expected "
            f"calibration error {percent(found['calibration_error'])}"
        )


def say_failures(failures: dict[str, str], count: int | None = None) -> None:
    """The failed records, the first ten with their reasons. count: how many there are, where not all are given."""
    for key, reason in list(failures.items())[:10]:
        note(f"  failed: {key}: {reason}")
    if failures:
        note(f"{count or len(failures)} records failed")


def say_pictures(problems: dict[tuple[str, str], str]) -> None:
    """The pictures that could not be shown, the first ten with their reasons."""
    for (record, path), reason in list(problems.items())[:10]:
        note(f"  no picture: {record}: {path}: {reason}")
    if problems:
        note(f"{len(problems)} pictures cannot be shown; their captions stand in for them")


def say_asked(second: int, judged: int, below: float) -> None:
    """How often a second LM was asked."""
    share = f" ({percent(second / judged)} %)" if judged else ""
    note(f"asked the second LM about {second} of {judged} records{share}: the first was less than {below:g} sure")


def say_foretold(found: Any, records: int) -> None:
    """What a prediction would come to."""
    note(f"{records} records, each as long as those of dev: about {_spending(found.first)}. Nothing was sent")
    if found.second is None:
        return
    note(
        f"  of the {found.dev} dev records {found.unsure} ({percent(found.unsure / found.dev)} %) would go to the "
        f"second LM as well: about {_spending(found.second)}"
    )
    if found.known < found.dev:
        note(f"  of {found.dev - found.known} it is not known how sure the first is: they go to the second")
    note("  program and decision layer were chosen on dev: expect it to be unsure of more")


def say_spend(spend: Any, records: int = 0, whose: str = "") -> None:
    """What the calls of this command came to; also a record, where there are records and calls were sent. whose: what
    stands before it, where there are several."""
    price = "price unknown" if spend.usd is None else f"{spend.usd:.4f} USD"
    note(
        f"{whose}{spend.calls} LM calls (+{spend.cached_calls} from the cache), {spend.prompt_tokens} prompt and "
        f"{spend.completion_tokens} completion tokens, {price}"
    )
    if records and spend.calls:
        note(
            f"  a record: {spend.prompt_tokens / records:.0f} prompt tokens, {spend.prefix_tokens / records:.0f} of "
            f"them in the provider's cache; {spend.completion_tokens / records:.0f} completion tokens"
        )
    if spend.cut_prompts:
        note(
            f"warning: of {spend.cut_prompts} prompts the server counted far fewer tokens than they have: it probably "
            "did not read them whole. Raise its context length (see docs/local-models.md) and remove artifacts/.cache"
        )


def say_batch(made: Any, out: Any) -> None:
    """What an export for a batch API wrote."""
    say_failures(made.failures)
    note(f"wrote {out}: {made.requests} requests of {made.records} records, {made.size / 1e6:.1f} MB; nothing was sent")
    if made.too_large:
        note(f"  that is more than OpenAI takes in one file ({made.too_large}); predict the records in several parts")
