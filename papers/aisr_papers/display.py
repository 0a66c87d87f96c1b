"""What the commands print: a checked paper, a line of progress, what LM calls came to."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from aisr.text import pluralize, printable
from aisr_papers.check.flags import EXACT, NO_REASON, NOT_JUDGED, Flag
from aisr_papers.check.review import NO_LM, Group, Review, left_out, list_recomputed, lost_words
from aisr_papers.check.write import format_line
from aisr_papers.draft import Draft

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


def print_estimate(spend: Spend) -> None:
    """Print what LM calls would come to."""
    calls, usd = spend["calls"] or 0, spend["usd"]
    price = "price unknown (-L price=PROMPT,COMPLETION gives it)" if usd is None else f"{usd:.2f} USD"
    note(
        f"about {calls:,} LM calls, {spend['prompt_tokens']:,} prompt and {spend['completion_tokens']:,} completion "
        f"tokens, {price}. Nothing was sent"
    )
    if spend["completion_tokens"]:
        note("  answers are taken to be as long as labelled ones; a model that reasons first writes more")


# --- A checked paper.

MOST = 10  # things of a kind that are named


def print_review(review: Review, failing: Sequence[Flag]) -> None:
    """Print a checked paper: faulty sentences, a line each that editors can follow, the most doubtful first; counts;
    what was not judged or left out, and why; how reliable it is; and how many sentences --fail-on names."""
    for place in review.by_doubt():
        one = review.flags[place]
        if one.doubtful and one.label:
            note(format_line(one))
    if not review.flags:
        note("nothing to report")
    else:
        table = Table("", Column("flags", justify="right"))
        for label, count in review.counts().items():
            table.add_row(label, str(count))
        console.print(table, soft_wrap=False)
    failures = Counter(one.failed for one in review.flags if one.label is None)
    unjudged = [f"{why}: {count}" for why, count in failures.most_common()]
    wanting = [Group(f"{NOT_JUDGED}: {review.unjudged}", unjudged)] if unjudged else []
    known = lost_words(review.draft)[:1]  # comes first
    _print_groups([*wanting, *(one for one in left_out(review) if one.title not in known)])
    unexplained = Counter(one.failed for one in review.flags if one.label and one.failed)
    for why, count in unexplained.most_common(MOST):
        note(why.replace(NO_REASON, f"{NO_REASON} for {pluralize(count, 'flag')}", 1))
    for remark in review.reliability[review.lm == NO_LM :]:  # without an LM the first comes first
        note(remark)
    _print_groups(list_recomputed(review))
    if failing:
        unknown = sum(one.confidence is None and one.kind not in (*EXACT, "hidden") for one in failing)
        less = f", {unknown} of them with unknown confidence" if unknown else ""
        note(f"--fail-on: {pluralize(len(failing), 'sentence')}{less}")


def _print_groups(groups: Sequence[Group]) -> None:
    """Print titles, and below each its first items."""
    for title, items in groups:
        note(title)
        for item in items[:MOST]:
            note(f"  {item}")
        if len(items) > MOST:
            note(f"  … and {len(items) - MOST} more; the page names them all")


def print_lost(draft: Draft) -> bool:
    """Print where much of the paper could not be read, and return whether that is so."""
    lost = lost_words(draft)
    for number, line in enumerate(lost):
        note(f"  {line}" if number else line)
    return bool(lost)
