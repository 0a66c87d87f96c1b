"""The commands that use programs: evaluate, predict, merge, export; and the UI on what compiles logged."""

import tempfile
import time
from collections.abc import Set
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aisr.commands.cascade import Below, SecondApiBase, SecondLM, SecondPrice, SecondProgram
from aisr.commands.options import (
    ARTIFACTS,
    RECORDS_FAILED,
    TRACES,
    ApiBase,
    Batch,
    BatchAnswers,
    EmbeddingPrice,
    Jsonl,
    LMSpec,
    Logprobs,
    MaxCalls,
    MaxMinutes,
    MaxUsd,
    PriceOption,
    ProgramName,
    Root,
    Schema,
    Threads,
    Traces,
    chosen_task,
)
from aisr.commands.session import command_line, embedding_address, load, opened_lm, prepare, warn_of_another_lm
from aisr.commands.task_options import ContextTokens, EmbeddingApiBase, ImageRoot, TaskName, Unit
from aisr.programs.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aisr.inference.replay import Replayed
    from aisr.optimize.experiment.evaluation import Evaluation
    from aisr.programs.records.base import Record
    from aisr.programs.vision.images import Gallery


def evaluate(
    task: TaskName,
    program: ProgramName,
    data: Jsonl,
    lm: LMSpec = "embedded",
    api_base: ApiBase = None,
    schema: Schema = True,
    logprobs: Logprobs = True,
    threads: Threads = None,
    embedding_api_base: EmbeddingApiBase = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Take only the first records.")] = None,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="Score the parts of the decision layer, and the LM without it.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="Write the scores here as JSON; records and figures beside it.")
    ] = None,
    image_root: ImageRoot = None,
    track: Annotated[bool, typer.Option(help="Log the evaluation to MLflow.")] = True,
    traces: Traces = TRACES,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Score a compiled program on labelled records, with a 95 % interval."""
    prepare(artifacts)
    from aisr.commands import display
    from aisr.inference.embeddings import attach_embeddings
    from aisr.inference.evaluate import result
    from aisr.inference.images import attach_gallery, check_sees, find_gallery
    from aisr.inference.replay import judge_aloud
    from aisr.optimize.datasets.examples import labelled
    from aisr.optimize.decision.ablation import ablate as take_apart
    from aisr.optimize.experiment.evaluation import Evaluation
    from aisr.tracking import store

    chosen = chosen_task(task)
    loaded = load(chosen, program, artifacts)
    opened = opened_lm(lm, api_base, schema, logprobs, threads, embedding_api_base=embedding_api_base)
    check_sees(loaded.program, opened)
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
        apart = take_apart(chosen, loaded.program, records, opened) if ablate else None
    display.score_table(chosen.parts, found.report())
    display.say_confidence(found.held)
    if apart:
        display.say_ablation(chosen.parts, apart)
    display.say_failures(found.failures)
    display.say_pictures(gallery.problems if gallery else {})
    display.say_spend(opened.ledger.spend, len(records))
    done = Evaluation(loaded, program, data, opened, found, apart, seconds, command_line())
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
    from aisr.commands.display import note
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

    from aisr.commands.display import complain, note
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


def predict(
    task: TaskName,
    program: ProgramName,
    data: Jsonl,
    out: Annotated[
        Path, typer.Option(help="Predictions file; a run that was stopped goes on in it.", show_default=False)
    ],
    lm: LMSpec = "embedded",
    api_base: ApiBase = None,
    schema: Schema = True,
    logprobs: Logprobs = True,
    threads: Threads = None,
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
    shard: Annotated[
        str, typer.Option(help="I/N: take only share I of N of the records; `aisr merge` joins the shards.")
    ] = "1/1",
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Write beside each answer how sure the program is of it.")
    ] = False,
    engine: Annotated[
        str, typer.Option(help="`threads` of this process, or `ray`: processes of a cluster.")
    ] = "threads",
    workers: Annotated[int, typer.Option(min=1, help="With --engine ray: how many processes share the threads.")] = 2,
    ray_address: Annotated[
        str | None, typer.Option(help="With --engine ray: the cluster, or `auto`. Default: one of this machine alone.")
    ] = None,
    second_lm: SecondLM = None,
    below: Below = None,
    second_program: SecondProgram = None,
    second_api_base: SecondApiBase = None,
    second_price: SecondPrice = None,
    max_usd: MaxUsd = None,
    max_calls: MaxCalls = None,
    max_minutes: MaxMinutes = None,
    price: PriceOption = None,
    embedding_price: EmbeddingPrice = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Print calls, tokens and price, told from the dev records; do nothing.")
    ] = False,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Predict a file of records. Exits 1 where records failed or a limit was reached; the same command tries those
    again."""
    prepare(artifacts)
    from aisr.commands import cascade as second_option
    from aisr.commands import display
    from aisr.inference import batch_api as batching
    from aisr.inference.cascade import FIRST, SECOND, Stage, cascade
    from aisr.inference.embeddings import attach_embeddings
    from aisr.inference.images import attach_gallery, check_sees, digest_shown, find_gallery
    from aisr.inference.predict import here
    from aisr.inference.predict import predict as run
    from aisr.inference.shards import Shard
    from aisr.lm.budget import Account, Ledger, Limits
    from aisr.lm.embeddings import Embeddings

    if engine not in ("threads", "ray"):
        raise UserError(f"--engine {engine!r}; one of: threads, ray")
    if batch and engine == "ray":
        raise UserError("--batch works on files, and --engine ray would ask the LM itself; leave one of them out")
    second_asked = second_option.asked(second_lm, below, second_program, second_api_base, second_price)
    if second_asked and (batch or answers or engine == "ray"):
        raise UserError("--second-lm asks as it goes; leave out --batch, --answers and --engine ray")
    chosen, share = chosen_task(task), Shard.parse(shard)
    if batch == batching.EXPORT and share.of > 1:
        raise UserError("--batch export writes the requests of all records; leave out --shard")
    loaded = load(chosen, program, artifacts)
    settings: dict[str, Any] = {
        "lm": lm,
        "api_base": api_base,
        "schema": schema,
        "logprobs": logprobs,
        "timeout": timeout,
        "embedding_api_base": embedding_api_base,
        "embedding_price": embedding_price,
    }
    ledger = Ledger(Limits(max_usd, max_calls, max_minutes))
    accounts = {FIRST: Account(ledger), SECOND: Account(ledger)} if second_asked else {}
    if batch or answers:
        address = embedding_address(embedding_api_base, api_base)
        embeddings = Embeddings(ledger, address, embedding_price, timeout=timeout)
        opened = batching.opened(batch, answers, lm, api_base, schema, logprobs, embeddings)
    else:
        opened = opened_lm(
            **settings, threads=threads, ledger=accounts.get(FIRST, ledger), price=price, keyed=not estimate
        )
    warn_of_another_lm(loaded.program, opened)
    second = second_asked and second_option.opened(
        second_asked,
        chosen,
        loaded,
        opened,
        accounts[SECOND],
        api_base,
        schema,
        logprobs,
        threads,
        timeout,
        artifacts,
        not estimate,
    )
    if estimate:
        from aisr.programs.reading.lines import read

        def wanted() -> "Iterator[Record]":
            everything = enumerate(read(data, chosen.record, chosen.name))
            return (record for place, record in everything if share.has(place))

        count = sum(1 for _ in wanted())
        told = second_option.foretold(program, loaded, wanted(), count, opened, second, second_program, artifacts)
        display.say_foretold(told, count)
        return
    stages = [Stage(loaded.program, opened), *([second.stage] if second else [])]
    gallery = find_gallery(image_root, data, artifacts)
    for stage in stages:
        check_sees(stage.program, stage.lm)
        attach_embeddings(attach_gallery(stage.program, gallery), opened.embeddings)
    if batch == batching.EXPORT:
        made = batching.export(chosen, loaded.program, data, out, opened)
        display.say_batch(made, out)
        if ledger.spend.asked:  # the papers' embeddings, without which there are no prompts
            display.say_spend(opened.ledger.spend)
        raise typer.Exit(RECORDS_FAILED if made.failures else 0)
    display.note(f"predicting {data} with {program} ({loaded.digest}) and {lm} into {out}")
    judging = cascade(chosen, stages[0], second.stage, second.below) if second else here(chosen, loaded.program, opened)
    if engine == "ray":
        from aisr.inference.ray_engine import on_ray

        judging = on_ray(
            chosen, loaded.program, opened, settings | {"price": price}, workers, ray_address, gallery, artifacts
        )
    identity = {"task": chosen.name, "program": loaded.digest, "lm": opened.identity}
    identity |= second.identity if second else {}
    ledger = ledger if second else opened.ledger

    def pictures(paths: Set[str]) -> dict[str, str]:
        return {key: said for stage in stages for key, said in digest_shown(stage.program, gallery, paths).items()}

    with display.live(ledger) as shown:
        summary = run(chosen, judging, data, out, identity, ledger, share, shown.judged, confidence, pictures, accounts)
    kept = f", {summary.kept} of them from an earlier run" if summary.kept else ""
    display.note(f"wrote {out}: {summary.kept + summary.judged} records{kept}")
    if summary.stopped:
        display.note(f"stopped with {summary.left} records left: {summary.stopped}; a higher limit goes on from here")
    display.say_failures(summary.reasons, summary.failed)
    display.say_pictures(gallery.problems if gallery else {})
    if second:
        display.say_asked(summary.by_lm[SECOND], summary.judged, second.below)
    for name, account in accounts.items():
        display.say_spend(account.spend, summary.by_lm[SECOND] if name == SECOND else summary.judged, f"{name} LM: ")
    display.say_spend(ledger.spend, 0 if second else summary.judged, "together: " if second else "")
    raise typer.Exit(RECORDS_FAILED if summary.failed or summary.stopped else 0)


def merge(
    out: Annotated[Path, typer.Argument(help="Where to write the predictions of all records.", show_default=False)],
    shards: Annotated[list[Path], typer.Argument(help="The predictions of all shards.", show_default=False)],
    data: Jsonl,
) -> None:
    """Join the shards of a prediction. Refuses shards of different runs, and missing, repeated or unknown records."""
    from aisr.commands import display
    from aisr.inference.merge import merge as join

    found = join(out, shards, data)
    display.note(f"wrote {out}: {found.records} records of {len(shards)} shards")
    if found.failed:
        display.note(f"{found.failed} records failed; `aisr predict --out {out}` tries them again")
    raise typer.Exit(RECORDS_FAILED if found.failed else 0)


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
    prepare(artifacts)
    from aisr.commands import display
    from aisr.inference.embeddings import attach_embeddings
    from aisr.inference.images import attach_gallery, find_gallery
    from aisr.lm.adapters import adapter_for
    from aisr.lm.embeddings import Embeddings
    from aisr.optimize.datasets.chat_export import chats, write
    from aisr.optimize.datasets.examples import examples, labelled

    chosen = chosen_task(task)
    given = {key: value for key, value in (("unit", unit), ("context_tokens", context_tokens)) if value}
    if program and given:
        raise UserError(f"--program brings its own options; leave out --{next(iter(given)).replace('_', '-')}")
    student = load(chosen, program, artifacts).program if program else chosen.build(given)
    attach_embeddings(
        attach_gallery(student, find_gallery(image_root, data, artifacts)),
        Embeddings(address=embedding_address(embedding_api_base, None)),
    )
    if out.exists():
        raise UserError(f"{out} is there already; choose another --out or remove it")
    display.note(f"exporting {data} as conversations of {program or 'the uncompiled program'} into {out}")
    count = write(out, chats(student, examples(labelled(chosen, student, data)), adapter_for(schema)))
    display.note(f"wrote {out}: {count} conversations; tune a model on them and give its name to --lm")


def ui(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on the loopback address.")] = 5000,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Open the MLflow UI on the store of the compiles, on this machine only."""
    from aisr.commands.mlflow_ui import serve

    raise typer.Exit(serve(artifacts, port))
