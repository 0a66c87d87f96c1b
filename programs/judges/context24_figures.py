"""Context24's first task: which figures and tables of a paper evidence a claim, best first.

Retrieval alone ranks them; an LM may describe each element before that, and put the ten best in order after it. Both
are typed steps that are compiled; with neither the program asks no LM at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import dspy

from aisr.programs.asking.ask import UnusableAnswer, asking
from aisr.programs.asking.steps import Steps
from aisr.programs.errors import NotEmbedded, UserError
from aisr.programs.judges.options import SearchOptions
from aisr.programs.judges.searching import Ranking, Searching
from aisr.programs.records.context24_figures import MOST, Context24FiguresRecord, Sought, place_of
from aisr.programs.records.context24_figures import Ranking as Ranked
from aisr.programs.retrieval.elements import strategies
from aisr.programs.retrieval.elements.paper import PARTS, PLAIN, WHOLE, Paper, documents, paper_of
from aisr.programs.retrieval.elements.strategies import Strategy, parsed, written
from aisr.programs.retrieval.lesson import excerpt
from aisr.programs.retrieval.passages import rank
from aisr.programs.retrieval.retrievers import DEFAULT, Matcher, matcher
from aisr.programs.signatures.context24_figures import DescribeElement, RankElements
from aisr.programs.text.sanitize import item, plain

SHOWN = 800  # characters of what the text says of an element that the ordering LM reads
CANDIDATES = 20  # elements that it may put in order, at most
READ = 2000  # characters of it that the describing LM reads
LONGEST_DESCRIPTION = 600  # characters that a backend which decodes under a schema is held to
NOTHING = "never cited"


@dataclass(frozen=True, kw_only=True)
class Context24FiguresOptions(SearchOptions):
    """strategy: how elements are ranked (see `aisr.programs.retrieval.elements.strategies`); rephrase: whether an LM
    describes each element first, a call an element, and the descriptions are ranked; order: how many of the best an LM
    puts in order (0: it is not asked); characters: how many characters of what is said of each it reads."""

    strategy: str = strategies.DEFAULT
    rephrase: bool = False
    order: int = MOST
    characters: int = SHOWN

    def __post_init__(self) -> None:
        by_document = parsed(self.strategy).by_document
        if self.rephrase and not by_document:
            raise UserError(f"rephrase goes with element documents, and strategy {self.strategy!r} ranks none")
        if self.order and not 2 <= self.order <= CANDIDATES:
            raise UserError(f"order is {self.order}; expected 0 (the LM orders none) or 2 to {CANDIDATES} elements")
        if self.characters < 1:
            raise UserError(f"characters is {self.characters}; expected 1 or more")
        object.__setattr__(self, "strategy", written(self.strategy))
        super().__post_init__()


class Context24FiguresJudge(Searching):
    """Ranks the elements of a paper."""

    Given: ClassVar[type[Context24FiguresOptions]] = Context24FiguresOptions
    given: Context24FiguresOptions

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.plan = parsed(self.given.strategy)
        if self.given.rephrase:
            self.describe = dspy.Predict(DescribeElement)
        if self.given.order:
            self.rank = dspy.Predict(RankElements)

    @property
    def judging(self) -> dspy.Predict:
        """The predictor whose answer is the ranking, or else the one that describes. Raises UserError for a program
        that asks no LM."""
        if not self.given.order and not self.given.rephrase:
            raise UserError("this program asks no LM, so it has no prompt")
        return self.rank if self.given.order else self.describe

    def prepare(self, record: Context24FiguresRecord) -> dspy.Example:
        """The record as an example: inputs `claim`, `elements` (the best, as an LM reads them), `shown` (their labels)
        and `best_first` (the labels of all), and `texts`, what is said of each, if they are to be described; where it
        is labelled, also `ranking` (the gold elements that are shown, then their figures and panels), `gold`,
        `gold_rank`, that of the best gold element, from 1 (None: none is an element), `incomplete` (none is shown) and
        `floor`, the ranking of what needs no LM.

        A record whose texts could not be embedded has the reason as its input `failure`, and is failed without being
        asked about.
        """
        paper = paper_of(record.paragraphs, record.elements)
        texts = dict(zip(paper.labels, self._documents(paper), strict=True))
        failed: dict[str, str] = {}
        try:
            best_first = self._ranked(record.claim, paper)
        except NotEmbedded as error:
            best_first, failed = list(paper.labels), {"failure": str(error)}
        shown = self._shown(best_first, texts)
        inputs: dict[str, Any] = {
            "claim": item(record.claim, texts.__contains__),
            "elements": rendered(record.claim, {label: texts[label] for label in shown}, self.given.characters),
            "shown": shown,
            "best_first": best_first,
        }
        if self.given.rephrase:
            inputs["texts"] = texts
        right: dict[str, Any] = {}
        if record.gold is not None:
            ranks = [place for place, label in enumerate(best_first, start=1) if label in record.gold.findings]
            wanted = _wanted(record.gold, shown)
            right = {
                "ranking": wanted,
                "gold": record.gold,
                "gold_rank": None if failed else min(ranks, default=None),
                "incomplete": not set(wanted) & set(record.gold.findings),
                "floor": without_lm(record),
            }
        return self.example(record, inputs | failed, right)

    def ranked(self, claim: str, paragraphs: Mapping[str, str]) -> list[str]:
        """All labels, best first, where `paragraphs` says what is known of each element."""
        return rank(claim, paragraphs, self._matched(""))

    def demo_rows(self, example: dspy.Example) -> list[dspy.Example]:
        """A labelled example as demos: itself, where an LM ranks. Nobody labels descriptions."""
        return [example] if self.given.order else []

    def lessons(self, example: dspy.Example) -> list[dspy.Example]:
        """The same, of those that show a gold element."""
        return [] if example.incomplete else self.demo_rows(example)

    def rows_before(self, example: dspy.Example) -> list[tuple[dspy.Predict, dspy.Example]]:
        """The calls that are made for an example before its ranking, with answers of the usual length: one for each
        element that something is known of. For the next claim of a paper the response cache answers them."""
        if not self.given.rephrase:
            return []
        told = {label: text for label, text in example.texts.items() if text}
        return [
            (self.describe, dspy.Example(element=label, text=text[:READ], description=text[:LONGEST_DESCRIPTION]))
            for label, text in told.items()
        ]

    def embeds(self, example: dspy.Example) -> list[list[str]]:
        """What the retriever's model is asked to embed as an example is judged, a list a request: the descriptions that
        are written first, of the usual length, and the claim."""
        described = [row.description for predictor, row in self.rows_before(example)]
        return [described, [example.claim]] if described else []

    def steps(
        self,
        claim: str,
        elements: str,
        shown: Sequence[str],
        best_first: Sequence[str],
        texts: Mapping[str, str] | None = None,
    ) -> Steps[dspy.Prediction]:
        """`ranking`, the labels of all elements, best first, and `named`, those that an LM put in order."""
        if texts is not None:
            described = yield from self._described(texts)
            try:
                best_first = strategies.by_document(claim, described, self._matched(""))
            except NotEmbedded as error:
                raise UnusableAnswer(str(error)) from error
            shown = self._shown(best_first, described)
            elements = rendered(claim, {label: described[label] for label in shown}, self.given.characters)
        named: list[str] = []
        if self.given.order and len(shown) > 1:
            limits = {"minItems": 1, "maxItems": len(shown)}
            named = yield from self.named(
                self.rank, claim, "ranking", shown, "label", limits, elements=elements, claim=claim
            )
        return dspy.Prediction(ranking=list(dict.fromkeys((*named, *best_first))), named=named)

    def _described(self, texts: Mapping[str, str]) -> Steps[dict[str, str]]:
        """What an LM makes of the text of each element; of one that has none, nothing. The claim has no part in it, so
        that a paper is described once for all its claims: the response cache holds what was asked before."""
        described = {}
        for label, text in texts.items():
            described[label] = ""
            if text:
                answer = yield from asking(
                    self.describe,
                    lambda said: None if said.description.strip() else "it describes nothing",
                    {"description": {"minLength": 1, "maxLength": LONGEST_DESCRIPTION}},
                    text=item(text[:READ]),
                    element=item(label),
                )
                described[label] = answer.description
        return described

    def _shown(self, best_first: Sequence[str], texts: Mapping[str, str]) -> list[str]:
        """The elements that an LM puts in order: the best, those aside of which nothing is known. (With captions that
        panels share, as programs had them at first, these stand among them.)"""
        best = list(best_first[: self.given.order or MOST])
        return [label for label in best if texts[label]] if self.plan.captions == PARTS else best

    def _documents(self, paper: Paper) -> list[str]:
        """What is said of each element: as the strategy has it where it ranks documents."""
        plan = (
            self.plan if self.plan.by_document else Strategy(captions=PARTS if self.plan.captions == PARTS else WHOLE)
        )
        return documents(paper, plan.size, plan.reader, plan.captions)

    def _ranked(self, claim: str, paper: Paper) -> list[str]:
        return strategies.ranked(claim, paper, self.plan, self._matched)

    def _matched(self, way: str) -> Matcher:
        """The matcher of a way, with the retriever's embedding model where it has one; of "" the program's own."""
        if not way:
            return matcher(self.given.retriever, self.embed)
        model = self.embedding_model
        return matcher(f"{way}:{model}" if model and way in strategies.EMBEDDING else way, self.embed)


class FittedContext24FiguresJudge(Context24FiguresJudge, Ranking):
    """The same, where elements are ranked as the documents that a ranker is fitted on."""

    def _matched(self, way: str) -> Matcher:
        return super()._matched(way) if way else self.match


def context24_figures_judge(**options: Any) -> Context24FiguresJudge:
    """The program of these options (see `Context24FiguresJudge`); one with a fitted ranker where it ranks the
    documents of the default strategy as they stand, since on these it is fitted."""
    plan = parsed(options.get("strategy", strategies.DEFAULT))
    as_they_stand = (
        plan.captions != PLAIN and plan._replace(captions=PARTS) == Strategy() and not options.get("rephrase")
    )
    return FittedContext24FiguresJudge(**options) if as_they_stand else Context24FiguresJudge(**options)


def without_lm(record: Context24FiguresRecord) -> Ranked:
    """What can be said without an LM: the default strategy with BM25."""
    paper = paper_of(record.paragraphs, record.elements)
    return tuple(strategies.ranked(record.claim, paper, Strategy(), lambda _: matcher(DEFAULT))[:MOST])


def rendered(claim: str, texts: Mapping[str, str], characters: int) -> str:
    """Elements as a model reads them: one a line, each after its label, with the sentences about it that are nearest to
    the claim, up to so many characters."""
    rows = (
        f"[{label}] {item(excerpt(claim, text, characters) if text else NOTHING, texts.__contains__)}"
        for label, text in texts.items()
    )
    return plain("\n".join(rows))


def _wanted(gold: Sought, shown: Sequence[str]) -> list[str]:
    """The gold elements among those shown, and behind them their figures and panels."""
    figures = {(place.figure, bool(place.panel)) for label in gold.findings if (place := place_of(label)) is not None}
    right = [label for label in shown if label in gold.findings]
    near = [
        label
        for label in shown
        if label not in right and (at := place_of(label)) is not None and (at.figure, not at.panel) in figures
    ]
    return [*right, *near]
