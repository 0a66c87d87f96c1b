"""Context24's second task: the passages of a paper that say how a claim was found out, by retrieval, an LM, or both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import dspy

from aisr.programs.asking.steps import Steps
from aisr.programs.errors import UserError
from aisr.programs.judges.mould import Judge
from aisr.programs.judges.options import Options
from aisr.programs.records.context24_text import Context24TextRecord, Grounding, Snippet
from aisr.programs.retrieval import method_sentences
from aisr.programs.retrieval.bm25 import bm25
from aisr.programs.retrieval.expressions import CommonExpressions, mine
from aisr.programs.retrieval.lesson import excerpt
from aisr.programs.retrieval.method_sentences import MethodWeights
from aisr.programs.retrieval.paper_sentences import Paper, known_again, paper
from aisr.programs.retrieval.quoted_passages import as_in_paper, stands_in
from aisr.programs.retrieval.retrievers import order
from aisr.programs.signatures.context24_text import ChooseMethod, ChooseSentences, QuotePaper
from aisr.programs.text.chatter import quotes_alone, without_page
from aisr.programs.text.sanitize import item, plain

STRATEGIES = {
    "sentences": "the sentences that match the claim best by BM25; no LM",
    "paragraph": "the one paragraph that matches it best; no LM",
    "select": "the LM chooses among the sentences that match it best",
    "method": "the LM chooses among the sentences that tell of method, shown with headings and neighbours",
    "whole": "the LM reads the whole paper and quotes from it",
}
ASKING = ("select", "method", "whole")
CHOOSING = ("select", "method")
BY_HAND = MethodWeights(weights=method_sentences.BY_HAND)
NONE = 2  # sentences, the best, that are taken where the LM chooses none
SENTENCES, MOST_SENTENCES = 5, 30
SHOWN = 15  # sentences that the LM chooses among
NEIGHBOURS = 3  # the most on each side
DISTRACTORS = 4  # sentences of a demo beside the gold ones; paragraphs: one
LONGEST_PARAGRAPH = 1200  # characters of one in a demo
MOST_QUOTES, LONGEST_QUOTE = 10, 1200


@dataclass(frozen=True, kw_only=True)
class Context24TextOptions(Options):
    """strategy: one of `STRATEGIES`; sentences: how many to take, or for an LM to choose at most; neighbours: how many
    sentences come along on either side of each; expressions: whether sentences that hold one of the expressions
    that were mined from train are taken alone, or come first where an LM chooses; several: whether passages that
    stand apart stay several snippets: the official score is divided by their number, so they are joined into one
    unless asked for."""

    strategy: str = "method"
    sentences: int = SENTENCES
    neighbours: int = 0
    expressions: bool = False
    several: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.strategy not in STRATEGIES:
            raise UserError(f"strategy is {self.strategy!r}; one of: {', '.join(STRATEGIES)}")
        if not 1 <= self.sentences <= MOST_SENTENCES:
            raise UserError(f"sentences is {self.sentences}; expected 1 to {MOST_SENTENCES}")
        if not 0 <= self.neighbours <= NEIGHBOURS:
            raise UserError(f"neighbours is {self.neighbours}; expected 0 to {NEIGHBOURS}")
        if self.strategy == "method" and self.expressions:
            raise UserError("strategy method learns what tells of method itself: leave out expressions")
        if self.strategy in ("paragraph", "whole") and (self.expressions or self.neighbours):
            raise UserError(f"strategy {self.strategy} looks for no sentences: leave out neighbours and expressions")


class Context24TextJudge(Judge):
    """Finds the passages of a paper that ground a claim. learnt: the expressions that were mined, or the weights of
    what tells of method."""

    Given: ClassVar[type[Context24TextOptions]] = Context24TextOptions
    given: Context24TextOptions
    learnt: CommonExpressions | MethodWeights | None = None

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        asked = {"whole": QuotePaper, "method": ChooseMethod}.get(self.given.strategy, ChooseSentences)
        self.ground = dspy.Predict(asked)

    @property
    def judging(self) -> dspy.Predict:
        """The predictor whose answer is the judgement; a strategy without LM has it, and asks it nothing."""
        return self.ground

    def learn(self, records: Sequence[Context24TextRecord]) -> None:
        """Mine the expressions that gold passages of different papers share, or weigh what tells of method, where the
        program minds them."""
        if self._by_method:
            told = [
                (one.claim, self._paper(one), tuple(map(without_page, one.gold or ()))) for one in records if one.gold
            ]
            self.learnt = method_sentences.learn(told)
        if not self.given.expressions:
            return
        passages: dict[tuple[str, ...], list[str]] = {}
        for record in records:
            passages.setdefault(tuple(record.paragraphs), []).extend(map(without_page, record.gold or ()))
        self.learnt = mine(passages)

    def remember(self, saved: Mapping[str, Any]) -> None:
        """The expressions or weights of a saved program. Raises ValueError for anything else, and where none are looked
        for."""
        if self._by_method:
            self.learnt = MethodWeights.model_validate(saved)
            return
        if not self.given.expressions:
            raise UserError("learnt: this program minds no expressions; expected the option `expressions`")
        self.learnt = CommonExpressions.model_validate(saved)

    def prepare(self, record: Context24TextRecord) -> dspy.Example:
        """The record as an example: inputs `claim`, `passages` (what an LM reads), `shown` (ids of the sentences in
        it, or of all that were ranked, best first where no LM reads them) and `source`, the paper; where it is
        labelled, also `gold`, what the predictor would be right to say (`chosen` or `quotes`), and `floor`, what
        can be said without a model.

        Raises UserError for a record whose paper has no sentence.
        """
        source = self._paper(record)
        if not source.sentences:
            raise UserError(f"{record.id}: no sentence in its paragraphs; expected the full text of the paper")
        places = self._candidates(record.claim, source)
        inputs: dict[str, Any] = {
            "claim": item(record.claim),
            "passages": self._read(source, places),
            "shown": [_id(place) for place in places],
            "source": source,
        }
        right: dict[str, Any] = {}
        if record.gold is not None:
            right = {"gold": record.gold, "floor": best_sentences(record.claim, source)}
        if record.gold:
            right |= self._right(source, places, record.gold)
        return self.example(record, inputs, right)

    def demo_rows(self, example: dspy.Example) -> list[dspy.Example]:
        """A labelled example as demos: itself; none where no LM is asked, and where nothing is gold."""
        return [example] if self.given.strategy in ASKING and example.gold else []

    def lessons(self, example: dspy.Example) -> list[dspy.Example]:
        """The same, short: what is gold, and of the rest of the paper what is most easily taken for it."""
        if not example.gold:
            return [example]  # which lacks the answer, and is passed over for that
        source: Paper = example.source
        gold = sorted({place for places in known_again(source, example.gold) for place in places})
        if self.given.strategy == "whole":
            return [example.copy(passages=_paragraph_lesson(example.claim, source, gold))]
        right = gold[: self.given.sentences] or [_place(key) for key in example.chosen]
        others = [place for place in self._ranked(example.claim, source) if place not in right][:DISTRACTORS]
        shown = self._read(source, sorted({*right, *others}))
        return [example.copy(passages=shown, chosen=[_id(place) for place in right])]

    def steps(self, claim: str, passages: str, shown: Sequence[str], source: Paper) -> Steps[dspy.Prediction]:
        """`snippets`; `named`, the ids of the sentences that were taken; `ranking`, those of the candidates."""
        if self.given.strategy == "whole":
            quotes = yield from self._quoted(claim, passages, source)
            return dspy.Prediction(snippets=self._joined(quotes), named=[], ranking=[])
        chosen = list(shown)
        if self.given.strategy in CHOOSING:
            most = self.given.sentences
            limits = {"minItems": 0 if self._by_method else 1, "maxItems": most, "items": {"type": "string"}}
            none = None if self._by_method else "it chooses no sentence at all"
            chosen = yield from self.named(
                self.ground, claim, "chosen", shown, "sentence id", limits, none, passages=passages, claim=claim
            )
            chosen = chosen[:most] or [_id(place) for place in self._ranked(claim, source)[:NONE]]
        places = source.with_neighbours([_place(key) for key in chosen], self.given.neighbours)
        runs = [source.text(run) for run in source.runs(places)]
        return dspy.Prediction(
            snippets=self._joined([Snippet(text) for text in runs]), named=list(chosen), ranking=list(shown)
        )

    def _quoted(self, claim: str, passages: str, source: Paper) -> Steps[list[Snippet]]:
        stands = stands_in(source)
        answer = yield from self.asked(
            self.ground,
            claim,
            lambda said: None if quotes_alone(said.quotes, stands) else "it quotes nothing",
            {"quotes": {"minItems": 1, "maxItems": MOST_QUOTES, "items": {"maxLength": LONGEST_QUOTE}}},
            passages=passages,
            claim=claim,
        )
        quotes = quotes_alone(answer.quotes, stands)[:MOST_QUOTES]
        return list(dict.fromkeys(as_in_paper(quote, source) for quote in quotes))

    def _joined(self, snippets: Sequence[Snippet]) -> list[Snippet]:
        """One snippet of all, unless several are wanted."""
        if self.given.several or len(snippets) < 2:
            return list(snippets)
        return [Snippet(" ".join(one.text for one in snippets), all(one.verbatim for one in snippets))]

    @property
    def _expressions(self) -> CommonExpressions | None:
        return self.learnt if isinstance(self.learnt, CommonExpressions) else None

    @property
    def _by_method(self) -> bool:
        return self.given.strategy == "method"

    def _paper(self, record: Context24TextRecord) -> Paper:
        return paper(tuple(record.paragraphs), decimals=self._by_method)

    def _ranked(self, claim: str, source: Paper) -> list[int]:
        """The sentences that an LM chooses among, best first."""
        if self._by_method:
            return (self.learnt if isinstance(self.learnt, MethodWeights) else BY_HAND).ranked(claim, source)
        return source.ranked(claim, self._expressions, alone=False)

    def _candidates(self, claim: str, source: Paper) -> list[int]:
        """The sentences to take, or for the LM to choose among in document order."""
        if self.given.strategy == "paragraph":
            return source.best_paragraph(claim)
        if self.given.strategy in CHOOSING:
            return sorted(self._ranked(claim, source)[:SHOWN])
        return source.ranked(claim, self._expressions)[: self.given.sentences]

    def _read(self, source: Paper, places: Sequence[int]) -> str:
        """What the LM reads; a strategy without LM shows what it takes."""
        if self._by_method:
            return _with_neighbours(source, places)
        if self.given.strategy != "whole":
            return _lines(source, places)
        return plain("\n".join(f"[P{k}] {_item(text)}" for k, text in enumerate(source.paragraphs, start=1) if text))

    def _right(self, source: Paper, places: Sequence[int], gold: tuple[str, ...]) -> dict[str, Any]:
        """What the predictor would be right to say of gold passages, in what it is shown."""
        if self.given.strategy == "whole":
            return {"quotes": [item(without_page(text)) for text in gold]}
        known = [place for held in known_again(source, gold) for place in held if place in places]
        near = list(dict.fromkeys(known)) or _nearest(source, places, " ".join(gold))
        return {"chosen": [_id(place) for place in near[: self.given.sentences]]}


def best_sentences(claim: str, source: Paper) -> Grounding:
    """What can be said without a model: the five best sentences in their order, as one snippet."""
    return Grounding((Snippet(source.text(sorted(source.ranked(claim)[:SENTENCES]))),))


def _nearest(source: Paper, places: Sequence[int], gold: str) -> list[int]:
    """The sentence shown that is most like what is gold."""
    return [places[int(order(bm25(gold, [source.sentences[place] for place in places]))[0])]]


def _paragraph_lesson(claim: str, source: Paper, gold: Sequence[int]) -> str:
    """The paragraphs that hold gold sentences, and the best other one, long ones cut."""
    owners = list(dict.fromkeys(source.owner[place] for place in gold))
    others = [source.owner[place] for place in source.ranked(claim) if source.owner[place] not in owners]
    around = {owner: source.text(k for k in gold if source.owner[k] == owner) for owner in owners}
    kept = {**around, **dict.fromkeys(others[:1], claim)}
    rows = (f"[P{k + 1}] {_item(excerpt(kept[k], source.paragraphs[k], LONGEST_PARAGRAPH))}" for k in sorted(kept))
    return plain("\n".join(rows))


def _lines(source: Paper, places: Sequence[int]) -> str:
    """Sentences as a model reads them: one a line, each after its id."""
    return plain("\n".join(f"[{_id(place)}] {_item(source.sentences[place])}" for place in places))


def _with_neighbours(source: Paper, places: Sequence[int]) -> str:
    """The same below the headings of their sections, each with the sentence before it and the one behind it."""
    under, rows, last = method_sentences.headings(source), [], ""
    for place in source.with_neighbours(places, 1):
        if (title := under[source.owner[place]]) != last:
            rows.append(f"## {_item(title)}")
            last = title
        text = _item(source.sentences[place])
        rows.append(f"[{_id(place)}] {text}" if place in places else f"… {text}")
    return plain("\n".join(rows))


def _item(text: str) -> str:
    """A text of the paper in one line, without what would pass for the id of another."""
    return item(text, _is_id)


def _is_id(label: str) -> bool:
    return label[:1] in ("S", "P") and label[1:].isdigit()


def _id(place: int) -> str:
    return f"S{place + 1}"


def _place(key: str) -> int:
    return int(key[1:]) - 1
