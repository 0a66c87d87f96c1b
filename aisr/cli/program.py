"""The commands that use programs but to predict: evaluate, export; and the UI on what compiles logged."""

import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aisr.cli.options import (
    ARTIFACTS,
    RECORDS_FAILED,
    TRACES,
    Jsonl,
    Limit,
    LMSpec,
    ProgramName,
    Reach,
    Root,
    Schema,
    Traces,
    chosen_task,
)
from aisr.cli.session import command_line, embedding_address, load, opened_lm, prepare, warn_of_another_lm
from aisr.cli.task_options import ContextTokens, EmbeddingApiBase, ImageRoot, TaskName, Unit
from aisr.programs.errors import UserError

if TYPE_CHECKING:
    from aisr.optimize.experiment.evaluation import Evaluation
    from aisr.predict.replay import Replayed
    from aisr.programs.vision.images import Gallery


def evaluate(
    *,
    task: TaskName,
    program: ProgramName,
    data: Jsonl,
    lm: LMSpec = "embedded",
    reach: Reach,
    embedding_api_base: EmbeddingApiBase = None,
    limit: Limit = None,
    output: Annotated[
        Path | None, typer.Option(help="Write the scores here as JSON; records and figures beside it.")
    ] = None,
    image_root: ImageRoot = None,
    track: Annotated[bool, typer.Option(help="Log the evaluation to MLflow.")] = True,
    traces: Traces = TRACES,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Score a compiled program on labelled records, with a 95 % interval."""
    prepare(artifacts, program)
    from aisr.cli import display
    from aisr.optimize.datasets.examples import labelled
    from aisr.optimize.experiment.evaluation import Evaluation
    from aisr.predict.evaluate import result
    from aisr.predict.prepare import attach_embeddings, attach_gallery, check_suits, find_gallery
    from aisr.predict.replay import judge_aloud
    from aisr.tracking import store

    chosen = chosen_task(task)
    loaded = load(chosen, program, artifacts)
    opened = opened_lm(lm, reach, embedding_api_base=embedding_api_base)
    check_suits(loaded.program, opened)
    gallery = find_gallery(image_root, data, artifacts)
    attach_embeddings(attach_gallery(loaded.program, gallery), opened.embeddings)
    rows = labelled(chosen, loaded.program, data, limit)
    records = [row.example for row in rows]
    warn_of_another_lm(loaded.program, opened)
    if track:
        store.open_store(artifacts)  # a store out of reach must show itself before anything is spent
    began = time.monotonic()
    display.note(f"evaluating {program} ({loaded.digest}) with {lm} on {len(records)} records of {data}")
    with display.live(opened.ledger) as shown:
        told = judge_aloud(chosen, loaded.program, [row[:2] for row in rows], opened, shown.judged)
        seconds = time.monotonic() - began
        found = result(chosen, records, [one.outcome for one in told])
    display.score_table(chosen.parts, found.report())
    display.say_confidence(found.held)
    display.say_failures(found.failures)
    display.say_pictures(gallery.problems if gallery else {})
    display.say_spend(opened.ledger.spend, len(records))
    done = Evaluation(loaded, program, data, opened, found, seconds, command_line())
    logged = _leave(done, told, output, artifacts if track else None, gallery, traces)
    raise typer.Exit(RECORDS_FAILED if found.failures or not logged else 0)


def _leave(
    done: "Evaluation",
    told: "list[Replayed]",
    output: Path | None,
    store: Path | None,
    gallery: "Gallery | None",
    traced: int,
) -> bool:
    """Write an evaluation where --output says, and log it to the MLflow store below an artifacts folder; whether what
    was wanted could be done."""
    from aisr.base.files import as_json, write_whole
    from aisr.cli.display import note
    from aisr.report import write as write_report

    if output is None and store is None:
        return True
    beside = output.with_name(f"{output.stem}-report") if output else None
    with nullcontext(beside) if beside else tempfile.TemporaryDirectory() as place:
        if output:
            write_whole(output, as_json(done.report()))
        write_report.of_evaluation(done, told, Path(place), gallery)
        if output:
            note(f"wrote {output} and, for `aisr report {beside}`, {beside}/")
        return store is None or _log(done, Path(place), store, told, traced)


def _log(done: "Evaluation", folder: Path, store: Path, told: "list[Replayed]", traced: int) -> bool:
    from mlflow.exceptions import MlflowException

    from aisr.cli.display import complain, note
    from aisr.tracking import log as tracking_log
    from aisr.tracking import runs, traces
    from aisr.tracking.store import NoStore, reason

    try:
        run = tracking_log.track_evaluation(store, done, folder)
        named = runs.said(store, run)
        if shown := traces.logged(store, run, done.loaded.task, told, traced, seed=0):
            note(shown)
    except (MlflowException, NoStore, OSError) as error:
        complain(f"not logged to MLflow: {reason(error)}; the same command logs it, with the answers from the cache")
        return False
    note(f"logged {named}")
    return True


def export(
    task: TaskName,
    data: Jsonl,
    out: Annotated[Path, typer.Option(help="Where to write the conversations.", show_default=False)],
    program: Annotated[
        str | None, typer.Option(help="A compiled program whose instruction to use. Default: the uncompiled one.")
    ] = None,
    unit: Unit = None,
    context_tokens: ContextTokens = None,
    schema: Schema = True,
    image_root: ImageRoot = None,
    embedding_api_base: EmbeddingApiBase = None,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Write labelled records as chat-format training examples, for a provider that tunes models."""
    if out.exists():
        raise UserError(f"{out} is there already; choose another --out or remove it")
    prepare(artifacts, program)
    from aisr.cli import display
    from aisr.lm.adapters import adapter_for
    from aisr.lm.embeddings import Embeddings
    from aisr.optimize.datasets.chat_export import chats, write
    from aisr.optimize.datasets.examples import examples, labelled
    from aisr.predict.prepare import attach_embeddings, attach_gallery, find_gallery

    chosen = chosen_task(task)
    given = {key: value for key, value in (("unit", unit), ("context_tokens", context_tokens)) if value}
    if program and given:
        raise UserError(f"--program brings its own options; leave out --{next(iter(given)).replace('_', '-')}")
    student = load(chosen, program, artifacts).program if program else chosen.build(given)
    attach_embeddings(
        attach_gallery(student, find_gallery(image_root, data, artifacts)),
        Embeddings(address=embedding_address(embedding_api_base, None)),
    )
    display.note(f"exporting {data} as conversations of {program or 'the uncompiled program'} into {out}")
    count = write(out, chats(student, examples(labelled(chosen, student, data)), adapter_for(schema)))
    display.note(f"wrote {out}: {count} conversations; tune a model on them and give its name to --lm")
