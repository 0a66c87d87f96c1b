"""Reading a paper, and what is checked in it without a language model: its arithmetic, and quotes of cited papers."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from aisr.text import pluralize
from aisr_papers.check.flags import (
    CELLS,
    LABELS,
    Flag,
    Mark,
    Piece,
    QuoteLabel,
    Reason,
    Review,
    hidden_flags,
    sort_flags,
)
from aisr_papers.cited_claims import find_misquotes
from aisr_papers.draft import Draft, Float, add_captions
from aisr_papers.open import read_cited_papers, read_draft
from aisr_papers.readers.figures import draw_figures
from aisr_papers.recompute.numbers import Fact, Outcome
from aisr_papers.recompute.recompute import PlacedFact, count_read, recompute

NO_LM = "none"  # what stands for a language model where none is asked
EXACTLY = (
    "What is called wrong there, or a false quote, was recomputed from the paper's own numbers or looked up in the "
    "cited file. Whether the sentence means those cells a program can mistake: look at them."
)


def read_paper(
    paper: Path, root: Path | None, papers: Path | None, figures: Path | None
) -> tuple[Draft, Mapping[str, Mapping[str, str]]]:
    """The draft, with captions and notes of tables behind its text, and the cited papers by key: paragraph id -> text.

    root: the folder that files may be put in from, if not the paper's; papers: the folder of the cited papers; figures:
    where figures are drawn to (None: they are not). What could not be read of the cited papers is among what the draft
    lacks. Raises UserError for a paper that cannot be read.
    """
    draft = read_draft(paper, root)
    if figures is not None:
        draft = draw_figures(draft, paper, figures)
    draft = add_captions(draft)
    if papers is None:
        return draft, {}
    cited = read_cited_papers(papers, draft.works)
    below = [one._replace(place=one.place._replace(file=f"{papers.name}/{one.place.file}")) for one in cited.unread]
    return replace(draft, unread=(*draft.unread, *below)), cited.papers


def without_lm(draft: Draft, cited: Mapping[str, Mapping[str, str]]) -> Review:
    """All flags on a draft without a language model: hidden text, wrong sums and quotes."""
    return add_exact_flags(Review(draft, NO_LM, tuple(hidden_flags(draft)), {}), cited)


def add_exact_flags(review: Review, cited: Mapping[str, Mapping[str, str]]) -> Review:
    """A review with the wrong sums and quotes among its flags. cited: key of a work -> paragraphs, id -> text."""
    facts = recompute(review.draft)
    wrong = [one for one in facts if one.fact.wrong]
    # Its captions become paragraphs behind the others, so that each flag has its sentence.
    draft = add_captions(review.draft) if any(one.float is not None for one in wrong) else review.draft
    flags = [*_of_arithmetic(draft, wrong), *_of_quotes(review.draft, cited)]
    exactly = (EXACTLY,) if flags else ()
    by_model = bool(review.reliability)  # what that is worth comes first
    return replace(
        review,
        draft=draft,
        flags=sort_flags([*flags, *review.flags]),
        labels={**review.labels, **LABELS},
        recomputed=tuple(facts),
        reliability=(*review.reliability, _reach(review.draft, facts), *(() if by_model else exactly)),
        details=(*(exactly if by_model else ()), *review.details),
    )


def _reach(draft: Draft, facts: Sequence[PlacedFact]) -> str:
    """How much of a draft was looked at without a language model: where nothing is wrong, that may be little."""
    sentences, tables = count_read(draft)
    outcomes = Counter(one.fact.outcome for one in facts)
    decided = outcomes[Outcome.HOLDS] + outcomes[Outcome.WRONG]
    result = f"{pluralize(decided, 'statement')} could be recomputed, {outcomes[Outcome.WRONG] or 'none'} of them wrong"
    open_ones = f", and {outcomes[Outcome.UNDECIDED]} could not be decided" if outcomes[Outcome.UNDECIDED] else ""
    read = f"{pluralize(sentences, 'sentence')} and {pluralize(tables, 'table')} were read"
    return (
        f"Without a language model {read}; {result if decided else 'nothing in them could be recomputed'}{open_ones}."
    )


def _of_arithmetic(draft: Draft, wrong: Sequence[PlacedFact]) -> Iterator[Flag]:
    places = {one.caption_of: number for number, one in enumerate(draft.paragraphs) if one.caption_of is not None}
    for one in wrong:
        marks = _marks(one.fact)
        yield Flag(
            "arithmetic",
            places[one.float] if one.float is not None else one.paragraph or 0,
            one.sentence,
            one.fact.statement,
            one.fact.label,
            evidence=tuple(_piece(draft.floats[key]) for key in one.fact.tables),
            marks=marks,
            reasons=(Reason(one.fact.computed, mark=next(iter(marks), None)),),
        )


def _of_quotes(draft: Draft, cited: Mapping[str, Mapping[str, str]]) -> Iterator[Flag]:
    for one in find_misquotes(draft, cited):
        label = QuoteLabel.NOT_FOUND if one.true is None else QuoteLabel.MISQUOTED
        evidence = (Piece(one.source, (cited[one.work][one.source],)),) if one.source else ()
        reason = Reason(f"no such words in {one.work}")
        if one.true is not None:
            reason = Reason(f"{one.work} has: “{one.true}”", one.true, Mark(0, 0) if evidence else None)
        yield Flag(
            "quote", one.paragraph, one.sentence, one.quote, label, work=one.work, evidence=evidence, reasons=(reason,)
        )


def _marks(fact: Fact) -> tuple[Mark, ...]:
    """The rows that a fact was recomputed from, and the cells in them; above the rows of a piece stands its caption."""
    rows: dict[int, list[int]] = {}
    for row, column in fact.cells:
        rows.setdefault(row, []).append(column)
    return tuple(Mark(0, row + 1, columns=tuple(columns)) for row, columns in sorted(rows.items()))


def _piece(one: Float) -> Piece:
    caption = f"{one.name}: {one.caption}" if one.caption else one.name
    rows = (CELLS.join(cell.replace(" |", " ¦") for cell in row.split("\t")) for row in one.rows.split("\n"))
    return Piece(one.name, (caption, *rows, *filter(None, [one.notes])))
