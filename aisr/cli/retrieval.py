"""The command that scores retrieval."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from aisr.cli.options import ARTIFACTS, Root, chosen_task, there
from aisr.cli.session import embedding_address, load, prepare
from aisr.cli.task_options import SEARCHING, EmbeddingApiBase, SearchingTask

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
    from aisr.base import text
    from aisr.cli import display
    from aisr.lm.embeddings import Embeddings
    from aisr.predict.prepare import attach_embeddings
    from aisr.predict.retrieval_eval import DEPTHS, claims, measure

    chosen = chosen_task(task)
    records = claims(chosen, file, min_paragraphs, limit)
    embeddings = Embeddings(address=embedding_address(embedding_api_base, None))
    rankers: dict[str, Any] = {
        name: _of_program(attach_embeddings(chosen.build({"retriever": name}), embeddings))
        for name in (part.strip() for part in retrievers.split(","))
    }
    if program:
        rankers[program] = _of_program(attach_embeddings(load(chosen, program, artifacts).program, embeddings))
    if fit is not None:
        rankers[FITTED] = _fitted(chosen, fit, file, records)
    display.note(f"ranking the paragraphs of {file} for {len(records)} claims with evidence")
    found = [measure(name, ranker, records, context_tokens) for name, ranker in rankers.items()]
    display.table(
        "gold evidence among the first k, and within the token budget",
        ["retriever", *(f"Hit@{depth}" for depth in DEPTHS), "MRR", "recall", "of tokens", "ms a claim"],
        [
            [
                row.name,
                *(text.percent(hit) for hit in row.hits),
                f"{row.mrr:.3f}",
                text.percent(row.recall),
                f"{text.percent(row.shown)} %",
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
    from aisr.optimize.evidence.rank_fit import fit_ranker, looked
    from aisr.predict.retrieval_eval import by
    from aisr.programs.lines import read
    from aisr.programs.retrieval.retrievers import bm25, built_in

    given = looked(task, list(read(train, task.record, task.name)))
    made = fit_ranker(given, bm25, built_in, seed=0)
    display.note(f"fitted on {len(given.claims)} claims with evidence, in {len(set(given.group))} groups")
    for name, weight in made.ranker.by_weight()[:WEIGHTS]:
        display.note(f"  {weight:+.2f}  {name}")
    if train.resolve() == file.resolve():
        unseen = {paper: by(ranker.matcher()) for paper, ranker in made.unseen.items()}
        return lambda one: unseen[tuple(one.paragraphs.values())](one)
    papers = {tuple(one.paragraphs.values()) for one in given.claims}
    known = sum(tuple(one.paragraphs.values()) in papers for one in records)
    if known:
        display.note(f"{known} of {len(records)} claims cite papers that it was fitted on: their scores are optimistic")
    return by(made.ranker.matcher())


def _say_gain(found: Sequence[Any], records: Sequence[Any]) -> None:
    """What the fitted ranker gains over each other one."""
    from aisr.cli import display
    from aisr.predict.retrieval_eval import gains

    fitted = next(row for row in found if row.name == FITTED)
    others = {row.name: gains(fitted, row, records) for row in found if row is not fitted}
    display.table(
        "gain of the fitted ranker, in points, with 95 % intervals over papers",
        ["over", *next(iter(others.values()))],
        [[name, *map(str, gained.values())] for name, gained in others.items()],
    )


def _of_program(program: Any) -> Any:
    return lambda given: program.ranked(given.claim, given.paragraphs)
