"""What commands print while they work and when they are done."""

import os
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

from aisr.base.files import percent
from aisr.base.redact import printable


class _Console(Console):
    """A console whose command goes on where nobody reads what it prints: its files and its exit code matter more."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is flushed at the end


# Into a pipe or a file, tables may be wider than the 80 columns that rich would assume.
console = _Console(highlight=False, emoji=False, soft_wrap=True, width=None if sys.stdout.isatty() else 120)

MOST_NAME = 200  # characters of an id or path that are printed, as it may be anything
FEWEST = 10  # records that an interval is shown for, as in `aisr.metrics.intervals`, which loads numpy
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
    """A line with the stage of the work, below the lines already printed."""

    def __init__(self, progress: Progress) -> None:
        self.now = "starting"
        self._progress = progress
        self._task = progress.add_task(self.now, total=None)
        self._records = 0

    def stage(self, text: str) -> None:
        self.say(f"  {text}")
        self._records = 0
        self._describe(text)

    def judged(self, *_: object) -> None:
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
            line = Live(progress)
            if not console.is_terminal:
                threading.Thread(target=_signs_of_life, args=(line, ledger, ended), daemon=True).start()
            yield line
    finally:
        ended.set()
        console.file = None  # type: ignore[assignment]  # rich: whatever sys.stdout is at the time


def _signs_of_life(line: Live, ledger: Any, ended: threading.Event) -> None:
    began = time.monotonic()
    while not ended.wait(SILENCE):
        spend = ledger.spend
        line.say(
            f"  … {time.monotonic() - began:.0f} s: {line.now}; {spend.calls} LM calls, {spend.cached_calls} cached"
        )


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; all but the first column are aligned right."""
    grid = Table(title=title, title_justify="left", title_style="bold")
    for k, name in enumerate(header):
        grid.add_column(name, justify="left" if k == 0 else "right", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell) for cell in row))
    console.print(grid, soft_wrap=False)


def print_scores(parts: Mapping[str, str], report: Mapping[str, Any]) -> None:
    """A score report: the ranking score with its parts (see `Task.parts`), then each label where there are some."""
    interval = report.get("interval") if report.get("records", FEWEST) >= FEWEST else None
    suffix = f"   95 % interval [{percent(interval[0])}, {percent(interval[1])}]" if interval else ""
    console.print(f"ranking score {percent(report['score'])}{suffix}", style="bold")
    console.print("  " + "   ".join(f"{words} {percent(report[name])}" for name, words in parts.items()))
    for remark in report.get("remarks", ()):
        note(f"  {remark}")
    if no_lm := report.get("no_lm"):
        details = "   ".join(f"{words} {percent(no_lm[name])}" for name, words in parts.items())
        ends = f" [{', '.join(map(percent, no_lm['interval']))}]" if interval else ""
        note(f"  no-LM baseline {percent(no_lm['score'])}{ends}   {details}")
    rows = [
        [label, percent(part["precision"]), percent(part["recall"]), percent(part["f1"]), str(part["support"])]
        for label, part in report.get("per_label", {}).items()
    ]
    if rows:
        table("by label", ["label", "precision", "recall", "F1", "gold"], rows)


def note(text: str) -> None:
    console.print(printable(text), markup=False)


def print_estimate(run: Any, limits: Any) -> None:
    """What a dry run came to, and which of the limits would end the command early."""
    spend = run.ledger.spend
    price = "price unknown (-L price=PROMPT,COMPLETION gives it)" if spend.usd is None else f"{spend.usd:.2f} USD"
    note(
        f"about {spend.calls:,} LM calls, {spend.prompt_tokens:,} prompt and {spend.completion_tokens:,} completion "
        f"tokens, {price}. Nothing was sent"
    )
    if spend.completion_tokens:
        note("  answers are taken to be as long as labelled ones; a model that reasons first writes more")
    if limits.calls is not None and spend.calls > limits.calls:
        note(f"warning: --max-calls {limits.calls} would end it early")
    if limits.usd is not None and spend.usd is not None and spend.usd > limits.usd:
        note(f"warning: --max-usd {limits.usd:g} would end it early")


def print_confidence(reports: Mapping[str, Mapping[str, Any]]) -> None:
    """How sure a program was, by where its probabilities come from, and whether it was right to be."""
    from aisr.programs.probabilities import SOURCES  # loads DSPy

    for source, report in reports.items():
        note(
            f"{report['judgements']} labels with probabilities ({SOURCES[source]}): {percent(report['accuracy'])} % "
            f"right; expected calibration error {percent(report['calibration_error'])}"
        )


def print_failures(failures: dict[str, str], count: int | None = None) -> None:
    """Print the failed records, the first ten with their reasons. count: how many there are, where `failures` lacks
    some."""
    for key, reason in list(failures.items())[:10]:
        note(f"  failed: {key}: {reason}")
    if failures:
        note(f"{count or len(failures)} records failed")


def print_pictures(problems: dict[tuple[str, str], str]) -> None:
    """Print the pictures that cannot be shown to the LM, the first ten with their reasons."""
    for (record, path), reason in list(problems.items())[:10]:
        note(f"  no picture: {record[:MOST_NAME]}: {path[:MOST_NAME]}: {reason}")
    if problems:
        note(f"{len(problems)} pictures cannot be shown; their captions stand in for them")


def print_spend(spend: Any) -> None:
    """What the calls of this command came to."""
    price = "price unknown" if spend.usd is None else f"{spend.usd:.4f} USD"
    note(
        f"{spend.calls} LM calls (+{spend.cached_calls} from the cache), {spend.prompt_tokens} prompt and "
        f"{spend.completion_tokens} completion tokens, {price}"
    )
