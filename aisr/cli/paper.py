"""The commands that check whole papers: `check-paper`, and `mcp` for coding agents."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aisr.base.files import pluralize
from aisr.cli.options import (
    ARTIFACTS,
    FOUND,
    RECORDS_FAILED,
    Estimate,
    LMSpec,
    MaxMinutes,
    MaxUsd,
    PriceOption,
    Reach,
    Root,
    Spending,
)
from aisr.cli.session import lm_config, opened_lm, prepare, warn_of_another_lm
from aisr.cli.task_options import EmbeddingApiBase, UncompiledEvidence
from aisr.programs.errors import UserError

if TYPE_CHECKING:
    from aisr.corrections.corrections import Correction
    from aisr.paper.check.checks import Checks
    from aisr.paper.check.verdicts import Review, Verdict

PaperLM = Annotated[
    str,
    typer.Option(
        "--lm",
        envvar="AISR_LM",
        help="`none`: arithmetic and quotes alone, without a model, in seconds. Else `embedded`, or PROVIDER/MODEL "
        "such as openai/gpt-4o-mini.",
    ),
]


def check_paper(
    *,
    paper: Annotated[
        Path, typer.Argument(help="The paper: its main .tex file or the folder of that, a .md file or a PDF.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder to write the page and the files to. Without it: the terminal alone.")
    ] = None,
    papers: Annotated[
        Path | None,
        typer.Option(help="Folder with the cited papers (PDF, JATS XML, text), named by BibTeX key, DOI or title."),
    ] = None,
    root: Annotated[
        Path | None,
        typer.Option(help="Folder above the paper's that files may be put in from; nothing outside of it is read."),
    ] = None,
    program: Annotated[
        str | None, typer.Option(help="A compiled program for sentences against tables and figures.")
    ] = None,
    cite_program: Annotated[
        str | None, typer.Option(help="A compiled program for citations against cited papers.")
    ] = None,
    draft_program: Annotated[
        str | None, typer.Option(help="A compiled program (task draft) for the second look, at the whole paper.")
    ] = None,
    evidence: UncompiledEvidence = None,
    lm: PaperLM = "embedded",
    reach: Reach,
    embedding_api_base: EmbeddingApiBase = None,
    fail_on: Annotated[
        list[str] | None, typer.Option(help="Exit with 3 where a sentence has this label; repeatable.")
    ] = None,
    above: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="With --fail-on: only where its confidence is at least this, or unknown."),
    ] = None,
    notes: Annotated[
        bool, typer.Option("--notes", help="Also list what nothing in the paper states or denies; else it is counted.")
    ] = False,
    estimate: Estimate = False,
    spending: Spending,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Check a whole paper: its sentences against its tables and figures, its citations against the cited papers. Exits
    1 where something could not be judged; the same command goes on there."""
    if above is not None and not fail_on:
        raise UserError("--above goes with --fail-on LABEL")
    from aisr.paper.readers.files import check_paper, check_papers_folder

    check_paper(paper)
    check_papers_folder(papers)
    if lm == "none":
        _without_lm(paper, root, papers, out, fail_on or [], [program, cite_program, draft_program, evidence])
        return
    prepare(artifacts, program, cite_program, draft_program)
    from aisr.base.files import cache_folder
    from aisr.cli import display
    from aisr.lm.config import EMBEDDED
    from aisr.optimize.estimate import DryRun
    from aisr.paper.check.checks import CITATIONS, CLAIMS, WHOLE, collect_checks
    from aisr.paper.check.exact import add_exact_verdicts, read_paper
    from aisr.paper.check.judging import BUILT_IN, make_checker, review_draft
    from aisr.paper.check.verdicts import failing_labels, failing_verdicts, mark_dismissed
    from aisr.predict.prepare import open_gallery

    labels = failing_labels(fail_on or [], [*WHOLE.labelled.labels, *CITATIONS.labelled.labels])
    ledger = spending.ledger(None if estimate else out)
    config = lm_config(lm, reach, embedding_api_base=embedding_api_base, **spending.prices())
    opened = opened_lm(config, ledger, needs_key=not estimate)
    dry = DryRun() if estimate else None
    asked = dry.open(opened) if dry else opened
    draft, cited = read_paper(paper, root, papers, cache_folder(artifacts) / "figures")
    gone = _dismissed(paper)
    found = collect_checks(draft, cited)
    straight = sum(map(len, found.second.straight.values())) if found.second else 0
    gallery = open_gallery(draft.folder, artifacts, draft.drawings)
    judges = [
        make_checker("claim", CLAIMS, program, asked, gallery, artifacts, evidence),
        make_checker("citation", CITATIONS, cite_program, asked, gallery, artifacts, evidence),
    ]
    again = make_checker("claim", WHOLE, draft_program, asked, gallery, artifacts, evidence)
    for judge in (*judges, again):
        warn_of_another_lm(judge.program, opened)
    if dry:
        if not found.claims and not found.citations and not straight:
            display.note("nothing to check: " + (_why_nothing(found) or "there is no text in it"))
        with display.live(dry.ledger) as shown:
            review_draft(draft, found, judges, asked, shown.judged, again=again)
        display.print_estimate(dry, ledger.limits)
        return
    if opened.spec == EMBEDDED:
        display.note(BUILT_IN)
    display.note(
        f"checking {paper} with {lm}: {len(found.claims)} paragraphs against tables and figures, "
        f"{len(found.citations)} citations against cited papers; then what is doubted, and {straight} sentences of "
        "abstract, introduction, discussion and conclusion, against the whole paper"
    )
    with display.live(ledger) as shown:
        review = review_draft(draft, found, judges, asked, shown.judged, gallery.problems, again)
    review = mark_dismissed(add_exact_verdicts(review, cited), gone)
    failing = failing_verdicts(review, labels, above or 0.0)
    say_review(review, failing, notes)
    display.say_spend(ledger.spend)
    _write(out, review)
    if failing:
        raise typer.Exit(FOUND)
    raise typer.Exit(RECORDS_FAILED if review.unjudged else 0)


def _without_lm(
    paper: Path,
    root: Path | None,
    papers: Path | None,
    out: Path | None,
    fail_on: Sequence[str],
    of_an_lm: Sequence[str | None],
) -> None:
    """What can be found without a language model, in seconds: no key, no network, and DSPy is not loaded."""
    from aisr.paper.check.exact import read_paper, without_lm
    from aisr.paper.check.verdicts import failing_labels, failing_verdicts, mark_dismissed

    if any(of_an_lm):
        raise UserError("--lm none asks no program and shows no pictures: leave these options out, or name an LM")
    labels = failing_labels(fail_on, [])
    found = without_lm(*read_paper(paper, root, papers, None))
    review = mark_dismissed(found, _dismissed(paper))
    failing = failing_verdicts(review, labels, 0.0)
    say_review(review, failing)
    _write(out, review)
    if failing:
        raise typer.Exit(FOUND)


def _dismissed(paper: Path) -> "Mapping[str, Correction]":
    """The flags of a paper that its readers dismissed."""
    from aisr.cli.display import note
    from aisr.corrections.corrections import load_dismissals

    found = load_dismissals(paper)
    if found.problem:
        note(found.problem)
    return found.flags


def _write(out: Path | None, review: "Review") -> None:
    """The files of --out, where it is given."""
    from aisr.cli.display import note
    from aisr.paper.check.write import write_files

    if out is not None:
        written = write_files(out, review)
        note(f"wrote {', '.join(map(str, written))}; open the first in a browser")


def _why_nothing(found: "Checks") -> str:
    """Why nothing of a paper is checked, by the numbers of its paragraphs and sentences."""
    reasons = [f"{count} paragraphs: {why}" for why, count in found.skipped.items()]
    if found.missing:
        reasons.append(f"{sum(found.missing.values())} sentences cite works without a file; --papers brings them")
    return "; ".join(reasons)


MOST = 10  # things of a kind that are named


def say_review(review: "Review", failing: "Sequence[Verdict]", notes: bool = False) -> None:
    """The sentences that fault was found with, and with `notes` those that nothing in the paper states or denies, a
    line each that editors can follow, the most doubtful first; counts;
    what was not judged or left out, and why; what it all is worth; and what --fail-on found."""
    from aisr.cli.display import note, table
    from aisr.paper.check.verdicts import EXACT, NOT_JUDGED
    from aisr.paper.check.write import format_line, left_out

    for place in review.by_doubt():
        one = review.verdicts[place]
        listed = one.doubtful or (notes and one.folded and not one.dismissed)
        if listed and (one.label or one.first):
            note(format_line(review, one))
    if not review.verdicts:
        note("nothing was found")
    else:
        table("verdicts", ["", "sentences"], [[label, str(count)] for label, count in review.counts().items()])
    folded = sum(one.folded and not one.dismissed for one in review.verdicts)
    if folded and not notes:
        note(f"not found in the paper's tables, figures and text: {folded}; no fault, and --notes lists them")
    failures = Counter(one.failure for one in review.verdicts if one.label is None)
    unjudged = [f"{why}: {count}" for why, count in failures.most_common()]
    wanting = [{"title": f"{NOT_JUDGED}: {review.unjudged}", "items": unjudged}] if unjudged else []
    for part in [*wanting, *left_out(review)]:
        note(part["title"])
        for item in part["items"][:MOST]:
            note(f"  {item}")
        if len(part["items"]) > MOST:
            note(f"  … and {len(part['items']) - MOST} more; the page names them all")
    if gone := review.dismissed:
        people = ", ".join(sorted({one.dismissed.who for one in gone if one.dismissed}))
        note(f"{pluralize(len(gone), 'flag')} dismissed by {people}; folded on the page, and not counted by --fail-on")
    for line in review.reliability:
        note(line)
    if failing:
        unknown = sum(one.confidence is None and one.kind not in (*EXACT, "hidden") for one in failing)
        less = f", {unknown} of them with unknown confidence" if unknown else ""
        note(f"--fail-on: {pluralize(len(failing), 'sentence')}{less}")


def mcp(
    *,
    folder: Annotated[
        list[Path] | None,
        typer.Option(help="A folder that agents may name files in; repeatable. Nothing else is read."),
    ] = None,
    program: Annotated[str | None, typer.Option(help="A compiled program for sentences against evidence.")] = None,
    cite_program: Annotated[str | None, typer.Option(help="A compiled program for claims against papers.")] = None,
    draft_program: Annotated[
        str | None, typer.Option(help="A compiled program (task draft) for the second look at papers.")
    ] = None,
    evidence: UncompiledEvidence = None,
    lm: LMSpec = "embedded",
    reach: Reach,
    price: PriceOption = None,
    max_usd: MaxUsd = None,
    max_calls: Annotated[int, typer.Option(min=1, help="Most LM calls of the whole session.")] = 500,
    max_minutes: MaxMinutes = None,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Serve the checker to coding agents: an MCP server on standard input and output. Limits are for the whole session,
    and no agent can raise them."""
    from aisr.paper.check.session import resolve_folders

    folders = resolve_folders(folder or [])
    prepare(artifacts, program, cite_program, draft_program)
    try:
        import mcp as _installed  # noqa: F401
    except ImportError as error:
        raise UserError("`aisr mcp` needs the extra: pip install 'aisr[mcp,paper]'") from error
    from aisr.lm.budget import Ledger, Limits
    from aisr.paper.check.server import server
    from aisr.paper.check.session import Session, Settings

    ledger = Ledger(Limits(max_usd, max_calls, max_minutes))
    asked = opened_lm(lm_config(lm, reach, price=price), ledger)
    settings = Settings(folders, artifacts, program, cite_program, draft_program, evidence)
    server(Session(settings, asked)).run("stdio")
