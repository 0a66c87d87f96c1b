"""What `check-paper` finds of faults planted in papers: `python -m benchmarks.injected_errors PAPER… --lm LM`.

A paper is a LaTeX main file, its folder, or Markdown, which is copied; in each copy a few sentences are changed so that
the paper's own tables deny them (see `benchmarks.injected_errors.errors`), and the whole check is run on it. Prints
how many of them it found by kind, how many sentences that nobody touched it flagged, and what it came to. With
`--records FILE` nothing is checked: what a second look is shown of the copies is written as labelled records of drafts.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from aisr.base.files import write_whole
from aisr.cli.display import note, table
from aisr.cli.options import ARTIFACTS
from aisr.cli.session import prepare
from aisr.paper.check.exact import NO_LM, without_lm
from aisr.paper.check.verdicts import Review, Verdict, level
from aisr.paper.readers.files import read_draft
from aisr.programs.errors import UserError
from benchmarks.injected_errors.errors import Fault, Kind
from benchmarks.injected_errors.paper import Planted, chosen, plantable, planted
from benchmarks.injected_errors.score import FIRST, FLAGS, LEVELS, Found, first_planted, recalls, untouched

MOST_MISSED = 20  # that are named
Check = Callable[[Path], Review]


class Run(NamedTuple):
    """One copy of a paper, by whose name it goes: what was planted in it, and what the check said."""

    paper: str
    copy: Planted
    review: Review


def main(words: Sequence[str] | None = None) -> int:
    """0 where all papers could be checked, 2 where one could not."""
    given = _parser().parse_args(words)
    prepare(given.artifacts)
    try:
        if given.records:
            return record(given.papers, given.seeds, given.faults, given.records)
        if given.lm is None:
            raise UserError("give --lm, or --records to check nothing; `--lm none` is arithmetic alone")
        check, say_cost = _checks(given)
        runs, places = [], Counter[Kind]()
        for paper in given.papers:
            made, found = studied(paper, given.seeds, given.faults, check)
            runs += made
            places += found
        say(runs, places)
        say_cost(runs)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _checks(given: argparse.Namespace) -> tuple[Check, Callable[[Sequence[Run]], None]]:
    """What checks a paper, and what says at the end what that came to."""
    if given.lm == NO_LM:
        from aisr.paper.check.exact import read_paper

        return lambda paper: without_lm(*read_paper(paper, None, None, None)), lambda runs: None
    from aisr.cli.display import say_spend
    from benchmarks.injected_errors.checking import Checking

    checking = Checking(given)
    costs = {paper: checking.cost(paper) for paper in given.papers if plantable(read_draft(paper), 1)}

    def say_cost(runs: Sequence[Run]) -> None:
        for paper, cost in costs.items():
            if cost.first and cost.both:
                note(
                    f"{paper} as it is: {cost.first:,} tokens for the first look alone, {cost.both:,} for both: "
                    f"{cost.both / cost.first:.2f} times"
                )
            else:
                note(f"{paper}: what both looks cost is not known: the cache held answers; --artifacts NEW asks anew")
        say_spend(checking.lm.ledger.spend)

    return checking.check, say_cost


def record(papers: Sequence[Path], seeds: int, faults: int, out: Path) -> int:
    """Write labelled records of drafts, half of the sentences that a table bears out left as they are."""
    from aisr.paper.check.checks import without_pictures
    from aisr.paper.check.exact import read_paper
    from benchmarks.injected_errors.records import labelled

    lines = []
    for number, paper in enumerate(papers, start=1):
        draft = read_draft(paper)
        for seed in range(1, seeds + 1):
            edits = plantable(draft, seed)
            most = (len({(one.paragraph, one.sentence) for one in edits}) + 1) // 2
            wanted = chosen(edits, min(faults, most), seed)
            with tempfile.TemporaryDirectory() as folder:
                copy = planted(paper, draft, edits, wanted, Path(folder).resolve())
                made = labelled(read_paper(copy.paper, None, None, None)[0], copy.faults, f"paper{number}-{seed}")
            lines += [without_pictures(one).model_dump_json() + "\n" for one in made]
    write_whole(out, "".join(lines))
    note(f"{out}: {len(lines)} records; `aisr split {out} --task draft` keeps those of one paper together")
    return 0


def studied(paper: Path, seeds: int, faults: int, check: Check) -> tuple[list[Run], Counter[Kind]]:
    """A copy for each seed, checked, and how many faults could be planted, by kind. Raises UserError for a paper that
    cannot be read or copied."""
    draft = read_draft(paper)
    runs: list[Run] = []
    places: Counter[Kind] = Counter()
    for seed in range(1, seeds + 1):
        edits = plantable(draft, seed)
        places = places or Counter(one.kind for one in edits)
        wanted = chosen(edits, faults, seed)
        if not wanted:
            note(
                f"{paper}: nothing can be planted; no sentence says what a table bears out, or its paragraph repeats "
                "itself too often to be found again in the source"
            )
            break
        with tempfile.TemporaryDirectory() as folder:
            copy = planted(paper, draft, edits, wanted, Path(folder).resolve())
            runs.append(Run(str(paper), copy, check(copy.paper)))
        note(f"{paper}, seed {seed}: {len(copy.faults)} faults planted")
    return runs, places


def found_in(run: Run) -> Found:
    """What the check of a copy found. Sentences that a model gave no verdict on, for whatever reason, were not looked
    at; without a model all that a reader sees are."""
    draft, review = run.copy.draft, run.review
    flagged: dict[tuple[int, int], str] = {}
    for one in review.verdicts:
        if (said := level_of(one)) is not None:
            place = (one.paragraph, one.sentence)
            flagged[place] = min(said, flagged.get(place, said), key=LEVELS.index)
    judged = {(one.paragraph, one.sentence) for one in review.verdicts if one.label is not None}
    if review.lm == NO_LM:
        judged = {
            (number, place)
            for number, paragraph in enumerate(draft.paragraphs)
            for place, one in enumerate(paragraph.sentences)
            if not one.hidden
        }
    listed = [review.verdicts[place] for place in review.by_doubt()]
    places = dict.fromkeys((one.paragraph, one.sentence) for one in listed if level_of(one) in FLAGS)
    kinds = {(one.paragraph, one.sentence): str(one.kind) for one in run.copy.faults}
    return Found(run.paper, kinds, frozenset(judged), flagged, list(places))


def level_of(verdict: Verdict) -> str | None:
    """How bad a verdict is called; None where no fault was found, or there is no verdict."""
    return None if verdict.label is None or verdict.neutral else level(verdict.kind, verdict.label)


def say(runs: Sequence[Run], places: Counter[Kind]) -> None:
    """Print what was found."""
    note("places where a fault can be planted: " + (", ".join(f"{n} {kind}" for kind, n in places.items()) or "none"))
    if not runs:
        return
    found = [found_in(run) for run in runs]
    rows = [[kind, *map(str, one[:4]), str(one.share) if one.share else "-"] for kind, one in recalls(found).items()]
    table("planted faults", ["", "planted", "looked at", "error or warning", "error", "found, %"], rows)
    rate = untouched(found)
    said = [f"{100 * rate.levels[name] / max(rate.judged, 1):.1f} {name}s" for name in LEVELS]
    both = f"; errors and warnings together {rate.flags}" if rate.flags else ""
    note(f"of {rate.judged} untouched sentences that were looked at, of 100: {', '.join(said)}{both}")
    hits, first = first_planted(found)
    note(f"of the first {FIRST} of each list: {hits} of {first} are planted")
    missed = [
        (run, one) for run, seen in zip(runs, found, strict=True) for one in run.copy.faults if _missed(one, seen)
    ]
    for run, one in missed[:MOST_MISSED]:
        sentence = run.copy.draft.paragraphs[one.paragraph].sentences[one.sentence]
        note(f"  missed: {one.kind} ({one.table}) {sentence.place}: {sentence.text}")
    if len(missed) > MOST_MISSED:
        note(f"  … and {len(missed) - MOST_MISSED} more")


def _missed(fault: Fault, found: Found) -> bool:
    return found.flagged.get((fault.paragraph, fault.sentence)) not in FLAGS


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.injected_errors", description="Plant faults into papers and look for them."
    )
    parser.add_argument("papers", type=Path, nargs="+", help="LaTeX main files, folders of these, or Markdown")
    parser.add_argument("--lm", help="as for `aisr check-paper`; `none` is arithmetic alone")
    parser.add_argument("--api-base", help="address of an OpenAI-compatible server for --lm openai/MODEL")
    parser.add_argument("--program", help="a compiled program for sentences against tables and figures")
    parser.add_argument("--draft-program", help="a compiled program for sentences against the whole paper")
    parser.add_argument("--records", type=Path, help="write labelled records of drafts to this file, and check nothing")
    parser.add_argument("--seeds", type=int, default=3, help="copies of each paper, with other faults")
    parser.add_argument("--faults", type=int, default=12, help="most faults in a copy")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--price", help="USD a million prompt,completion tokens")
    parser.add_argument("--max-usd", type=float)
    parser.add_argument("--max-calls", type=int)
    parser.add_argument("--artifacts", type=Path, default=ARTIFACTS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
