"""Context24's first task: which figures and tables of a paper evidence a claim, best first.

Retrieval ranks them, and an LM may put the ten best in order, a typed step that is compiled; without it the program
asks no LM at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import dspy

from aisr.base.errors import NotEmbedded, UserError
from aisr.programs.ask import Steps
from aisr.programs.base import Judge, SearchOptions
from aisr.programs.context24_figures.prompt import RankElements
from aisr.programs.context24_figures.ranking import DEFAULT, Strategy, documents, paper_of, rank_elements
from aisr.programs.context24_figures.record import MOST, Context24FiguresRecord, Ranking, Sought, place_of
from aisr.programs.retrieval import DEFAULT as RETRIEVER
from aisr.programs.retrieval import excerpt, matcher
from aisr.programs.text import item, plain

READ = 800  # characters of the text on an element in a prompt
CANDIDATES = 20  # elements that it may put in order, at most


@dataclass(frozen=True, kw_only=True)
class Context24FiguresOptions(SearchOptions):
    """The options of a Context24 judge of figures."""

    strategy: Strategy = field(
        default=DEFAULT,
        metadata={
            "help": "How figures are ranked: by the sentences that cite them (`element/…`) or that match the claim "
            "(`chunk/…`), or by the `fusion` of the four ways."
        },
    )
    order: int = field(
        default=MOST,
        metadata={
            "help": "How many of the best figures the LM puts in order; 0: no LM is used.",
            "min": 0,
            "max": CANDIDATES,
        },
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order == 1:
            raise UserError(f"order is 1; expected 0 (the LM orders none) or 2 to {CANDIDATES}")


class Context24FiguresJudge(Judge):
    """Ranks the elements of a paper."""

    Options: ClassVar[type[Context24FiguresOptions]] = Context24FiguresOptions
    options: Context24FiguresOptions

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if self.options.order:
            self.rank = dspy.Predict(RankElements)

    @property
    def judging(self) -> dspy.Predict:
        """The predictor whose answer is the ranking. Raises UserError for a program that asks no LM."""
        if not self.options.order:
            raise UserError("this program asks no LM, so it has no prompt")
        return self.rank

    def prepare(self, record: Context24FiguresRecord) -> dspy.Example:
        """The record as an example: inputs `claim`, `elements` (the best, as an LM reads them), `candidates` (their
        labels) and `best_first` (the labels of all); where it is labelled, also `ranking` (the gold elements among
        these, then their figures and panels), `gold`, `incomplete` (none is among them) and `baseline`, the ranking
        without any LM.

        A record whose texts could not be embedded has the reason as its input `failure`, and fails without a
        question.
        """
        paper = paper_of(record.paragraphs, record.elements)
        texts = documents(paper, self.options.strategy)
        failed: dict[str, str] = {}
        try:
            best_first = rank_elements(record.claim, paper, self.options.strategy, self.match)
        except NotEmbedded as error:
            best_first, failed = list(paper.labels), {"failure": str(error)}
        # Elements without any text are no candidates.
        candidates = [label for label in best_first[: self.options.order or MOST] if texts[label]]
        inputs: dict[str, Any] = {
            "claim": item(record.claim, texts.__contains__),
            "elements": rendered(record.claim, {label: texts[label] for label in candidates}),
            "candidates": candidates,
            "best_first": best_first,
        }
        right: dict[str, Any] = {}
        if record.gold is not None:
            wanted = _wanted(record.gold, candidates)
            right = {
                "ranking": wanted,
                "gold": record.gold,
                "incomplete": not set(wanted) & set(record.gold.findings),
                "baseline": without_lm(record),
            }
        return self.example(record, inputs | failed, right)

    def demo_rows(self, example: dspy.Example) -> list[dspy.Example]:
        """A labelled example as demos: itself, where an LM ranks."""
        return [example] if self.options.order else []

    def lessons(self, example: dspy.Example) -> list[dspy.Example]:
        """The same, of those that show a gold element."""
        return [] if example.incomplete else self.demo_rows(example)

    def steps(self, claim: str, elements: str, candidates: Sequence[str], best_first: Sequence[str]) -> Steps:
        """`ranking`, the labels of all elements, best first, and `named`, those that an LM put in order."""
        named: list[str] = []
        if self.options.order and len(candidates) > 1:
            limits = {"minItems": 1, "maxItems": len(candidates)}
            answer = yield self.choice_question(
                self.rank, claim, "ranking", candidates, "label", limits, elements=elements, claim=claim
            )
            named = list(dict.fromkeys(answer.ranking))
        return dspy.Prediction(ranking=list(dict.fromkeys((*named, *best_first))), named=named)


def without_lm(record: Context24FiguresRecord) -> Ranking:
    """The ranking without an LM: the default strategy with BM25."""
    paper = paper_of(record.paragraphs, record.elements)
    return tuple(rank_elements(record.claim, paper, DEFAULT, matcher(RETRIEVER))[:MOST])


def rendered(claim: str, texts: Mapping[str, str]) -> str:
    """Elements as a model reads them: one a line, each after its label, with the sentences about it that are nearest to
    the claim."""
    rows = (f"[{label}] {item(excerpt(claim, text, READ), texts.__contains__)}" for label, text in texts.items())
    return plain("\n".join(rows))


def _wanted(gold: Sought, candidates: Sequence[str]) -> list[str]:
    """The gold elements among the candidates, and behind them their figures and panels."""
    figures = {(place.figure, bool(place.panel)) for label in gold.findings if (place := place_of(label)) is not None}
    right = [label for label in candidates if label in gold.findings]
    near = [
        label
        for label in candidates
        if label not in right and (at := place_of(label)) is not None and (at.figure, not at.panel) in figures
    ]
    return [*right, *near]
