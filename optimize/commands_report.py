"""The commands for people who read verdicts: the error browser, and a look at a draft of one's own."""

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from optimize.opening import load, opened_lm, prepare, warn_of_another_lm
from optimize.options import (
    ARTIFACTS,
    RECORDS_FAILED,
    ApiBase,
    LMSpec,
    Logprobs,
    Root,
    Schema,
    TaskName,
    chosen_task,
)


def report(
    run: Annotated[
        str,
        typer.Argument(help="artifacts/TASK/NAME, the folder beside `evaluate --output`, or the id of an MLflow run."),
    ],
    image_root: Annotated[
        Path | None,
        typer.Option(help="Folder that the picture paths of the records start from. Default: what the last page has."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write the page. Default: report.html in that folder; report-ID.html for a run."),
    ] = None,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Write the error browser: one HTML file with every judged record, its evidence, verdicts, prompt and answer."""
    prepare(artifacts)
    from optimize import runs
    from optimize.artifact import write_whole
    from optimize.display import note
    from optimize.report import page, records

    logged = runs.is_run_id(run) and not Path(run).exists()
    with tempfile.TemporaryDirectory() as place:
        folder = runs.fetch(artifacts, run, [records.FILE, page.FILE], Path(place)) if logged else Path(run)
        found, thumbnail = records.read(folder), page.kept(folder / page.FILE)
    if image_root is not None:
        from optimize.report.thumbnails import Thumbnails

        if not image_root.is_dir():
            raise ValueError(f"--image-root {image_root}: no such folder; expected the one that img_path starts from")
        thumbnail = Thumbnails(image_root)
    target = out or (Path(f"report-{run[:8]}.html") if logged else Path(run) / page.FILE)
    write_whole(target, page.render(found, thumbnail))
    note(f"wrote {target}: {len(found.records)} records, {target.stat().st_size / 2**20:.1f} MiB, to open in a browser")


def techreport(
    program: Annotated[str, typer.Argument(help="artifacts/TASK/NAME, or models:/aisr-TASK@champion.")],
    task: TaskName,
    evaluation: Annotated[
        Path | None, typer.Option(help="What `aisr evaluate --ablate --output` wrote, for the ablations on test.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where to write, without suffix: OUT.md and OUT.tex.")] = Path("techreport"),
    artifacts: Root = ARTIFACTS,
) -> None:
    """Write the technical report that the shared task demands, from what was recorded; the rest is shown as missing."""
    prepare(artifacts)
    from optimize import documents, registry
    from optimize import techreport as content
    from optimize.artifact import read_json, write_whole
    from optimize.display import note

    loaded = load(chosen_task(task), program, artifacts)
    registered = program.startswith(registry.MODEL_SCHEME)
    made = registry.manifest(artifacts, program) if registered else read_json(Path(program) / "manifest.json")
    sections = content.sections(loaded.program, made, read_json(evaluation) if evaluation else None)
    title = content.title(made)
    text = documents.as_markdown(title, sections)
    write_whole(out.with_name(f"{out.name}.md"), text)
    write_whole(out.with_name(f"{out.name}.tex"), documents.as_latex(title, sections))
    missing = text.count(documents.MISSING)
    note(f"wrote {out}.md and {out}.tex: {missing} things are {documents.MISSING.strip('()')}; fill them in by hand")


def check_text(
    draft: Annotated[Path, typer.Argument(help="File with one paragraph or one claim; - is standard input.")],
    program: Annotated[str, typer.Option(help="artifacts/TASK/NAME, or models:/aisr-TASK@champion.")],
    evidence: Annotated[
        list[Path] | None, typer.Option(help="track1: text or Markdown that the paragraph reports on; repeatable.")
    ] = None,
    paper: Annotated[Path | None, typer.Option(help="track2: the cited paper as text or Markdown.")] = None,
    lm: LMSpec = "embedded",
    api_base: ApiBase = None,
    schema: Schema = True,
    logprobs: Logprobs = True,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Judge one paragraph against its evidence, or one claim against a paper, and say why."""
    if bool(evidence) == (paper is not None):
        raise ValueError("give --evidence FILE (once or more) for a paragraph, or --paper FILE for a claim")
    prepare(artifacts)
    from optimize import display, drafts
    from optimize.judging import judge
    from optimize.reasons import reasons
    from optimize.tasks import TRACK1, TRACK2
    from optimize.verdicts import say_verdicts
    from programs.labels import CITATION_DEFINITIONS, CLAIM_DEFINITIONS

    text = sys.stdin.read() if str(draft) == "-" else "\n\n".join(drafts.blocks(draft))
    task = TRACK1 if paper is None else TRACK2
    record = drafts.claim_record(text, evidence or []) if paper is None else drafts.citation_record(text, paper)
    loaded = load(task, program, artifacts)
    opened = opened_lm(lm, api_base, schema, logprobs, 1)
    warn_of_another_lm(loaded.program, opened)
    example = loaded.program.prepare(record)
    outcome = judge(task, loaded.program, example, opened)
    if outcome.failure is not None:
        display.note(f"not judged: {outcome.failure}")
        raise typer.Exit(RECORDS_FAILED)
    named = [one for one in task.exhibits(record, example, outcome.answer) if one.chosen]
    why = reasons(task, loaded.program, example, opened)
    meanings = CLAIM_DEFINITIONS if task is TRACK1 else CITATION_DEFINITIONS
    say_verdicts(task.statements(example), outcome, why, sorted(named, key=lambda one: one.chosen), meanings)
    display.say_spend(opened)
