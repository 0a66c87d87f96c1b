"""The recall of `check-paper` on errors injected into papers: `python -m benchmarks.injected_errors PAPER… --lm LM`.

A paper is a LaTeX main file, its folder, or Markdown, which is copied; in each copy a few sentences are changed so that
the paper's own tables deny them (see `benchmarks.injected_errors.errors`), and the whole check is run on it. Prints
its recall by kind, the share of untouched sentences that it flagged, and its cost. With `--shown` nothing is checked:
printed is for how many errors a question is asked, and the table shown that decides.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.table import Table

from aisr import UserError
from aisr_papers.check.flags import Flag
from aisr_papers.check.review import NO_LM, Review, without_lm
from aisr_papers.cli import ARTIFACTS
from aisr_papers.display import console, note, print_spend
from aisr_papers.draft import Draft
from aisr_papers.open import read_draft, read_paper
from benchmarks.injected_errors.errors import Fault, Kind
from benchmarks.injected_errors.paper import InjectedPaper, choose_errors, inject_errors, possible_errors
from benchmarks.injected_errors.score import FLAGS, LEVELS, CheckResult, recalls, untouched

MOST_MISSED = 20  # that are named
Check = Callable[[Path], Review]


class Run(NamedTuple):
    """One copy of a paper: the paper's name, the injected errors, and the flags."""

    paper: str
    copy: InjectedPaper
    review: Review


def main(words: Sequence[str] | None = None) -> int:
    """0 where all papers could be checked, 2 where one could not."""
    options = _parser().parse_args(words)
    try:
        if options.shown:
            return print_shown(options.papers, options.seeds, options.faults)
        if options.lm is None:
            raise UserError("give --lm, or --shown to check nothing; `--lm none` checks tests and percentages alone")
        check, print_cost = _checks(options)
        runs, places = [], Counter[Kind]()
        for paper in options.papers:
            made, of_paper = check_copies(paper, options.seeds, options.faults, check)
            runs += made
            places += of_paper
        print_results(runs, places)
        print_cost()
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _checks(options: argparse.Namespace) -> tuple[Check, Callable[[], None]]:
    """What checks a paper, and what says at the end what that came to."""
    if options.lm == NO_LM:
        return lambda paper: without_lm(*read_paper(paper)), lambda: None
    from benchmarks.injected_errors.checking import Checking

    checking = Checking(options)
    return checking.check, lambda: print_spend(checking.lm.spend)


def copies(papers: Sequence[Path], seeds: int, faults: int) -> Iterator[tuple[Draft, Sequence[Fault]]]:
    """Copies of papers with errors, half of the sentences that a table bears out left as they are: each as it is
    checked, and its errors."""
    for paper in papers:
        draft = read_draft(paper)
        for seed in range(1, seeds + 1):
            edits = possible_errors(draft, seed)
            most = (len({(one.paragraph, one.sentence) for one in edits}) + 1) // 2
            wanted = choose_errors(edits, min(faults, most), seed)
            with tempfile.TemporaryDirectory() as folder:
                copy = inject_errors(paper, draft, edits, wanted, Path(folder).resolve())
                yield read_paper(copy.paper)[0], copy.faults


def print_shown(papers: Sequence[Path], seeds: int, faults: int) -> int:
    """Print for how many injected errors a question is asked, and what is shown for them."""
    from benchmarks.injected_errors.checking import shown

    counts = [shown(draft, made) for draft, made in copies(papers, seeds, faults)]
    injected, asked, tables, rows = (sum(one[k] for one in counts) for k in range(4))
    note(f"injected {injected}, asked about {asked}, with the table that decides {tables}, with all its rows {rows}")
    return 0


def check_copies(paper: Path, seeds: int, faults: int, check: Check) -> tuple[list[Run], Counter[Kind]]:
    """A copy for each seed, checked, and how many faults could be planted, by kind. Raises UserError for a paper that
    cannot be read or copied."""
    draft = read_draft(paper)
    runs: list[Run] = []
    places: Counter[Kind] = Counter()
    for seed in range(1, seeds + 1):
        edits = possible_errors(draft, seed)
        places = places or Counter(one.kind for one in edits)
        wanted = choose_errors(edits, faults, seed)
        if not wanted:
            note(
                f"{paper}: nothing can be injected; no sentence says what a table bears out, or its paragraph repeats "
                "itself too often to be found again in the source"
            )
            break
        with tempfile.TemporaryDirectory() as folder:
            copy = inject_errors(paper, draft, edits, wanted, Path(folder).resolve())
            runs.append(Run(str(paper), copy, check(copy.paper)))
        note(f"{paper}, seed {seed}: {len(copy.faults)} errors injected")
    return runs, places


def to_result(run: Run) -> CheckResult:
    """The result of the check of a copy. Sentences without a flag of the model were not looked at; without a model
    all sentences that a reader sees were."""
    draft, review = run.copy.draft, run.review
    flagged: dict[tuple[int, int], str] = {}
    for one in review.flags:
        if (severity := level_of(one)) is not None:
            flagged[one.position] = min(severity, flagged.get(one.position, severity), key=LEVELS.index)
    judged = {one.position for one in review.flags if one.label is not None}
    if review.lm == NO_LM:
        judged = {
            (number, place)
            for number, paragraph in enumerate(draft.paragraphs)
            for place, one in enumerate(paragraph.sentences)
            if not one.hidden
        }
    kinds = {(one.paragraph, one.sentence): str(one.kind) for one in run.copy.faults}
    return CheckResult(run.paper, kinds, frozenset(judged), flagged)


def level_of(flag: Flag) -> str | None:
    """The severity of a flag; None for no fault or no flag."""
    return None if flag.label is None or flag.neutral else flag.level


def print_results(runs: Sequence[Run], places: Counter[Kind]) -> None:
    """Print recall, flags of untouched sentences and missed errors."""
    note("places where an error can be injected: " + (", ".join(f"{n} {kind}" for kind, n in places.items()) or "none"))
    if not runs:
        return
    results = [to_result(run) for run in runs]
    table = Table("", "injected", "looked at", "error or warning", "error", "recall, %", title="injected errors")
    for kind, recall in recalls(results).items():
        table.add_row(kind, *map(str, recall[:4]), str(recall.share or "-"))
    console.print(table, soft_wrap=False)
    rate = untouched(results)
    shares = [f"{100 * rate.levels[name] / max(rate.judged, 1):.1f} {name}s" for name in LEVELS]
    both = f"; errors and warnings together {rate.flags}" if rate.flags else ""
    note(f"of {rate.judged} untouched sentences that were looked at, of 100: {', '.join(shares)}{both}")
    missed = [
        (run, one) for run, result in zip(runs, results, strict=True) for one in run.copy.faults if _missed(one, result)
    ]
    for run, one in missed[:MOST_MISSED]:
        sentence = run.copy.draft.paragraphs[one.paragraph].sentences[one.sentence]
        note(f"  missed: {one.kind} ({one.table}) {sentence.place}: {sentence.text}")
    if len(missed) > MOST_MISSED:
        note(f"  … and {len(missed) - MOST_MISSED} more")


def _missed(fault: Fault, result: CheckResult) -> bool:
    return result.flagged.get((fault.paragraph, fault.sentence)) not in FLAGS


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.injected_errors", description="Inject errors into papers and check them."
    )
    parser.add_argument("papers", type=Path, nargs="+", help="LaTeX main files, folders of these, or Markdown")
    parser.add_argument("--lm", help="as for `check-paper`; `none` checks tests and percentages alone")
    parser.add_argument("--api-base", help="address of an OpenAI-compatible server for --lm openai/MODEL")
    parser.add_argument("--program", help="a compiled program, as for `check-paper`")
    parser.add_argument("--shown", action="store_true", help="print what is asked and shown, and check nothing")
    parser.add_argument("--seeds", type=int, default=3, help="copies of each paper, with other faults")
    parser.add_argument("--faults", type=int, default=12, help="most faults in a copy")
    parser.add_argument("-L", dest="lm_settings", action="append", default=[], help="NAME=VALUE, as of `check-paper`")
    parser.add_argument("--max-usd", type=float)
    parser.add_argument("--max-calls", type=int)
    parser.add_argument("--artifacts", type=Path, default=ARTIFACTS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
