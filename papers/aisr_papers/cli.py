"""The command `check-paper`, and `check-paper mcp` for coding agents. Everything heavy is imported inside, so that
`--help` answers at once."""

import io
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aisr.base import redact
from aisr.base.errors import UserError
from aisr.base.files import pluralize
from aisr.cli import options as opt
from aisr.cli.plan import command_plan
from aisr.cli.session import open_ledger, open_lm, prepare, warn_of_another_lm

if TYPE_CHECKING:
    from aisr_papers.check.checks import Checks
    from aisr_papers.check.verdicts import Review, Verdict

FLAGGED = 3  # exit code: a sentence has a label of --fail-on
MOST_CALLS = 500  # of a session with an agent, where nothing else is set
INTERRUPTED = 130  # typer's exit code where Ctrl-C ended a command


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"check-paper {version('aisr-papers')}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")]
Dismissed = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Text file of flags that are not reported any more: a digest a line, as the page shows it for each flag.",
    ),
]

Programs = Annotated[
    list[str] | None,
    typer.Option(
        "--program",
        metavar="PROGRAM",
        help="A compiled program for what its task is about: draft statements against the paper, track2 citations; "
        "repeatable. Default: uncompiled ones.",
    ),
]
UncompiledEvidence = Annotated[
    str | None,
    typer.Option(
        "--evidence",
        metavar="caption|ocr|image|auto",
        callback=opt.one_of("caption", "ocr", "image", "auto"),
        help="What uncompiled programs show of a picture: its caption, or besides its text (ocr) or its pixels "
        "(image); auto: image where the LM is known to take pictures, else ocr. Default: image where it is, else "
        "caption.",
    ),
]
PaperLM = Annotated[
    str | None,
    typer.Option(
        "--lm",
        metavar="MODEL",
        help="none: numbers and quotes alone, without a model, in seconds. Else PROVIDER/MODEL such as "
        "openai/gpt-4o-mini, or `embedded`. Default: AISR_LM, or embedded.",
        rich_help_panel=opt.LM_PANEL,
    ),
]


def check_paper(
    paper: Annotated[
        Path, typer.Argument(help="The paper: its main .tex file or the folder of that, a .md or .docx file or a PDF.")
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
    program: Programs = None,
    evidence: UncompiledEvidence = None,
    lm: PaperLM = None,
    api_base: opt.ApiBase = None,
    settings: opt.Settings = None,
    fail_on: Annotated[
        list[str] | None, typer.Option(metavar="LABEL", help="Exit with 3 where a sentence has this label; repeatable.")
    ] = None,
    above: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="With --fail-on: only where its confidence is at least this, or unknown."),
    ] = None,
    notes: Annotated[
        bool, typer.Option("--notes", help="Also list what nothing in the paper states or denies; else it is counted.")
    ] = False,
    dismissed: Dismissed = None,
    interpretations: Annotated[
        bool,
        typer.Option("--interpretations", help="Also judge causes and general statements that have no number."),
    ] = False,
    max_usd: opt.MaxUsd = None,
    estimate: opt.Estimate = False,
    artifacts: opt.Root = opt.ARTIFACTS,
    version: Version = False,
) -> None:
    """Check a paper against its tables, figures and the papers that it cites. `check-paper mcp` serves the same to
    coding agents.

    Exits with 1 where something could not be judged (the same command goes on there), with 3 for --fail-on.
    """
    if above is not None and not fail_on:
        raise UserError("--above goes with --fail-on LABEL")
    from aisr_papers.check.dismissed import mark_dismissed, read_dismissed
    from aisr_papers.open import check_paper as check_path
    from aisr_papers.open import check_papers_folder

    check_path(paper)
    check_papers_folder(papers)
    digests = read_dismissed(dismissed)
    if _is_without_lm(lm, [*(program or []), evidence]):
        _without_lm(paper, root, papers, out, fail_on or [], digests)
        return
    plan = command_plan(settings, lm, api_base, max_usd, uses=("lm", "limits"))
    prepare(artifacts, *(program or []))
    from aisr.base.files import cache_folder
    from aisr.cli import display
    from aisr.lm.config import EMBEDDED
    from aisr.optimize.estimate import DryRun
    from aisr.predict.prepare import open_gallery
    from aisr_papers.check.checks import CITATIONS, CLAIMS, collect_checks
    from aisr_papers.check.exact import add_exact_verdicts, read_paper
    from aisr_papers.check.judging import BUILT_IN, make_checkers, programs_by_task, review_draft
    from aisr_papers.check.verdicts import failing_labels, failing_verdicts

    labels = failing_labels(fail_on or [], [*CLAIMS.labelled.labels, *CITATIONS.labelled.labels])
    ledger = open_ledger(plan.limits, None if estimate else out)
    opened = open_lm(plan.lm, ledger, needs_key=not estimate)
    compiled = programs_by_task(program or [], artifacts)
    dry = DryRun() if estimate else None
    judging_lm = dry.open(opened) if dry else opened
    draft, cited = read_paper(paper, root, papers, cache_folder(artifacts) / "figures")
    content = collect_checks(draft, cited, interpretations)
    gallery = open_gallery(draft.folder, artifacts, draft.drawings)
    judges = make_checkers(compiled, judging_lm, gallery, artifacts, evidence)
    for judge in judges:
        warn_of_another_lm(judge.program, opened)
    if dry:
        if not content.claims and not content.citations:
            display.note("nothing to check: " + (_why_nothing(content) or "there is no text in it"))
        with display.live(dry.ledger) as progress:
            review_draft(draft, content, judges, judging_lm, progress.judged)
        display.print_estimate(dry, ledger.limits)
        return
    if opened.spec == EMBEDDED:
        display.note(BUILT_IN)
    display.note(
        f"checking {paper} with {plan.lm.model}: {pluralize(content.statements, 'statement')} against the paper in "
        f"{pluralize(len(content.claims), 'question')}, {pluralize(len(content.citations), 'citation')} against cited "
        "papers"
    )
    with display.live(ledger) as progress:
        review = review_draft(draft, content, judges, judging_lm, progress.judged, gallery.problems)
    review = mark_dismissed(add_exact_verdicts(review, cited), digests)
    failing = failing_verdicts(review, labels, above or 0.0)
    written = _write(out, review)  # before anything is printed: that may fail, and the verdicts were paid for
    print_review(review, failing, notes)
    display.print_spend(ledger.spend)
    _print_written(written)
    if failing:
        raise typer.Exit(FLAGGED)
    raise typer.Exit(opt.RECORDS_FAILED if review.unjudged else 0)


def _without_lm(
    paper: Path,
    root: Path | None,
    papers: Path | None,
    out: Path | None,
    fail_on: Sequence[str],
    dismissed: Set[str],
) -> None:
    """Check what needs no language model, in seconds: no key, no network, and DSPy is not loaded."""
    from aisr_papers.check.dismissed import mark_dismissed
    from aisr_papers.check.exact import read_paper, without_lm
    from aisr_papers.check.verdicts import failing_labels, failing_verdicts

    labels = failing_labels(fail_on, [])
    checked = without_lm(*read_paper(paper, root, papers, None))
    review = mark_dismissed(checked, dismissed)
    failing = failing_verdicts(review, labels, 0.0)
    written = _write(out, review)
    print_review(review, failing)
    _print_written(written)
    if failing:
        raise typer.Exit(FLAGGED)


def _write(out: Path | None, review: "Review") -> Sequence[Path]:
    """The files of --out, written."""
    from aisr_papers.check.write import write_files

    return write_files(out, review) if out is not None else []


def _print_written(files: Sequence[Path]) -> None:
    from aisr.cli.display import note

    if files:
        note(f"wrote {', '.join(map(str, files))}; open the first in a browser")


def _why_nothing(checks: "Checks") -> str:
    """Why nothing of a paper is checked, by the numbers of its paragraphs and sentences."""
    reasons = [f"{pluralize(count, 'paragraph')}: {why}" for why, count in checks.skipped.items()]
    if checks.missing:
        citing = pluralize(sum(checks.missing.values()), "sentence")
        reasons.append(f"{citing} with a citation of a work without a file; --papers brings them")
    return "; ".join(reasons)


MOST = 10  # things of a kind that are named


def print_review(review: "Review", failing: "Sequence[Verdict]", notes: bool = False) -> None:
    """Print a checked paper: faulty sentences, and with `notes` those that nothing in the paper states or denies, a
    line each that editors can follow, the most doubtful first; counts; what was not judged or left out, and why; how
    reliable it is; and how many sentences --fail-on names."""
    from aisr.cli.display import note, table
    from aisr_papers.check.verdicts import EXACT, NO_REASON, NOT_JUDGED
    from aisr_papers.check.write import format_line, left_out, list_recomputed

    for place in review.by_doubt():
        one = review.verdicts[place]
        listed = one.doubtful or (notes and one.folded and not one.dismissed)
        if listed and one.label:
            note(format_line(review, one))
    if not review.verdicts:
        note("nothing to report")
    else:
        table("verdicts", ["", "sentences"], [[label, str(count)] for label, count in review.counts().items()])
    folded = sum(one.folded and not one.dismissed for one in review.verdicts)
    if folded and not notes:
        note(f"not found in the paper's tables, figures and text: {folded}; no fault, and --notes lists them")
    failures = Counter(one.failure for one in review.verdicts if one.label is None)
    unjudged = [f"{why}: {count}" for why, count in failures.most_common()]
    wanting = [{"title": f"{NOT_JUDGED}: {review.unjudged}", "items": unjudged}] if unjudged else []
    _print_groups([*wanting, *left_out(review)])
    unexplained = Counter(one.failure for one in review.verdicts if one.label and one.failure)
    for why, count in unexplained.most_common(MOST):
        note(why.replace(NO_REASON, f"{NO_REASON} for {pluralize(count, 'flag')}", 1))
    if gone := review.dismissed:
        note(f"{pluralize(len(gone), 'flag')} dismissed; folded on the page, and not counted by --fail-on")
    for remark in review.reliability:
        note(remark)
    _print_groups(list_recomputed(review))
    if failing:
        unknown = sum(one.confidence is None and one.kind not in (*EXACT, "hidden") for one in failing)
        less = f", {unknown} of them with unknown confidence" if unknown else ""
        note(f"--fail-on: {pluralize(len(failing), 'sentence')}{less}")


def _print_groups(groups: "Sequence[Mapping[str, Any]]") -> None:
    """Print titles, and below each its first items."""
    from aisr.cli.display import note

    for group in groups:
        note(group["title"])
        for item in group["items"][:MOST]:
            note(f"  {item}")
        if len(group["items"]) > MOST:
            note(f"  … and {len(group['items']) - MOST} more; the page names them all")


def mcp(
    folder: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER", help="A folder that agents may name files in; repeatable. Nothing else is read."
        ),
    ] = None,
    program: Programs = None,
    evidence: UncompiledEvidence = None,
    lm: PaperLM = None,
    api_base: opt.ApiBase = None,
    settings: opt.Settings = None,
    dismissed: Dismissed = None,
    max_usd: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Send nothing more once so many US dollars are spent in this session.",
            rich_help_panel=opt.LIMITS_PANEL,
        ),
    ] = None,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Serve the checker to coding agents, as an MCP server on standard input and output.

    Limits are for the whole session, at most 500 LM calls where none is set; no agent can raise them.
    """
    from aisr_papers.check.dismissed import read_dismissed

    folders, digests = _existing(folder or []), read_dismissed(dismissed)
    try:
        import mcp as _installed  # noqa: F401
    except ImportError as error:
        raise UserError("`check-paper mcp` needs the extra: pip install 'aisr-papers[mcp]'") from error
    from aisr_papers.check.server import serve
    from aisr_papers.check.session import Session
    from aisr_papers.check.session import Settings as SessionSettings

    if _is_without_lm(lm, [*(program or []), evidence]):
        serve(Session(SessionSettings(folders, artifacts, dismissed=digests), None))
        return
    plan = command_plan(settings, lm, api_base, max_usd, uses=("lm", "limits"))
    prepare(artifacts, *(program or []))
    from aisr_papers.check.judging import programs_by_task

    lm_of_session = open_lm(plan.lm, open_ledger(replace(plan.limits, max_calls=plan.limits.max_calls or MOST_CALLS)))
    compiled = programs_by_task(program or [], artifacts)
    settings_of_session = SessionSettings(folders, artifacts, compiled, evidence, digests)
    serve(Session(settings_of_session, lm_of_session))


def _is_without_lm(lm: str | None, of_an_lm: Sequence[str | None]) -> bool:
    """Whether no language model is to be asked. Raises UserError where an option goes with one."""
    if (lm or os.environ.get("AISR_LM")) != "none":
        return False
    if any(of_an_lm):
        raise UserError("--lm none asks no program and shows no pictures: leave these options out, or name an LM")
    return True


def _existing(folders: Sequence[Path]) -> list[Path]:
    """The folders by their real paths. Raises UserError for one that is none."""
    if not folders:
        raise UserError("give --folder DIR, at least once: agents name files below these alone")
    for one in folders:
        if not one.is_dir():
            raise UserError(f"--folder {one}: no such folder")
    return [one.resolve() for one in folders]


# --- The process: both commands, what they print on, how they end.


def _app(command: Callable[..., None]) -> typer.Typer:
    app = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
    app.command()(command)
    return app


CHECK, MCP = _app(check_paper), _app(mcp)


def main() -> None:
    """Run the command: what a user can mend ends in one line on standard error and exit code 2. A first word `mcp` is
    the server; a paper of that name is `./mcp`."""
    _prepare_output()
    words = sys.argv[1:] or ["--help"]
    try:
        if words[0] == "mcp":
            code = MCP(words[1:], prog_name="check-paper mcp", standalone_mode=False)
        else:
            code = CHECK(words, prog_name="check-paper", standalone_mode=False)
        if code == INTERRUPTED:
            print("stopped; the same command goes on where it can", file=sys.stderr)
        sys.exit(code)
    except Exception as error:
        if not _is_for_the_user(error):
            raise
        print(f"error: {_message(error)}", file=sys.stderr)
        sys.exit(opt.REFUSED)


def _prepare_output() -> None:
    """Have characters that the terminal cannot show replaced, and what is printed discarded where output is closed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  until the process ends
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename:
        return redact.printable(f"{error.filename}: {error.strerror}")
    if isinstance(error, ModuleNotFoundError):
        return f"this needs the package {error.name}; `pip install 'aisr-papers[pdf]'` brings it (--lm none needs less)"
    return redact.secrets(error.format_message() if isinstance(error, typer.TyperException) else str(error))


def _is_for_the_user(error: Exception) -> bool:
    """Whether an error carries a message for the user: bad input, files, LM errors. Anything else is a fault of ours
    and is raised."""
    loaded = (("dspy.utils.exceptions", "DSPyError"), ("mlflow.exceptions", "MlflowException"))
    others = tuple(getattr(sys.modules[module], name) for module, name in loaded if module in sys.modules)
    if isinstance(error, ModuleNotFoundError):
        ours = ("aisr", "aisr_papers")
        return error.name not in sys.stdlib_module_names and str(error.name).partition(".")[0] not in ours
    return isinstance(error, (UserError, OSError, typer.TyperException, *others))


if __name__ == "__main__":
    main()
