"""The command that scores retrieval."""

from pathlib import Path
from typing import Annotated, Any

import typer

from optimize.opening import load, opened_lm, prepare
from optimize.options import ARTIFACTS, ApiBase, LMSpec, Root, Schema

SEED = "rank_bm25"


def retrieval(
    file: Annotated[Path, typer.Argument(help="JSONL file of labelled records of track2.")],
    retrievers: Annotated[
        str, typer.Option(help="Which to score, joined by commas; those that embed may take a model, hybrid:MODEL.")
    ] = f"{SEED},bm25,hierarchical,neighbours,variants,dense,hybrid,round-robin",
    program: Annotated[
        str | None, typer.Option(help="A compiled program whose own retrieval to score as well, reranking and all.")
    ] = None,
    rerank: Annotated[
        int | None, typer.Option(min=2, help="Score bm25 with so many reranked by the LM as well, uncompiled.")
    ] = None,
    context_tokens: Annotated[int, typer.Option(min=0, help="Token budget. 0: 2/5 of the paper, 600 to 3,000.")] = 0,
    min_paragraphs: Annotated[int, typer.Option(min=1, help="Leave out shorter papers.")] = 1,
    limit: Annotated[int | None, typer.Option(min=1, help="Take only the first claims with evidence.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw the recall curves into this folder.")] = None,
    lm: LMSpec = "embedded",
    api_base: ApiBase = None,
    schema: Schema = True,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Score how well paragraphs are ranked for claims, against the gold evidence of labelled records (track2)."""
    prepare(artifacts)
    from optimize import display
    from optimize.retrieving import DEPTHS, by, measure, seed, with_evidence
    from optimize.tasks import TRACK2
    from programs.ranking import matcher
    from programs.records import CitationRecord, read

    records = [one for one in read(file, CitationRecord, TRACK2.name) if len(one.paragraphs) >= min_paragraphs]
    records = with_evidence(records)[:limit]
    rankers: dict[str, Any] = {
        name: seed if name == SEED else by(matcher(name)) for name in (part.strip() for part in retrievers.split(","))
    }
    if program or rerank:
        opened = opened_lm(lm, api_base, schema, True, 1)
        if rerank:
            rankers[f"bm25, {rerank} reranked"] = _reordered(TRACK2.build({"rerank": rerank}), opened)
        if program:
            rankers[program] = _reordered(load(TRACK2, program, artifacts).program, opened)
    display.note(f"ranking the paragraphs of {file} for {len(records)} claims with evidence")
    found = [measure(name, ranker, records, context_tokens) for name, ranker in rankers.items()]
    display.table(
        "gold evidence among the first k, and within the token budget",
        ["retriever", *(f"Hit@{depth}" for depth in DEPTHS), "MRR", "recall", "of tokens", "ms a claim"],
        [
            [
                row.name,
                *(display.percent(hit) for hit in row.hits),
                f"{row.mrr:.3f}",
                display.percent(row.recall),
                f"{display.percent(row.shown)} %",
                f"{row.milliseconds:.1f}",
            ]
            for row in found
        ],
    )
    if figure is not None:
        from optimize import figures

        curves: dict[str, list[int | None]] = {row.name: [*row.ranks] for row in found}
        figures.write(figure, {"recall": figures.recall_curve(curves, f"gold evidence of {len(records)} claims")})
        display.note(f"wrote {figure / 'recall.png'}")
    if program or rerank:
        display.say_spend(opened, len(records))


def _reordered(program: Any, lm: Any) -> Any:
    """The ranking of a program of track2: its retriever's, reordered where it reranks."""

    def ranker(record: Any) -> list[str]:
        from programs.retrieval import rank

        ranking = rank(record.claim_text, record.paragraphs, program.match)
        if not program.rerank:
            return ranking
        with lm.context():
            reordered: list[str] = program.reranker(record.claim_text, record.paragraphs, ranking)
        return reordered

    return ranker
