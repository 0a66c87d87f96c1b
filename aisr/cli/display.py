"""What commands print while they work and when they are done."""

import os
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from aisr.base.errors import merge_repeats
from aisr.base.files import interval_ends, percent, pluralize, with_interval
from aisr.base.progress import Stage, heard_by
from aisr.base.redact import printable

if TYPE_CHECKING:
    from aisr.workflow import Event


class _Console(Console):
    """A console whose command goes on where nobody reads what it prints: its files and its exit code matter more."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is flushed at the end


# Into a pipe or a file, tables may be wider than the 80 columns that rich would assume.
console = _Console(highlight=False, emoji=False, soft_wrap=True, width=None if sys.stdout.isatty() else 120)

MOST_REASONS = 10  # failed records, and pictures, that are printed one by one
MOST_NAME = 200  # characters of an id or path that are printed, as it may be anything
REDRAWN = 0.5  # seconds between two states of the last line of a terminal
# Seconds, where no terminal shows that a command is at work: until the first line, and at most between two lines.
FIRST_LINE, SILENCE = 2.0, 15.0


class Live:
    """Shows on standard error what a command is at, how far that is, and how long it will take: in the last line of a
    terminal, elsewhere in a line now and then, the first after two seconds.

    ledger: of the command's LM calls, if it makes any.
    """

    def __init__(self, ledger: Any = None) -> None:
        self._ledger = ledger
        self._note = "starting"
        self._stages: list[Stage] = []  # that were begun, the latest last
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)
        self._listening = heard_by(self._stages.append)

    def __enter__(self) -> "Live":
        console.file = sys.stdout  # bound meanwhile: what DSPy prints while optimizers run is redirected, not this
        self._listening.__enter__()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.__exit__(None, None, None)
        self._ended.set()
        self._thread.join()
        console.file = None  # type: ignore[assignment]  # rich: whatever sys.stdout is at the time

    def show(self, event: "Event") -> None:
        """Print what a compile tells: what begins or what came of something, and each candidate."""
        if event.kind == "stage":
            note(f"  {event.text}")
            self._note = event.text
        else:
            note(f"    {event}")

    def _now(self) -> str:
        """Return what the command is at: the latest stage that is not over, else the latest note."""
        while self._stages and self._stages[-1].is_over:
            self._stages.pop()
        now = str(self._stages[-1]) if self._stages else self._note
        if self._ledger is None:
            return now
        spend = self._ledger.spend
        return f"{now}; {spend.calls} LM calls, {spend.cached_calls} cached"

    def _tell(self) -> None:
        began = time.monotonic()

        def line() -> str:
            return printable(f"{time.monotonic() - began:.0f} s: {self._now()}")

        shown = console if console.is_terminal else Console(stderr=True, soft_wrap=True, highlight=False, emoji=False)
        if shown.is_terminal:
            with shown.status("starting") as status:
                while not self._ended.wait(REDRAWN):
                    status.update(Text(line()))
            return
        seconds = FIRST_LINE
        while not self._ended.wait(seconds):
            shown.print(f"  … {line()}", markup=False)
            seconds = SILENCE


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; all but the first column are aligned right."""
    grid = Table(title=title, title_justify="left", title_style="bold")
    for k, name in enumerate(header):
        grid.add_column(name, justify="left" if k == 0 else "right", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell) for cell in row))
    console.print(grid, soft_wrap=False)


def print_scores(parts: Mapping[str, str], report: Mapping[str, Any]) -> None:
    """Print the ranking score with its parts (see `Task.parts`), then each label where there are some."""
    first = f"ranking score {percent(report['score'])}"
    if "interval" in report:
        first += f"   95 % interval {interval_ends(*report['interval'])}"
    console.print(first, style="bold", markup=False)
    console.print("  " + "   ".join(f"{words} {percent(report[name])}" for name, words in parts.items()))
    for remark in report.get("remarks", ()):
        note(f"  {remark}")
    no_lm = report.get("no_lm")
    if no_lm:
        details = "   ".join(f"{words} {percent(no_lm[name])}" for name, words in parts.items())
        note(f"  no-LM baseline {with_interval(no_lm['score'], *no_lm['interval'])}   {details}")
    rows = [
        [label, percent(part["precision"]), percent(part["recall"]), percent(part["f1"]), str(part["support"])]
        for label, part in report.get("per_label", {}).items()
    ]
    if rows:
        table("by label", ["label", "precision", "recall", "F1", "gold"], rows)


def note(text: str) -> None:
    console.print(printable(text), markup=False)


def notes(lines: Iterable[str]) -> None:
    for line in lines:
        note(line)


def print_failures(failures: Mapping[str, str]) -> None:
    """Print the reasons of failed records, the first ten of them."""
    for failure in merge_repeats(failures.items())[:MOST_REASONS]:
        note(f"  failed: {failure}")
    if failures:
        note(f"{len(failures)} records failed")


def print_pictures(problems: Mapping[tuple[str, str], str]) -> None:
    """Print why pictures cannot be shown to the LM, by record and path: the first ten reasons."""
    places = [(f"{record[:MOST_NAME]}: {path[:MOST_NAME]}", reason) for (record, path), reason in problems.items()]
    for problem in merge_repeats(places)[:MOST_REASONS]:
        note(f"  no picture: {problem}")
    if problems:
        note(f"{len(problems)} pictures cannot be shown; their captions stand in for them")


def print_spend(spend: Any) -> None:
    """Print the calls of a command, and their price."""
    price = "price unknown" if spend.usd is None else f"{spend.usd:.4f} USD"
    note(
        f"{pluralize(spend.calls, 'LM call')} (+{spend.cached_calls} from the cache), {spend.prompt_tokens} prompt and "
        f"{spend.completion_tokens} completion tokens, {price}"
    )


def print_end(failures: Mapping[str, str], pictures: Mapping[tuple[str, str], str], spend: Any) -> None:
    """Print what a command that judged records ends with."""
    print_failures(failures)
    print_pictures(pictures)
    print_spend(spend)


def print_error(message: str) -> None:
    """Print what went wrong after the work was done."""
    print(f"error: {message}", file=sys.stderr)
