"""What is found wrong in a paper without a language model: its arithmetic, and quotes of cited papers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from aisr.paper.check.verdicts import LABELS, Mark, Piece, QuoteLabel, Review, Verdict, hidden, in_order
from aisr.paper.cited_claims import find_misquotes
from aisr.paper.draft import Draft, Float, add_captions
from aisr.paper.readers.figures import draw_figures
from aisr.paper.readers.files import read_cited_papers, read_draft
from aisr.paper.recompute.numbers import Fact
from aisr.paper.recompute.recompute import PlacedFact, count_read, recompute

NO_LM = "none"  # what stands for a language model where none is asked
EXACTLY = (
    "What is called wrong there, or a false quote, was recomputed from the paper's own numbers or looked up in the "
    "cited file. Whether the sentence means those cells a program can mistake: look at them."
)


def added(review: Review, cited: Mapping[str, Mapping[str, str]]) -> Review:
    """A review with the wrong sums and quotes among its verdicts. cited: key of a work -> paragraphs, id -> text."""
    facts = recompute(review.draft)
    draft, verdicts = _checked(review.draft, facts, cited)
    exactly = (EXACTLY,) if verdicts else ()
    judged = bool(review.worth)  # by a model: what that is worth comes first
    return replace(
        review,
        draft=draft,
        verdicts=in_order([*verdicts, *review.verdicts]),
        labels={**review.labels, **LABELS},
        worth=(*review.worth, _reach(review.draft, facts), *(() if judged else exactly)),
        more=(*(exactly if judged else ()), *review.more),
    )


def without_lm(draft: Draft, cited: Mapping[str, Mapping[str, str]]) -> Review:
    """All that is found in a draft without a language model: hidden text, wrong sums and quotes."""
    return added(Review(draft, NO_LM, tuple(hidden(draft)), {}), cited)


def _reach(draft: Draft, facts: Sequence[PlacedFact]) -> str:
    """How much of a draft was looked at without a language model: where nothing was found, that may be little."""
    sentences, tables = count_read(draft)
    wrong = sum(not one.fact.holds for one in facts) or "none"
    told = f"{_counted(len(facts), 'statement')} could be recomputed, {wrong} of them wrong"
    read = f"{_counted(sentences, 'sentence')} and {_counted(tables, 'table')} were read"
    return f"Without a language model {read}; {told if facts else 'nothing in them could be recompute'}."


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _checked(
    draft: Draft, facts: Sequence[PlacedFact], cited: Mapping[str, Mapping[str, str]]
) -> tuple[Draft, list[Verdict]]:
    """The wrong sums and quotes of a draft; and the draft, with its captions as paragraphs behind the others, so that
    each verdict has its sentence."""
    wrong = [one for one in facts if not one.fact.holds]
    shown = add_captions(draft) if any(one.float is not None for one in wrong) else draft
    places = {one.table_key: number for number, one in enumerate(shown.paragraphs) if one.table_key is not None}
    verdicts = [
        Verdict(
            "arithmetic",
            places[one.float] if one.float is not None else one.paragraph or 0,
            one.sentence,
            one.fact.statement,
            one.fact.label,
            evidence=tuple(_piece(draft.floats[key]) for key in one.fact.tables),
            marks=_marks(one.fact),
            why=one.fact.computed,
        )
        for one in wrong
    ]
    for one in find_misquotes(draft, cited):
        label = QuoteLabel.NOT_FOUND if one.true is None else QuoteLabel.MISQUOTED
        evidence = (Piece(one.source, (cited[one.work][one.source],)),) if one.source else ()
        why = f"no such words in {one.work}" if one.true is None else f"{one.work} has: “{one.true}”"
        verdicts.append(
            Verdict("quote", one.paragraph, one.sentence, one.quote, label, work=one.work, evidence=evidence, why=why)
        )
    return shown, verdicts


def _marks(fact: Fact) -> tuple[Mark, ...]:
    """The rows that a fact was recomputed from, and the cells in them; above the rows of a piece stands its caption."""
    rows: dict[int, list[int]] = {}
    for row, column in fact.cells:
        rows.setdefault(row, []).append(column)
    return tuple(Mark(0, row + 1, columns=tuple(columns)) for row, columns in sorted(rows.items()))


def _piece(one: Float) -> Piece:
    caption = f"{one.name}: {one.caption}" if one.caption else one.name
    rows = (" | ".join(cell.replace(" |", " ¦") for cell in row.split("\t")) for row in one.rows.split("\n"))
    return Piece(one.name, (caption, *rows, *filter(None, [one.notes])))


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
    found = read_cited_papers(papers, draft.works)
    below = [one._replace(place=one.place._replace(file=f"{papers.name}/{one.place.file}")) for one in found.unread]
    return replace(draft, unread=(*draft.unread, *below)), found.papers
