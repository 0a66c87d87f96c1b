"""The commands from records to a submission: predict, vote, submit, score."""

from collections.abc import Set
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aisr.cli.options import (
    ARTIFACTS,
    RECORDS_FAILED,
    Batch,
    BatchAnswers,
    Estimate,
    Jsonl,
    LMSpec,
    ProgramName,
    Reach,
    Root,
    Spending,
    chosen_task,
    there,
)
from aisr.cli.session import embedding_address, load, opened_lm, prepare, warn_of_another_lm
from aisr.cli.task_options import EmbeddingApiBase, ImageRoot, TaskName
from aisr.programs.errors import UserError

if TYPE_CHECKING:
    pass


def predict(
    *,
    task: TaskName,
    program: ProgramName,
    data: Jsonl,
    out: Annotated[
        Path, typer.Option(help="Predictions file; a run that was stopped goes on in it.", show_default=False)
    ],
    lm: LMSpec = "embedded",
    reach: Reach,
    embedding_api_base: EmbeddingApiBase = None,
    batch: Batch = None,
    answers: BatchAnswers = None,
    image_root: ImageRoot = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0.001, help="Seconds until an answer of the LM that is not complete is given up. Default: 600."
        ),
    ] = None,
    engine: Annotated[
        str, typer.Option(help="`threads` of this process, or `ray`: processes of a cluster.")
    ] = "threads",
    workers: Annotated[int, typer.Option(min=1, help="With --engine ray: how many processes share the threads.")] = 2,
    ray_address: Annotated[
        str | None, typer.Option(help="With --engine ray: the cluster, or `auto`. Default: one of this machine alone.")
    ] = None,
    spending: Spending,
    estimate: Estimate = False,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Predict a file of records. Exits 1 where records failed or a limit was reached; the same command tries those
    again."""
    prepare(artifacts, program)
    from aisr.cli import display
    from aisr.lm.embeddings import Embeddings
    from aisr.predict import batch as batching
    from aisr.predict.dry_run import DryRun
    from aisr.predict.predict import here
    from aisr.predict.predict import predict as run
    from aisr.predict.prepare import attach_embeddings, attach_gallery, check_suits, digest_shown, find_gallery
    from aisr.programs.lines import read

    if engine not in ("threads", "ray"):
        raise UserError(f"--engine {engine!r}; one of: threads, ray")
    if batch and engine == "ray":
        raise UserError("--batch works on files, and --engine ray would ask the LM itself; leave one of them out")
    chosen = chosen_task(task)
    loaded = load(chosen, program, artifacts)
    settings: dict[str, Any] = {
        "lm": lm,
        "timeout": timeout,
        "embedding_api_base": embedding_api_base,
        **spending.prices(),
    }
    ledger = spending.ledger()
    if batch or answers:
        address = embedding_address(embedding_api_base, reach.api_base)
        embeddings = Embeddings(ledger, address, spending.embedding_price, timeout=timeout)
        opened = batching.opened(batch, answers, lm, reach.api_base, reach.schema, reach.logprobs, embeddings)
    else:
        opened = opened_lm(**settings, reach=reach, ledger=ledger, keyed=not estimate)
    warn_of_another_lm(loaded.program, opened)
    dry = DryRun() if estimate else None
    if dry:
        opened = dry.open(opened)
    gallery = find_gallery(image_root, data, artifacts)
    check_suits(loaded.program, opened)
    attach_embeddings(attach_gallery(loaded.program, gallery), opened.embeddings)
    if dry:
        with display.live(dry.ledger) as shown:
            for _ in here(chosen, loaded.program, opened)(read(data, chosen.record, chosen.name)):
                shown.judged()
        display.print_estimate(dry, ledger.limits)
        return
    if batch == batching.EXPORT:
        made = batching.export(chosen, loaded.program, data, out, opened)
        display.say_batch(made, out)
        if ledger.spend.asked:  # the papers' embeddings, without which there are no prompts
            display.say_spend(opened.ledger.spend)
        raise typer.Exit(RECORDS_FAILED if made.failures else 0)
    display.note(f"predicting {data} with {program} ({loaded.digest}) and {lm} into {out}")
    judging = here(chosen, loaded.program, opened)
    if engine == "ray":
        from aisr.predict.ray import on_ray

        settings |= asdict(reach)
        judging = on_ray(chosen, loaded.program, opened, settings, workers, ray_address, gallery, artifacts)
    identity = {"task": chosen.name, "program": loaded.digest, "lm": opened.identity}

    def pictures(paths: Set[str]) -> dict[str, str]:
        return digest_shown(loaded.program, gallery, paths)

    with display.live(opened.ledger) as shown:
        summary = run(chosen, judging, data, out, identity, opened.ledger, shown.judged, pictures)
    kept = f", {summary.kept} of them from an earlier run" if summary.kept else ""
    display.note(f"wrote {out}: {summary.kept + summary.judged} records{kept}")
    if summary.stopped:
        display.note(f"stopped with {summary.left} records left: {summary.stopped}; a higher limit goes on from here")
    display.say_failures(summary.reasons, summary.failed)
    display.say_pictures(gallery.problems if gallery else {})
    display.say_spend(opened.ledger.spend, summary.judged)
    raise typer.Exit(RECORDS_FAILED if summary.failed or summary.stopped else 0)


def submit(
    task: TaskName,
    data: Annotated[
        Path, typer.Option(help="The test inputs that were predicted.", show_default=False, callback=there)
    ],
    predictions: Annotated[
        Path, typer.Option(help="Predictions file of `aisr predict`.", show_default=False, callback=there)
    ],
    out: Annotated[Path, typer.Option(help="Zip to write; the other track's file in it is kept.", show_default=False)],
    on_failure: Annotated[str, typer.Option(help="`refuse`, or `fallback`: fill failed records in.")] = "refuse",
    limit: Annotated[int, typer.Option(min=1, help="How many problems to list.")] = 20,
) -> None:
    """Validate predictions against the test inputs and pack the zip that the server takes."""
    if on_failure not in ("refuse", "fallback"):
        raise UserError(f"--on-failure {on_failure!r}; one of: refuse, fallback")
    from aisr.cli.display import note
    from aisr.predict import submit as submission

    chosen = chosen_task(task)
    note(f"checking {predictions} against {data}")
    found = submission.check(chosen, data, predictions, fill_failed=on_failure == "fallback")
    for problem in found.problems[:limit]:
        note(f"  {problem}")
    if found.problems:
        raise UserError(f"{len(found.problems)} problems; nothing was written")
    for key in found.filled:
        note(f"  {key}: failed; filled in with the fallback answer")
    chosen.submission.write(found.lines, out)
    note(f"wrote {out}: {chosen.submission.file} with {len(found.lines)} records")


def score(
    gold: Annotated[Path, typer.Argument(help="Records with labels, JSONL.", callback=there)],
    predicted: Annotated[Path, typer.Argument(metavar="PRED", help="Predictions, JSONL.", callback=there)],
    task: TaskName,
    output: Annotated[Path | None, typer.Option(help="Write the report here as JSON.")] = None,
) -> None:
    """Score predictions as the official evaluator does; refuse what it refuses."""
    from aisr.base.files import as_json, write_whole
    from aisr.cli import display
    from aisr.predict.submit import score_files

    chosen = chosen_task(task)
    display.note(f"scoring {predicted} against {gold} as {chosen.name}")
    report = score_files(chosen, gold, predicted)
    display.score_table(chosen.parts, report)
    if output:
        write_whole(output, as_json(report))
        display.note(f"wrote {output}")


def vote(
    out: Annotated[Path, typer.Argument(help="Predictions file to write.", show_default=False)],
    predictions: Annotated[
        list[Path], typer.Argument(help="Two or more of the same records.", show_default=False, callback=there)
    ],
    weight: Annotated[
        list[float] | None, typer.Option(help="How much a file counts; one for each, in their order. Default: 1.")
    ] = None,
) -> None:
    """Average the label probabilities of predictions files. Exits 1 where all files failed a record."""
    from aisr.cli.display import note
    from aisr.predict.submit import vote as average

    found = average(out, predictions, weight or ())
    note(f"wrote {out}: {found.records} records by {len(predictions)} files, {found.failed} failed in all of them")
    raise typer.Exit(RECORDS_FAILED if found.failed else 0)
