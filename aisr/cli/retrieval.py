"""The command that scores how paragraphs are ranked: retrieval."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from aisr.cli import options as opt
from aisr.cli.session import find_task_for, prepare

FITTED = "fitted"
WEIGHTS = 5  # of a fitted ranker that are printed, the heaviest


def retrieval(
    file: Annotated[Path, typer.Argument(help="JSONL file of labelled records.", callback=opt.check_file)],
    task: Annotated[
        str, typer.Option(metavar="TASK", help="A task that retrieves paragraphs.", callback=opt.check_task)
    ] = "track2",
    retrievers: Annotated[
        str,
        typer.Option(metavar="NAME,…", help="Which to score."),
    ] = "bm25,dense,hybrid",
    program: Annotated[
        str | None, typer.Option(help="A compiled program whose own retrieval to score as well.")
    ] = None,
    fit: Annotated[
        Path | None,
        typer.Option(
            help="Fit an evidence ranker on this labelled file, and score it; on FILE itself cross-validated.",
            callback=opt.check_file,
        ),
    ] = None,
    context_tokens: Annotated[int, typer.Option(min=1, help="Tokens of the paper to show.")] = 3000,
    limit: Annotated[int | None, typer.Option(min=1, help="Take only the first claims with evidence.")] = None,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Score how well paragraphs are ranked for claims, by the gold evidence of labelled records; fit a ranker."""
    prepare(artifacts, program)
    from aisr.base.files import percent
    from aisr.cli import display
    from aisr.predict.retrieval import DEPTHS, claims_with_evidence, matcher_ranker, retrieval_gains, score_ranker
    from aisr.tracking import registry

    chosen = find_task_for(task, file, *([fit] if fit else []))
    records = claims_with_evidence(chosen, file, limit)
    rankers: dict[str, Any] = {
        name: matcher_ranker(chosen.build({"retriever": name}).match)
        for name in (part.strip() for part in retrievers.split(","))
    }
    if program:
        rankers[program] = matcher_ranker(registry.load(program, artifacts, chosen).program.match)
    if fit is not None:
        rankers[FITTED] = _fitted(chosen, fit, file, records)
    display.note(f"ranking the paragraphs of {file} for {len(records)} claims with evidence")
    scores = [score_ranker(name, ranker, records, context_tokens) for name, ranker in rankers.items()]
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
            for row in scores
        ],
    )
    if fit is not None:
        *others, fitted = scores
        gains = {row.name: retrieval_gains(fitted, row, records) for row in others}
        display.table(
            "gain of the fitted ranker, in points, with 95 % intervals over papers",
            ["over", *next(iter(gains.values()))],
            [[name, *map(str, gain.values())] for name, gain in gains.items()],
        )


def _fitted(task: Any, train: Path, file: Path, records: Sequence[Any]) -> Any:
    """The evidence ranker of a file; on that file itself each claim is ranked by one that saw neither its paper nor a
    claim like it."""
    from aisr.base.jsonl import read
    from aisr.cli import display
    from aisr.optimize.ranker_fit import fit_ranker, gold_claims
    from aisr.predict.retrieval import matcher_ranker
    from aisr.programs.retrieval import bm25

    claims = gold_claims(task, list(read(train, task.record, task.name)))
    made = fit_ranker(claims, bm25, seed=0)
    display.note(f"fitted on {len(claims.claims)} claims with evidence, in {len(set(claims.group))} groups")
    for name, weight in made.ranker.by_weight()[:WEIGHTS]:
        display.note(f"  {weight:+.2f}  {name}")
    if train.resolve() == file.resolve():
        unseen = {paper: matcher_ranker(ranker.matcher()) for paper, ranker in made.out_of_fold.items()}
        return lambda one: unseen[tuple(one.paragraphs.values())](one)
    papers = {tuple(one.paragraphs.values()) for one in claims.claims}
    known = sum(tuple(one.paragraphs.values()) in papers for one in records)
    if known:
        display.note(f"{known} of {len(records)} claims cite papers that it was fitted on: their scores are optimistic")
    return matcher_ranker(made.ranker.matcher())
