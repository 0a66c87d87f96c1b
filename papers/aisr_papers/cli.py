"""The command `check-paper`, and `check-paper mcp` for coding agents. Everything heavy is imported inside, so that
`--help` answers at once."""

import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from aisr import UserError
from aisr.text import pluralize, printable, without_keys

if TYPE_CHECKING:
    from aisr import LanguageModel
    from aisr_papers.check.judging import Checker
    from aisr_papers.check.questions import Checks
    from aisr_papers.check.review import Review
    from aisr_papers.draft import Draft

UNJUDGED = 1  # exit code: the command went through, something was not judged
REFUSED = 2  # exit code: bad input, nothing was done
FLAGGED = 3  # exit code: a sentence has a label of --fail-on
MOST_CALLS = 500  # of a session with an agent, where nothing else is set
INTERRUPTED = 130  # typer's exit code where Ctrl-C ended a command

# --- Options. Under these titles `--help` shows some of them.

LM_PANEL = "Language model"
COST_PANEL = "Cost"


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
ClaimProgram = Annotated[
    str | None,
    typer.Option(
        "--program",
        metavar="PROGRAM",
        help="A compiled program of the task draft, which judges statements: artifacts/draft/NAME, or models:/… "
        "Default: the uncompiled one.",
    ),
]
CitationProgram = Annotated[
    str | None,
    typer.Option(
        metavar="PROGRAM",
        help="A compiled program of track2, which judges citations. Default: the uncompiled one.",
    ),
]
Evidence = Annotated[
    Literal["caption", "ocr", "image", "auto"] | None,
    typer.Option(
        help="What the uncompiled program shows of a picture: its caption, or besides its text (ocr) or its pixels "
        "(image); auto: image where the LM is known to take pictures, else ocr. Default: image where it is, else "
        "caption.",
    ),
]
LM = Annotated[
    str,
    typer.Option(
        "--lm",
        metavar="MODEL",
        envvar="AISR_LM",
        help="none: tests, percentages and quotes alone, in seconds. Else PROVIDER/MODEL such as "
        "openai/gpt-4o-mini, or `embedded`.",
        rich_help_panel=LM_PANEL,
    ),
]
ApiBase = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        envvar="AISR_API_BASE",
        help="Server of --lm openai/MODEL, with OpenAI's API.",
        rich_help_panel=LM_PANEL,
    ),
]
# What `-L` sets, as `aisr.open_lm` takes it, and what is expected in a message.
LM_SETTINGS: Mapping[str, tuple[Any, str]] = {
    "schema": (bool, "true or false"),
    "logprobs": (bool, "true or false"),
    "max_tokens": (int, "a whole number"),
    "temperature": (float, "a number"),
    "threads": (int, "a whole number"),
    "timeout": (float, "seconds"),
    "price": (tuple[float, float], "USD a million prompt and completion tokens, such as 0.15,0.6"),
}
LMSettings = Annotated[
    list[str] | None,
    typer.Option(
        "-L",
        metavar="NAME=VALUE",
        help=f"Setting of the LM, repeatable, as of `aisr`: {', '.join(LM_SETTINGS)}.",
        rich_help_panel=LM_PANEL,
    ),
]
MaxUsd = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Send nothing more once so many US dollars are spent: by all runs with this --out, or all calls of `mcp`.",
        rich_help_panel=COST_PANEL,
    ),
]
MaxCalls = Annotated[
    int | None, typer.Option(min=1, help="Send nothing more after so many LM calls.", rich_help_panel=COST_PANEL)
]
Artifacts = Annotated[
    Path,
    typer.Option(
        envvar="AISR_ARTIFACTS",
        help="Folder of drawn figures and the response cache, and of the MLflow store of models:/…",
    ),
]
ARTIFACTS = Path("artifacts")


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
    program: ClaimProgram = None,
    citation_program: CitationProgram = None,
    evidence: Evidence = None,
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
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 where less than 90 % of the words of the paper could be read.")
    ] = False,
    interpretations: Annotated[
        bool,
        typer.Option("--interpretations", help="Also judge causes and general statements that have no number."),
    ] = False,
    lm: LM = "embedded",
    api_base: ApiBase = None,
    lm_settings: LMSettings = None,
    max_usd: MaxUsd = None,
    max_calls: MaxCalls = None,
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate", help="Print the estimated calls, tokens and cost, then exit.", rich_help_panel=COST_PANEL
        ),
    ] = False,
    artifacts: Artifacts = ARTIFACTS,
    version: Version = False,
) -> None:
    """Check a paper against its tables, figures and the papers that it cites. `check-paper mcp` serves the same to
    coding agents.

    Exits with 1 where something could not be judged (the same command goes on there), with 3 for --fail-on.
    """
    if above is not None and not fail_on:
        raise UserError("--above goes with --fail-on LABEL")
    from aisr_papers.check.dismissed import mark_dismissed, read_dismissed
    from aisr_papers.check.exact import NO_LM, add_exact_flags, read_paper, without_lm
    from aisr_papers.check.review import failing_flags, failing_labels
    from aisr_papers.check.write import write_files
    from aisr_papers.display import note, print_lost, print_review, print_spend
    from aisr_papers.open import check_paper as check_path
    from aisr_papers.open import check_papers_folder

    check_path(paper)
    check_papers_folder(papers)
    digests = read_dismissed(dismissed)
    opened = None
    if _asks_lm(lm, [program, citation_program, evidence]):
        limits = {"max_usd": max_usd, "max_calls": max_calls}
        options = {"api_base": api_base, **_read_settings(lm_settings or ()), **limits}
        opened = open_lm(lm, output=None if estimate else out, needs_key=not estimate, **options)
        from aisr.files import cache_folder
        from aisr_papers.check.judging import Programs, make_checkers

        judging = opened.estimating() if estimate else opened
        draft, cited = read_paper(paper, root, papers, cache_folder(artifacts) / "figures")
        is_lost = print_lost(draft)
        programs = Programs(program, citation_program)
        checkers = make_checkers(programs, judging, draft.folder, draft.drawings, artifacts, evidence)
        labels = failing_labels(fail_on or [], [label for by in checkers for label in by.labels.meanings])
        review = _judge(paper, draft, cited, checkers, judging, interpretations, estimate, limits)
        if review is None:
            return
        review = add_exact_flags(review, cited)
    else:
        labels = failing_labels(fail_on or [], [])
        draft, cited = read_paper(paper, root, papers, None)
        is_lost = print_lost(draft)
        review = without_lm(draft, cited)
    review = mark_dismissed(review, digests)
    failing = failing_flags(review, labels, above or 0.0)
    written = write_files(out, review) if out else []  # before anything is printed: the flags were paid for
    if review.lm == NO_LM:
        note(review.reliability[0])
        review = replace(review, reliability=review.reliability[1:])
    print_review(review, failing, notes)
    if opened:
        print_spend(opened.spend)
    if written:
        note(f"wrote {', '.join(map(str, written))}; open the first in a browser")
    if failing:
        raise typer.Exit(FLAGGED)
    raise typer.Exit(UNJUDGED if review.unjudged or (strict and is_lost) else 0)


def _judge(
    paper: Path,
    draft: "Draft",
    cited: Mapping[str, Mapping[str, str]],
    checkers: "Sequence[Checker]",
    lm: "LanguageModel",
    interpretations: bool,
    estimate: bool,
    limits: Mapping[str, Any],
) -> "Review | None":
    """The paper with the flags of a model; None where its cost is estimated alone, which is printed."""
    from aisr_papers import display
    from aisr_papers.check.judging import BUILT_IN, review_draft
    from aisr_papers.check.questions import collect_checks
    from aisr_papers.check.reasons import EMBEDDED

    checks = collect_checks(draft, cited, interpretations)
    if estimate and not checks.claims and not checks.citations:
        display.note("nothing to check: " + (_why_nothing(checks) or "there is no text in it"))
    if not estimate:
        if lm.spec == EMBEDDED:
            display.note(BUILT_IN)
        display.note(
            f"checking {paper} with {lm.spec}: {pluralize(checks.statements, 'statement')} against the paper in "
            f"{pluralize(len(checks.claims), 'question')}, {pluralize(len(checks.citations), 'citation')} against "
            "cited papers"
        )
    with display.progress() as done, _printed_warnings():
        review = review_draft(draft, checks, checkers, lm, done)
    if estimate:
        display.print_estimate(lm.spend, **limits)
    return None if estimate else review


def open_lm(lm: str, **options: Any) -> "LanguageModel":
    """Return the language model of a command. options: of `aisr.open_lm`."""
    import logging

    import aisr

    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # the price list of the package, not of the web
    opened = aisr.open_lm(lm, **options)
    logging.getLogger("dspy").setLevel(logging.CRITICAL)  # failures are counted
    return opened


def _read_settings(words: Sequence[str]) -> dict[str, Any]:
    """Return what `-L NAME=VALUE` sets. Raises UserError."""
    from pydantic import TypeAdapter, ValidationError

    settings = {}
    for name, _, text in (word.partition("=") for word in words):
        if name not in LM_SETTINGS:
            raise UserError(f"-L {name[:80]}: not a setting of the LM; expected one of: {', '.join(LM_SETTINGS)}")
        kind, expected = LM_SETTINGS[name]
        try:
            settings[name] = TypeAdapter(kind).validate_python(text.split(",") if name == "price" else text)
        except ValidationError:
            raise UserError(f"-L {name}={text[:80]}: expected {expected}") from None
    return settings


@contextmanager
def _printed_warnings() -> Iterator[None]:
    """Print what aisr warns of, such as a program that was fitted to another LM, once each."""
    from aisr_papers.display import note

    with warnings.catch_warnings():
        warnings.filterwarnings("once", "the label weights were fitted", UserWarning)
        warnings.showwarning = lambda message, *_, **__: note(f"warning: {message}")
        yield


def _why_nothing(checks: "Checks") -> str:
    """Why nothing of a paper is checked, by the numbers of its sentences."""
    reasons = [f"{pluralize(count, 'sentence')}: {why}" for why, count in checks.skipped.items()]
    if checks.missing:
        citing = pluralize(sum(checks.missing.values()), "sentence")
        reasons.append(f"{citing} with a citation of a work without a file; --papers brings them")
    return "; ".join(reasons)


def mcp(
    folder: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER", help="A folder that agents may name files in; repeatable. Nothing else is read."
        ),
    ] = None,
    program: ClaimProgram = None,
    citation_program: CitationProgram = None,
    evidence: Evidence = None,
    dismissed: Dismissed = None,
    lm: LM = "embedded",
    api_base: ApiBase = None,
    lm_settings: LMSettings = None,
    max_usd: MaxUsd = None,
    max_calls: MaxCalls = MOST_CALLS,
    artifacts: Artifacts = ARTIFACTS,
) -> None:
    """Serve the checker to coding agents, as an MCP server on standard input and output.

    Limits are for the whole session; no agent can raise them.
    """
    from aisr_papers.check.dismissed import read_dismissed

    folders, digests = _existing(folder or []), read_dismissed(dismissed)
    try:
        import mcp as _installed  # noqa: F401
    except ImportError as error:
        raise UserError("`check-paper mcp` needs the extra: pip install 'aisr-papers[mcp]'") from error
    from aisr_papers.check.server import Settings, serve

    settings = Settings(folders, artifacts, evidence=evidence, dismissed=digests)
    if _asks_lm(lm, [program, citation_program, evidence]):
        limits = {"max_usd": max_usd, "max_calls": max_calls}
        opened = open_lm(lm, api_base=api_base, **_read_settings(lm_settings or ()), **limits)
        from aisr_papers.check.judging import Programs

        settings = replace(settings, lm=opened, programs=Programs(program, citation_program))
    serve(settings)


def _asks_lm(lm: str, of_an_lm: Sequence[str | None]) -> bool:
    """Whether a language model is to be asked. Raises UserError where an option needs one and none is."""
    if lm != "none":
        return True
    if any(of_an_lm):
        raise UserError("--lm none asks no program and shows no pictures: leave these options out, or name an LM")
    return False


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
        sys.exit(REFUSED)


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
        return printable(f"{error.filename}: {error.strerror}")
    if isinstance(error, ModuleNotFoundError):
        return f"this needs the package {error.name}; `pip install 'aisr-papers[pdf]'` brings it (--lm none needs less)"
    return without_keys(error.format_message() if isinstance(error, typer.TyperException) else str(error))


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
