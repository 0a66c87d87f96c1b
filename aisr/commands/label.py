"""The command that asks a person for labels, of the records first that a program is least sure of."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aisr.commands.given import known_task, there
from aisr.commands.lm_options import Reach, Spending
from aisr.commands.options import (
    ARTIFACTS,
    RECORDS_FAILED,
    EstimateByDev,
    LMSpec,
    Root,
    chosen_task,
)
from aisr.commands.session import load, load_any, opened_lm, prepare, warn_of_another_lm
from aisr.commands.task_options import EmbeddingApiBase, ImageRoot
from aisr.programs.errors import UserError

if TYPE_CHECKING:
    from aisr.lm.client import OpenLM
    from aisr.programs.judges.contract import Program
    from aisr.programs.records.base import Record
    from aisr.programs.vision.images import Gallery
    from aisr.report.to_label import By
    from aisr.tasks.task import Task

Answered = Mapping[str, tuple[Any, float | None]]  # by record id: the answer, None for a failure; how sure it is


def label(
    *,
    data: Annotated[
        Path, typer.Argument(help="JSONL file of records; those with labels are left out.", callback=there)
    ],
    out: Annotated[Path, typer.Option(help="Folder to write label.html into.", show_default=False)],
    program: Annotated[
        str | None, typer.Option(help="artifacts/TASK/NAME, or models:/aisr-TASK@champion: it judges the records.")
    ] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Instead: what `aisr predict --confidence` wrote of them.", callback=there)
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="Of which task they are. Default: the program's.", callback=known_task)
    ] = None,
    first: Annotated[int, typer.Option(min=1, max=1000, help="How many records to ask about.")] = 20,
    lm: LMSpec = "embedded",
    reach: Reach,
    embedding_api_base: EmbeddingApiBase = None,
    image_root: ImageRoot = None,
    spending: Spending,
    estimate: EstimateByDev = False,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Write a page for a person to label records on: those first that a program is least sure of, spread over labels
    and papers. What the page downloads, `aisr corrections` takes."""
    prepare(artifacts, program)
    from aisr.commands.display import note
    from aisr.inference.answered import answers
    from aisr.inference.images import attach_gallery, find_gallery
    from aisr.report.to_label import By, correctable

    if (program is None) == (predictions is None):
        raise UserError("give --program P, which judges the records, or --predictions FILE of `aisr predict`")
    if program is None and task is None:
        raise UserError("--predictions does not say whose they are: give --task T")
    named = chosen_task(task) if task else None
    loaded = None if program is None else load(named, program, artifacts) if named else load_any(program, artifacts)
    chosen = loaded.task if loaded else chosen_task(str(task))
    correctable(chosen)
    gallery = find_gallery(image_root, data, artifacts)
    judge = attach_gallery(loaded.program if loaded else chosen.build({}), gallery)
    by, stopped = By(None, None), None
    if loaded and program:
        ledger, prices = spending.ledger(), spending.prices()
        opened = opened_lm(lm, reach, ledger, **prices, embedding_api_base=embedding_api_base, keyed=not estimate)
        if estimate:
            from aisr.commands.display import say_foretold
            from aisr.report.foretold import embedding, foretell
            from aisr.tracking import registry

            count = sum(1 for _ in _unlabelled(chosen, data))
            records = _unlabelled(chosen, data)
            embedded = embedding(loaded.program, records, opened.embeddings)
            dev = registry.dev_records(program, artifacts)
            say_foretold(foretell(dev, count, opened.lm.price, embedded), count)
            return
        warn_of_another_lm(loaded.program, opened)
        by = By(loaded.digest, opened.spec)
        known, stopped = _judged(chosen, judge, data, opened)
    elif predictions:
        known = answers(chosen, predictions)
    _write(chosen, judge, data, known, out, first, by, gallery)
    note(f"what it downloads becomes labelled records by: aisr corrections FILE --task {chosen.name} --out DIR")
    raise typer.Exit(RECORDS_FAILED if stopped else 0)


def _unlabelled(task: "Task", data: Path) -> "Iterator[Record]":
    from aisr.programs.reading.lines import read

    return (record for record in read(data, task.record, task.name) if record.gold is None)


def _judged(task: "Task", program: "Program", data: Path, lm: "OpenLM") -> tuple[Answered, str | None]:
    """What a program says of each record, as far as the limits went, and which of them stopped it."""
    from dspy.utils.exceptions import LMBillingError

    from aisr.commands import display
    from aisr.inference.confidence import of_record
    from aisr.inference.embeddings import attach_embeddings
    from aisr.inference.predict import here
    from aisr.inference.suits import check_suits

    check_suits(program, lm)
    attach_embeddings(program, lm.embeddings)
    display.note(f"judging the records of {data} without labels, with {lm.spec}")
    known, failures, stopped = {}, {}, None
    with display.live(lm.ledger) as shown:
        try:
            for record, outcome in here(task, program, lm)(_unlabelled(task, data)):
                known[record.id] = outcome.answer, of_record(task, outcome)
                if outcome.failure:
                    failures[record.id] = outcome.failure
                shown.judged()
        except LMBillingError:
            if lm.ledger.stopped is None:  # then it is the provider who wants money
                raise
            stopped = lm.ledger.stopped
    if stopped:
        display.note(f"stopped: {stopped}; only what was judged by then is asked about")
    display.say_failures(failures)
    display.say_spend(lm.ledger.spend, len(known))
    return known, stopped


def _write(
    task: "Task", program: "Program", data: Path, known: Answered, out: Path, first: int, by: "By",
    gallery: "Gallery | None",
) -> None:  # fmt: skip
    """Order the records, and write the page of the first."""
    from aisr.commands.display import note
    from aisr.optimize.datasets.leakage import all_keys, common, groups
    from aisr.optimize.datasets.which_first import queued, which_first
    from aisr.report import to_label
    from aisr.report.page import no_picture
    from aisr.report.thumbnails import Thumbnails

    ids, shared, unsavable = [], [], 0
    for record in _unlabelled(task, data):
        if record.id in known and to_label.savable(task, record):
            answer, _ = known[record.id]
            if answer is not None and (why := task.problem(record, answer)):
                raise UserError(f"{record.id[:80]}: {why}; expected predictions of the records of {data}")
            ids.append(record.id)
            shared.append(common(task, record))
        elif record.id in known:
            unsavable += 1
    if unsavable:
        note(f"{unsavable} records are left out: an id, a claim or all of it is too long for a line of corrections")
    if not ids:
        raise UserError(f"{data}: no record without labels that was judged; nothing to label")
    how = to_label.correctable(task)
    rows = []
    for key, group in zip(ids, groups(all_keys(shared)), strict=True):
        answer, sure = known[key]
        rows.append(queued(task, [] if answer is None else how.said(answer), sure, group))
    if all(row.sure is None for row in rows):
        note("nothing says how sure the program is: the order is drawn, spread over labels and papers")
    place = {ids[k]: rank for rank, k in enumerate(which_first(rows)[:first])}
    shown = [record for record in _unlabelled(task, data) if record.id in place]
    asked = [
        to_label.Shown(record, program.prepare(record), *known[record.id])
        for record in sorted(shown, key=lambda one: place[one.id])
    ]
    pictures = Thumbnails(gallery.root) if gallery else no_picture
    page = to_label.write(out, task, f"{task.name}: records to label", by, asked, pictures)
    note(f"wrote {page}: {len(asked)} of {len(ids)} records without labels that were judged")
