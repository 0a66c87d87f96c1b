"""The commands that weigh compiled programs against each other: compare, promote."""

from typing import Annotated

import typer

from aisr.cli.options import (
    ARTIFACTS,
    RECORDS_FAILED,
    Jsonl,
    Limit,
    LMSpec,
    Reach,
    Root,
    chosen_task,
)
from aisr.cli.session import compiled_of, load_two, opened_lm, prepare, warn_of_another_lm
from aisr.cli.task_options import EmbeddingApiBase, ImageRoot, TaskName
from aisr.programs.errors import UserError


def compare(
    *,
    task: TaskName,
    first: Annotated[
        str,
        typer.Argument(
            help="artifacts/TASK/NAME, models:/aisr-TASK@champion, or `uncompiled`: the other as it was before."
        ),
    ],
    second: Annotated[str, typer.Argument(help="The program to compare with it.")],
    data: Jsonl,
    lm: LMSpec = "embedded",
    reach: Reach,
    embedding_api_base: EmbeddingApiBase = None,
    limit: Limit = None,
    image_root: ImageRoot = None,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Score two compiled programs on the same labelled records, with the paired difference and its 95 % interval."""
    names = (first, second)
    prepare(artifacts, *compiled_of(names))
    from aisr.cli import display
    from aisr.metrics.intervals import in_words
    from aisr.optimize.datasets.examples import examples, labelled
    from aisr.predict.evaluate import measure
    from aisr.predict.prepare import attach_embeddings, attach_gallery, check_suits, find_gallery

    chosen = chosen_task(task)
    programs = list(zip(names, load_two(chosen, names, artifacts), strict=True))
    opened = opened_lm(lm, reach, embedding_api_base=embedding_api_base)
    gallery = find_gallery(image_root, data, artifacts)
    found = []
    for name, loaded in programs:
        warn_of_another_lm(loaded.program, opened)
        check_suits(loaded.program, opened)
        program = attach_embeddings(attach_gallery(loaded.program, gallery), opened.embeddings)
        records = examples(labelled(chosen, program, data, limit))
        display.note(f"evaluating {name} ({loaded.digest}) with {lm} on {len(records)} records of {data}")
        with display.live(opened.ledger) as shown:
            found.append(measure(chosen, program, records, opened, shown.judged))
        display.note(f"  {found[-1].interval}")
        display.say_failures(found[-1].failures)
    gain = found[1].gain(found[0])
    told = in_words(gain, len(found[0].scores), first)
    display.note(f"difference, record by record: {gain}; {second}: {told}")
    display.say_pictures(gallery.problems if gallery else {})
    display.say_spend(opened.ledger.spend)
    raise typer.Exit(RECORDS_FAILED if any(one.failures for one in found) else 0)


def promote(
    version: Annotated[str, typer.Argument(help="models:/aisr-TASK/VERSION, as `aisr compile` names it.")],
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Even if it is not better than the champion on the same test split.")
    ] = False,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Make a registered version the champion. Refuses one that is no better on the same test split."""
    from aisr.tracking.store import MODEL_SCHEME

    name, slash, number = version.removeprefix(MODEL_SCHEME).partition("/")
    if not version.startswith(MODEL_SCHEME) or not slash or not number.isdigit():
        raise UserError(f"{version}: expected models:/aisr-TASK/VERSION, as `aisr compile` prints it")
    prepare(artifacts, version)
    from aisr.cli.display import note
    from aisr.tracking import registry
    from aisr.tracking.store import open_store

    try:
        before = registry.promote(open_store(artifacts), name, number, anyway)
    except registry.NotPromoted as error:
        raise UserError(f"{error}. --anyway promotes it all the same") from error
    same = before is not None and before.version == number
    said = ", as it was" if same else f"; it was {before}" if before else ""
    note(f"models:/{name}@{registry.ALIAS} is version {number}" + said)
