"""What the commands print: notes, tables, a line of progress, what LM calls came to."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from aisr.text import printable

Spend = Mapping[str, int | float | None]  # see `aisr.LanguageModel.spend`


class _Console(Console):
    """A console whose command goes on where nobody reads what it prints: its files and its exit code matter more."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is flushed at the end


# Into a pipe or a file, tables may be wider than the 80 columns that rich would assume.
console = _Console(highlight=False, emoji=False, soft_wrap=True, width=None if sys.stdout.isatty() else 120)


def note(text: str) -> None:
    """Print a line."""
    console.print(printable(text), markup=False)


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; all but the first column are aligned right."""
    grid = Table(title=title, title_justify="left", title_style="bold")
    for k, name in enumerate(header):
        grid.add_column(name, justify="left" if k == 0 else "right", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell) for cell in row))
    console.print(grid, soft_wrap=False)


@contextmanager
def progress() -> Iterator[Callable[[object], None]]:
    """Show on a terminal how many questions were answered: the result is called after each."""
    columns = SpinnerColumn(), TextColumn("{task.completed} questions answered"), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda _: bar.advance(task)


def print_spend(spend: Spend) -> None:
    """Print what the LM calls of a command came to."""
    price = "price unknown" if spend["usd"] is None else f"{spend['usd']:.4f} USD"
    note(
        f"{spend['calls']} LM calls (+{spend['cached_calls']} from the cache), {spend['prompt_tokens']} prompt and "
        f"{spend['completion_tokens']} completion tokens, {price}"
    )


def print_estimate(spend: Spend, max_usd: float | None, max_calls: int | None) -> None:
    """Print what LM calls would come to, and which limit would end them early."""
    calls, usd = spend["calls"] or 0, spend["usd"]
    price = "price unknown (--price PROMPT,COMPLETION gives it)" if usd is None else f"{usd:.2f} USD"
    note(
        f"about {calls:,} LM calls, {spend['prompt_tokens']:,} prompt and {spend['completion_tokens']:,} completion "
        f"tokens, {price}. Nothing was sent"
    )
    if spend["completion_tokens"]:
        note("  answers are taken to be as long as labelled ones; a model that reasons first writes more")
    if max_calls is not None and calls > max_calls:
        note(f"warning: --max-calls {max_calls} would end it early")
    if max_usd is not None and usd is not None and usd > max_usd:
        note(f"warning: --max-usd {max_usd:g} would end it early")
