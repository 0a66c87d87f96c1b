"""Reading a paper, and what is checked in it without a language model: tests, percentages, and quotes of cited
papers."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from aisr.text import pluralize
from aisr_papers.check.flags import (
    Flag,
    Mark,
    NamedPlace,
    Piece,
    QuoteLabel,
    Reason,
    hidden_flags,
    make_flag,
    sort_flags,
)
from aisr_papers.check.review import NO_LM, Review
from aisr_papers.cited_claims import find_misquotes
from aisr_papers.draft import Draft, add_captions
from aisr_papers.open import read_draft
from aisr_papers.readers.figures import draw_figures
from aisr_papers.recompute.recompute import PlacedFact, count_read, recompute
from aisr_papers.recompute.significance import Outcome

CHECKED = "reported tests of significance and percentages beside their counts"
NOT_CHECKED = (
    "Not checked: numbers against tables, figures and other sentences, comparisons, and citations; for these name a "
    "language model, such as --lm openai/gpt-4o-mini."
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
    from aisr_papers.cited_papers import read as read_cited_papers  # with PDFium, which takes time to load

    cited = read_cited_papers(papers, draft.works)
    below = [one._replace(place=one.place._replace(file=f"{papers.name}/{one.place.file}")) for one in cited.unread]
    return replace(draft, unread=(*draft.unread, *below)), cited.papers


def without_lm(draft: Draft, cited: Mapping[str, Mapping[str, str]]) -> Review:
    """All flags on a draft without a language model: hidden text, tests, percentages and quotes that are wrong; what
    such a check looks at comes first."""
    scope = (_describe_scope(bool(cited)),)
    return add_exact_flags(Review(draft, NO_LM, tuple(hidden_flags(draft)), scope), cited)


def add_exact_flags(review: Review, cited: Mapping[str, Mapping[str, str]]) -> Review:
    """A review with the wrong tests, percentages and quotes among its flags. cited: key of a work -> paragraphs, id ->
    text."""
    facts = recompute(review.draft)
    flags = [*_of_statistics(review.draft, facts), *_of_quotes(review.draft, cited)]
    return replace(
        review,
        flags=sort_flags([*flags, *review.flags]),
        recomputed=tuple(facts),
        reliability=(*review.reliability, _reach(review.draft, facts)),
    )


def _describe_scope(quotes: bool) -> str:
    """What a check without a language model looks at, and what it does not. quotes: whether there are cited papers."""
    checked = f"{CHECKED}, and quotes of the cited papers," if quotes else CHECKED
    return f"Without a language model {checked} are checked. {NOT_CHECKED}"


def _reach(draft: Draft, facts: Sequence[PlacedFact]) -> str:
    """How much of a draft was looked at without a language model: where nothing is wrong, that may be little."""
    outcomes = Counter(one.fact.outcome for one in facts)
    counted = ", ".join(f"{outcomes[one]} {word}" for one, word in OUTCOMES.items() if outcomes[one])
    statistics = f"tests and percentages: {counted}" if facts else NONE
    return f"Read without a language model: {pluralize(count_read(draft), 'sentence')}; {statistics}."


OUTCOMES = {Outcome.HOLDS: "right", Outcome.WRONG: "wrong", Outcome.UNDECIDED: "not decided"}
NONE = "no test or percentage in them could be recomputed"


def _of_statistics(draft: Draft, facts: Sequence[PlacedFact]) -> Iterator[Flag]:
    for one in facts:
        if one.fact.wrong:
            position, fact = (one.paragraph, one.sentence), one.fact
            reasons = (Reason(fact.computed),)
            yield make_flag(draft, "statistics", position, fact.statement, fact.label, reasons=reasons)


def _of_quotes(draft: Draft, cited: Mapping[str, Mapping[str, str]]) -> Iterator[Flag]:
    for one in find_misquotes(draft, cited):
        position = one.paragraph, one.sentence
        if one.true:
            reason = Reason(f"{one.work} has: “{one.true}”", one.true, NamedPlace(one.source), mark=Mark(0, 0))
            pieces = (Piece(one.source, (cited[one.work][one.source],)),)
            fields = {"reasons": (reason,), "pieces": pieces, "subject": one.true}
            yield make_flag(draft, "quote", position, one.quote, QuoteLabel.MISQUOTED, work=one.work, **fields)
        else:
            reasons = (Reason(f"no such words in {one.work}"),)
            yield make_flag(draft, "quote", position, one.quote, QuoteLabel.NOT_FOUND, work=one.work, reasons=reasons)
