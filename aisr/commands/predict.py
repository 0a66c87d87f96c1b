"""The commands that predict files of records: predict, and merge for the shards of one."""

from collections.abc import Set
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aisr.commands.cascade import Below, SecondApiBase, SecondLM, SecondPrice, SecondProgram
from aisr.commands.given import there
from aisr.commands.lm_options import Reach, Spending
from aisr.commands.options import (
    ARTIFACTS,
    RECORDS_FAILED,
    Batch,
    BatchAnswers,
    EstimateByDev,
    Jsonl,
    LMSpec,
    ProgramName,
    Root,
    chosen_task,
)
from aisr.commands.session import embedding_address, load, opened_lm, prepare, warn_of_another_lm
from aisr.commands.task_options import EmbeddingApiBase, ImageRoot, TaskName
from aisr.programs.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aisr.programs.records.base import Record


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
    spending: Spending,
    estimate: EstimateByDev = False,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Predict a file of records. Exits 1 where records failed or a limit was reached; the same command tries those
    again."""
    prepare(artifacts, program, second_program)
    from aisr.commands import cascade as second_option
    from aisr.commands import display
    from aisr.inference import batch_api as batching
    from aisr.inference.cascade import FIRST, SECOND, Stage, cascade
    from aisr.inference.embeddings import attach_embeddings
    from aisr.inference.images import attach_gallery, digest_shown, find_gallery
    from aisr.inference.predict import here
    from aisr.inference.predict import predict as run
    from aisr.inference.shards import Shard
    from aisr.inference.suits import check_suits
    from aisr.lm.budget import Account
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
        "timeout": timeout,
        "embedding_api_base": embedding_api_base,
        **spending.prices(),
    }
    ledger = spending.ledger()
    accounts = {FIRST: Account(ledger), SECOND: Account(ledger)} if second_asked else {}
    if batch or answers:
        address = embedding_address(embedding_api_base, reach.api_base)
        embeddings = Embeddings(ledger, address, spending.embedding_price, timeout=timeout)
        opened = batching.opened(batch, answers, lm, reach.api_base, reach.schema, reach.logprobs, embeddings)
    else:
        opened = opened_lm(**settings, reach=reach, ledger=accounts.get(FIRST, ledger), keyed=not estimate)
    warn_of_another_lm(loaded.program, opened)
    second = second_asked and second_option.opened(
        second_asked, chosen, loaded, opened, accounts[SECOND], reach, timeout, artifacts, not estimate
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
        check_suits(stage.program, stage.lm)
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

        settings |= asdict(reach)
        judging = on_ray(chosen, loaded.program, opened, settings, workers, ray_address, gallery, artifacts)
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
    shards: Annotated[
        list[Path], typer.Argument(help="The predictions of all shards.", show_default=False, callback=there)
    ],
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
