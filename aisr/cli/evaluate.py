"""The commands that score programs and retrieval: evaluate, compare, promote, retrieval."""

import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    Traces,
    chosen_task,
    there,
)
from aisr.cli.session import (
    command_line,
    compiled_of,
    lm_config,
    load,
    load_two,
    opened_lm,
    prepare,
    warn_of_another_lm,
)
from aisr.cli.task_options import SEARCHING, EmbeddingApiBase, ImageRoot, SearchingTask, TaskName
from aisr.programs.errors import UserError

if TYPE_CHECKING:
    from aisr.predict.evaluate import Evaluation
    from aisr.predict.replay import ReplayedRecord
    from aisr.programs.images import Gallery


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
    from aisr.optimize.examples import read_labeled
    from aisr.predict.evaluate import Evaluation, score_outcomes
    from aisr.predict.prepare import attach_embeddings, attach_gallery, check_compatible, find_gallery
    from aisr.predict.replay import judge_with_calls
    from aisr.tracking import store

    chosen = chosen_task(task)
    loaded = load(chosen, program, artifacts)
    opened = opened_lm(lm_config(lm, reach, embedding_api_base=embedding_api_base))
    check_compatible(loaded.program, opened)
    gallery = find_gallery(image_root, data, artifacts)
    attach_embeddings(attach_gallery(loaded.program, gallery), opened.embeddings)
    rows = read_labeled(chosen, loaded.program, data, limit)
    records = [row.example for row in rows]
    warn_of_another_lm(loaded.program, opened)
    if track:
        store.open_store(artifacts)  # a store out of reach must show itself before anything is spent
    began = time.monotonic()
    display.note(f"evaluating {program} ({loaded.digest}) with {lm} on {len(records)} records of {data}")
    with display.live(opened.ledger) as shown:
        told = judge_with_calls(chosen, loaded.program, [row[:2] for row in rows], opened, shown.judged)
        seconds = time.monotonic() - began
        found = score_outcomes(chosen, records, [one.outcome for one in told])
    display.score_table(chosen.parts, found.report())
    display.say_confidence(found.confidences)
    display.say_failures(found.failures)
    display.say_pictures(gallery.problems if gallery else {})
    display.say_spend(opened.ledger.spend, len(records))
    done = Evaluation(loaded, program, data, opened, found, seconds, command_line())
    logged = _leave(done, told, output, artifacts if track else None, gallery, traces)
    raise typer.Exit(RECORDS_FAILED if found.failures or not logged else 0)


def _leave(
    done: "Evaluation",
    told: "list[ReplayedRecord]",
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


def _log(done: "Evaluation", folder: Path, store: Path, told: "list[ReplayedRecord]", traced: int) -> bool:
    from mlflow.exceptions import MlflowException

    from aisr.cli.display import complain, note
    from aisr.tracking import runs, traces
    from aisr.tracking.store import NoStore, reason

    try:
        run = runs.log_evaluation(store, done, folder)
        named = runs.describe_run(store, run)
        if shown := traces.log_traces(store, run, done.loaded.task, told, traced, seed=0):
            note(shown)
    except (MlflowException, NoStore, OSError) as error:
        complain(f"not logged to MLflow: {reason(error)}; the same command logs it, with the answers from the cache")
        return False
    note(f"logged {named}")
    return True


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
    from aisr.optimize.examples import examples, read_labeled
    from aisr.predict.evaluate import evaluate as score_program
    from aisr.predict.prepare import attach_embeddings, attach_gallery, check_compatible, find_gallery

    chosen = chosen_task(task)
    programs = list(zip(names, load_two(chosen, names, artifacts), strict=True))
    opened = opened_lm(lm_config(lm, reach, embedding_api_base=embedding_api_base))
    gallery = find_gallery(image_root, data, artifacts)
    found = []
    for name, loaded in programs:
        warn_of_another_lm(loaded.program, opened)
        check_compatible(loaded.program, opened)
        program = attach_embeddings(attach_gallery(loaded.program, gallery), opened.embeddings)
        records = examples(read_labeled(chosen, program, data, limit))
        display.note(f"evaluating {name} ({loaded.digest}) with {lm} on {len(records)} records of {data}")
        with display.live(opened.ledger) as shown:
            found.append(score_program(chosen, program, records, opened, shown.judged))
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


FITTED = "fitted"
WEIGHTS = 5  # of a fitted ranker that are shown, the heaviest


def retrieval(
    file: Annotated[Path, typer.Argument(help="JSONL file of labelled records.", callback=there)],
    task: SearchingTask = SEARCHING,
    retrievers: Annotated[
        str, typer.Option(help="Which to score, joined by commas; those that embed may take a model, hybrid:MODEL.")
    ] = "bm25,dense,hybrid",
    program: Annotated[
        str | None, typer.Option(help="A compiled program whose own retrieval to score as well.")
    ] = None,
    fit: Annotated[
        Path | None,
        typer.Option(
            help="Fit an evidence ranker on this labelled file, and score it; on FILE itself cross-validated.",
            callback=there,
        ),
    ] = None,
    context_tokens: Annotated[int, typer.Option(min=1, help="Tokens of the paper to show.")] = 3000,
    min_paragraphs: Annotated[int, typer.Option(min=1, help="Leave out shorter papers.")] = 1,
    limit: Annotated[int | None, typer.Option(min=1, help="Take only the first claims with evidence.")] = None,
    embedding_api_base: EmbeddingApiBase = None,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Score how well paragraphs are ranked for claims, against the gold evidence of labelled records."""
    prepare(artifacts, program)
    from aisr.base.files import percent
    from aisr.cli import display
    from aisr.lm.config import LMConfig
    from aisr.lm.embeddings import Embeddings
    from aisr.predict.evaluate import DEPTHS, claims_with_evidence, score_ranker
    from aisr.predict.prepare import attach_embeddings

    chosen = chosen_task(task)
    records = claims_with_evidence(chosen, file, min_paragraphs, limit)
    embeddings = Embeddings(LMConfig(embedding_api_base=embedding_api_base))
    rankers: dict[str, Any] = {
        name: _of_program(attach_embeddings(chosen.build({"retriever": name}), embeddings))
        for name in (part.strip() for part in retrievers.split(","))
    }
    if program:
        rankers[program] = _of_program(attach_embeddings(load(chosen, program, artifacts).program, embeddings))
    if fit is not None:
        rankers[FITTED] = _fitted(chosen, fit, file, records)
    display.note(f"ranking the paragraphs of {file} for {len(records)} claims with evidence")
    found = [score_ranker(name, ranker, records, context_tokens) for name, ranker in rankers.items()]
    display.table(
        "gold evidence among the first k, and within the token budget",
        ["retriever", *(f"Hit@{depth}" for depth in DEPTHS), "MRR", "recall", "of tokens", "ms a claim"],
        [
            [
                row.name,
                *(percent(hit) for hit in row.hits),
                f"{row.mrr:.3f}",
                percent(row.recall),
                f"{percent(row.tokens)} %",
                f"{row.milliseconds:.1f}",
            ]
            for row in found
        ],
    )
    if fit is not None:
        _say_gain(found, records)
    if embeddings.ledger.spend.requested:
        display.say_spend(embeddings.ledger.spend, len(records))


def _fitted(task: Any, train: Path, file: Path, records: Sequence[Any]) -> Any:
    """The evidence ranker of a file; on that file itself each claim is ranked by one that saw neither its paper nor a
    claim like it."""
    from aisr.cli import display
    from aisr.optimize.ranker_fit import fit_ranker, gold_claims
    from aisr.predict.evaluate import matcher_ranker
    from aisr.programs.records import read
    from aisr.programs.retrieval import bm25, built_in

    given = gold_claims(task, list(read(train, task.record, task.name)))
    made = fit_ranker(given, bm25, built_in, seed=0)
    display.note(f"fitted on {len(given.claims)} claims with evidence, in {len(set(given.group))} groups")
    for name, weight in made.ranker.by_weight()[:WEIGHTS]:
        display.note(f"  {weight:+.2f}  {name}")
    if train.resolve() == file.resolve():
        unseen = {paper: matcher_ranker(ranker.matcher()) for paper, ranker in made.out_of_fold.items()}
        return lambda one: unseen[tuple(one.paragraphs.values())](one)
    papers = {tuple(one.paragraphs.values()) for one in given.claims}
    known = sum(tuple(one.paragraphs.values()) in papers for one in records)
    if known:
        display.note(f"{known} of {len(records)} claims cite papers that it was fitted on: their scores are optimistic")
    return matcher_ranker(made.ranker.matcher())


def _say_gain(found: Sequence[Any], records: Sequence[Any]) -> None:
    """What the fitted ranker gains over each other one."""
    from aisr.cli import display
    from aisr.predict.evaluate import retrieval_gains

    fitted = next(row for row in found if row.name == FITTED)
    others = {row.name: retrieval_gains(fitted, row, records) for row in found if row is not fitted}
    display.table(
        "gain of the fitted ranker, in points, with 95 % intervals over papers",
        ["over", *next(iter(others.values()))],
        [[name, *map(str, gained.values())] for name, gained in others.items()],
    )


def _of_program(program: Any) -> Any:
    return lambda given: program.rank_paragraphs(given.claim, given.paragraphs)
