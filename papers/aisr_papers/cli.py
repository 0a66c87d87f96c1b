"""The command `check-paper`, and `check-paper mcp` for coding agents. Everything heavy is imported inside, so that
`--help` answers at once."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from aisr import UserError, run_command
from aisr.text import pluralize

if TYPE_CHECKING:
    from aisr import LanguageModel
    from aisr_papers.check.judging import Programs
    from aisr_papers.check.review import Review
    from aisr_papers.draft import Draft

UNJUDGED = 1  # exit code: the command went through, something was not judged
FLAGGED = 3  # exit code: a sentence has a label of --fail-on
MOST_CALLS = 500  # of a session with an agent, which spends the user's money

# --- Options. Under these titles `--help` shows some of them.

lm_option = partial(typer.Option, rich_help_panel="Language model")
cost_option = partial(typer.Option, rich_help_panel="Cost")


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
    lm_option(
        "--program",
        metavar="PROGRAM",
        help="A compiled program of the task draft, which judges statements: artifacts/draft/NAME, or models:/… "
        "Default: the uncompiled one.",
    ),
]
CitationProgram = Annotated[
    str | None,
    lm_option(
        metavar="PROGRAM", help="A compiled program of track2, which judges citations. Default: the uncompiled one."
    ),
]
PictureModeOption = Annotated[
    Literal["caption", "ocr", "image", "auto"] | None,
    lm_option(
        help="What the uncompiled program shows of a picture: its caption, or besides its text (ocr) or its pixels "
        "(image); auto: image where the LM is known to take pictures, else ocr. Default: image where it is, else "
        "caption."
    ),
]
LM = Annotated[
    str,
    lm_option(
        "--lm",
        metavar="MODEL",
        envvar="AISR_LM",
        help="PROVIDER/MODEL such as openai/gpt-4o-mini. none: tests, percentages and quotes alone, in seconds.",
    ),
]
ApiBase = Annotated[
    str | None,
    lm_option(metavar="ADDRESS", envvar="AISR_API_BASE", help="Server of --lm openai/MODEL, with OpenAI's API."),
]
LM_SETTINGS = ("schema", "logprobs", "max_tokens", "temperature", "threads", "timeout", "price")  # of `aisr.open_lm`
LMSettings = Annotated[
    list[str] | None,
    lm_option(
        "-L",
        metavar="NAME=VALUE",
        help=f"Setting of the LM, repeatable, as of `aisr`: {', '.join(LM_SETTINGS)}.",
    ),
]
MaxUsd = Annotated[
    float | None,
    cost_option(
        min=0,
        help="Send nothing more once so many US dollars are spent: by all runs with this --out, or all calls of `mcp`.",
    ),
]
MaxCalls = Annotated[int | None, cost_option(min=1, help="Send nothing more after so many LM calls.")]
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
    picture_mode: PictureModeOption = None,
    fail_on: Annotated[
        list[str] | None, typer.Option(metavar="LABEL", help="Exit with 3 where a sentence has this label; repeatable.")
    ] = None,
    above: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="With --fail-on: only where its confidence is at least this, or unknown."),
    ] = None,
    dismissed: Dismissed = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 where less than 90 % of the words of the paper could be read.")
    ] = False,
    lm: LM = "none",
    api_base: ApiBase = None,
    lm_settings: LMSettings = None,
    max_usd: MaxUsd = None,
    max_calls: MaxCalls = None,
    estimate: Annotated[
        bool, cost_option("--estimate", help="Print the estimated calls, tokens and cost, then exit.")
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
    from aisr.text import cache_folder
    from aisr_papers import display
    from aisr_papers.check import review as reviewing
    from aisr_papers.check.write import write_files
    from aisr_papers.open import read_paper

    if out:
        _check_folder(out)
    digests = reviewing.read_dismissed(dismissed)
    asks_lm = _asks_lm(
        lm, program=program, citation_program=citation_program, picture_mode=picture_mode, estimate=estimate
    )
    labels = reviewing.failing_labels(fail_on or [], asks_lm)
    opened = None
    if asks_lm:
        limits: Any = {"max_usd": max_usd, "max_calls": max_calls, "needs_key": not estimate}
        opened = open_command_lm(lm, api_base, lm_settings or (), output=None if estimate else out, **limits)
    draft, cited = read_paper(paper, root, papers, cache_folder(artifacts) / "figures" if opened else None)
    is_lost = display.print_lost(draft)
    if opened:
        from aisr_papers.check.judging import Programs

        programs = Programs(artifacts, program, citation_program, picture_mode)
        judging = opened.estimating() if estimate else opened
        review = _judge(paper, draft, cited, programs, judging, estimate)
        if estimate:
            display.print_estimate(judging.spend)
            return
        review = reviewing.add_exact_flags(review, cited)
    else:
        review = reviewing.without_lm(draft, cited)
        display.note(review.reliability[0])
    review = reviewing.mark_dismissed(review, digests)
    failing = reviewing.failing_flags(review, labels, above or 0.0)
    written = write_files(out, review) if out else []  # before the flags are printed: they were paid for
    display.print_review(review, failing)
    if opened:
        display.print_spend(opened.spend)
    if written:
        display.note(f"wrote {', '.join(map(str, written))}; open the first in a browser")
    if failing:
        raise typer.Exit(FLAGGED)
    raise typer.Exit(UNJUDGED if review.unjudged or (strict and is_lost) else 0)


def _judge(
    paper: Path,
    draft: "Draft",
    cited: Mapping[str, Mapping[str, str]],
    programs: "Programs",
    lm: "LanguageModel",
    estimate: bool,
) -> "Review":
    """Return the paper with the flags of a model, and say what is asked."""
    from aisr_papers import display
    from aisr_papers.check.judging import BUILT_IN, make_checkers, review_draft
    from aisr_papers.check.questions import collect_checks
    from aisr_papers.check.reasons import EMBEDDED

    checks = collect_checks(draft, cited)
    checkers = make_checkers(programs, lm, draft)
    if not estimate:
        if lm.spec == EMBEDDED:
            display.note(BUILT_IN)
        display.note(
            f"checking {paper} with {lm.spec}: {pluralize(checks.statements, 'statement')} against the paper in "
            f"{pluralize(len(checks.claims), 'question')}, {pluralize(len(checks.citations), 'citation')} against "
            "cited papers"
        )
    with display.progress() as done:
        return review_draft(draft, checks, checkers, lm, done)


def open_command_lm(lm: str, api_base: str | None, settings: Sequence[str], **more: Any) -> "LanguageModel":
    """Return the language model of a command. settings: NAME=VALUE; more: options of `aisr.open_lm`. Raises
    UserError."""
    import logging

    import aisr

    if wrong := [setting for setting in settings if "=" not in setting]:
        raise UserError(f"-L {wrong[0][:80]}: expected NAME=VALUE")
    values: dict[str, Any] = dict(setting.partition("=")[::2] for setting in settings)
    if unknown := [name for name in values if name not in LM_SETTINGS]:
        raise UserError(f"-L {unknown[0][:80]}: not a setting of the LM; expected one of: {', '.join(LM_SETTINGS)}")
    if "price" in values:
        values["price"] = values["price"].split(",")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # the price list of the package, not of the web
    opened = aisr.open_lm(lm, api_base=api_base, **values, **more)
    logging.getLogger("dspy").setLevel(logging.CRITICAL)  # failures are counted
    return opened


def mcp(
    folder: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER", help="A folder that agents may name files in; repeatable. Nothing else is read."
        ),
    ] = None,
    program: ClaimProgram = None,
    citation_program: CitationProgram = None,
    picture_mode: PictureModeOption = None,
    dismissed: Dismissed = None,
    lm: LM = "none",
    api_base: ApiBase = None,
    lm_settings: LMSettings = None,
    max_usd: MaxUsd = None,
    max_calls: Annotated[
        int, cost_option(min=1, max=MOST_CALLS, help="Send nothing more after so many LM calls.")
    ] = MOST_CALLS,
    artifacts: Artifacts = ARTIFACTS,
) -> None:
    """Serve the checker to coding agents, as an MCP server on standard input and output.

    Limits are for the whole session; no agent can raise them.
    """
    from aisr_papers.check.review import read_dismissed

    if not folder:
        raise UserError("give --folder DIR, at least once: agents name files below these alone")
    if missing := [one for one in folder if not one.is_dir()]:
        raise UserError(f"--folder {missing[0]}: no such folder")
    digests = read_dismissed(dismissed)
    try:
        from aisr_papers.check.server import Settings, serve
    except ModuleNotFoundError as error:
        raise UserError("`check-paper mcp` needs the extra: pip install 'aisr-papers[mcp]'") from error
    settings = Settings([one.resolve() for one in folder], digests)
    if _asks_lm(lm, program=program, citation_program=citation_program, picture_mode=picture_mode):
        from aisr_papers.check.judging import Programs

        opened = open_command_lm(lm, api_base, lm_settings or (), max_usd=max_usd, max_calls=max_calls)
        programs = Programs(artifacts, program, citation_program, picture_mode)
        settings = replace(settings, lm=opened, programs=programs)
    serve(settings)


def _check_folder(out: Path) -> None:
    """Raise UserError where a folder cannot be written to, or be one, since a file stands in its place or above it."""
    above = next((one for one in (out, *out.parents) if one.exists()), out)
    if above.exists() and not above.is_dir():
        raise UserError(f"--out {out}: {above} is a file; expected a folder, or the name of a new one")
    try:
        with TemporaryFile(dir=above):
            pass
    except OSError as error:
        raise UserError(f"--out {out}: {above} cannot be written ({error.strerror}); choose another folder") from None


def _asks_lm(lm: str, **of_an_lm: str | bool | None) -> bool:
    """Return whether a language model is to be asked. of_an_lm: options that need one, by their names in Python. Raises
    UserError where one of them is given and no language model is."""
    if lm == "none" and (typed := [name for name, value in of_an_lm.items() if value]):
        option = f"--{typed[0].replace('_', '-')}"
        raise UserError(f"{option} needs a language model: name one, such as --lm openai/gpt-4o-mini, or leave it out")
    return lm != "none"


# --- The process.


def _app(command: Callable[..., None]) -> typer.Typer:
    app = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
    app.command()(command)
    return app


CHECK, MCP = _app(check_paper), _app(mcp)


def main() -> None:
    """Run the command. A first word `mcp` is the server; a paper of that name is `./mcp`."""
    run_command(_run)


def _run() -> int | None:
    words = sys.argv[1:] or ["--help"]
    try:
        if words[0] == "mcp":
            code = MCP(words[1:], prog_name="check-paper mcp", standalone_mode=False)
        else:
            code = CHECK(words, prog_name="check-paper", standalone_mode=False)
        return code if isinstance(code, int) else None
    except ModuleNotFoundError as error:
        name = str(error.name).partition(".")[0]
        if name in ("aisr", "aisr_papers") or name in sys.stdlib_module_names:
            raise
        raise UserError(
            f"this needs the package {name}; `pip install 'aisr-papers[pdf]'` brings it (--lm none needs less)"
        ) from error


if __name__ == "__main__":
    main()
