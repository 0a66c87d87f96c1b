"""The base classes of all judges: what one is built with, how it is called, and what it tells optimizers.

A judge subclasses `Judge`, or `LabelJudge` where its answers are labels. It has a frozen dataclass of its options, its
predictors, `prepare` (a record as an example) and `steps` (its questions, one after the other, and the prediction that
they lead to). Its signatures stand in `prompt.py` of the task's folder. All else is here, as hooks with defaults.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Self

import dspy
from pydantic import BaseModel

from aisr.base.errors import UserError
from aisr.programs.ask import (
    Check,
    Constraints,
    Question,
    Steps,
    UnusableAnswer,
    arun,
    clean_trace,
    run,
    unknown_names,
    wrong_count,
)
from aisr.programs.demos import KnnConfig, Similarity, nearest
from aisr.programs.images import Form, Gallery
from aisr.programs.label_weights import LabelWeights
from aisr.programs.options import Option, suggestion, table
from aisr.programs.probabilities import CONFIDENCE, Judgement, judgements_of, with_confidence
from aisr.programs.ranker import EvidenceRanker
from aisr.programs.records import Record
from aisr.programs.retrieval import DEFAULT, Embed, Matcher, embedder, embedding_model, matcher, rank
from aisr.programs.text import clean, item


@dataclass(frozen=True, kw_only=True)
class JudgeOptions:
    """The options that all judges have; program.json holds them. Raises UserError for a value that cannot be.

    A judge adds its own as fields of a subclass: texts, numbers and switches, each with a default and, in its metadata,
    `help` and, for numbers, `min` and `max`. A `Literal` says what choices there are. Help, validation, manifest and
    the documents' tables come from the fields.
    """

    nearest: int = field(
        default=0,
        metadata={
            "help": "How many demos, the nearest, stand in the prompt of a record; 0: all.",
            "min": 0,
            "searched": True,
        },
    )
    nearest_by: Similarity = field(
        default="words",
        metadata={
            "help": "How demos are compared with a record: by `words` (BM25), or by `both`, with word vectors.",
            "searched": True,
        },
    )

    def __post_init__(self) -> None:
        for option in self.table():
            option.check(getattr(self, option.name))

    @classmethod
    def table(cls) -> list[Option]:
        """All options, a judge's own first."""
        return table(cls)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """The options with these values. Raises UserError for a name that is none, with the nearest one, and for a
        value that cannot be."""
        names = cls.names()
        for name in values:
            if name not in names:
                raise UserError(f"no option {name!r}{suggestion(name, names)}; options: {', '.join(names)}")
        return cls(**values)

    @classmethod
    def names(cls) -> list[str]:
        """The names of all options, a judge's own first."""
        return [option.name for option in cls.table()]

    def as_dict(self) -> dict[str, Any]:
        """By name; `nearest_by` only where there are nearest demos."""
        values = {option.name: getattr(self, option.name) for option in self.table()}
        return values if self.nearest else {name: value for name, value in values.items() if name != "nearest_by"}


@dataclass(frozen=True, kw_only=True)
class LabelOptions(JudgeOptions):
    """The options of a judge whose answers are labels."""

    states: bool = field(
        default=False,
        metadata={
            "help": "Whether the LM states how likely each label is, which counts where it gives no log-probabilities."
        },
    )


@dataclass(frozen=True, kw_only=True)
class SearchOptions(JudgeOptions):
    """The options of a judge that retrieves evidence."""

    retriever: str = field(
        default=DEFAULT,
        metadata={
            "help": "What ranks texts: `bm25`, `dense` or `hybrid`; the last two with an embedding model behind a "
            "colon, or the built-in one."
        },
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        embedding_model(self.retriever)


class Fitted(BaseModel):
    """What a judge was fitted to on train beside its prompt: text and numbers, saved with it."""

    def summary(self) -> str:
        """It in a few words."""
        raise NotImplementedError

    def page(self) -> str:
        """It as a person reads it, as Markdown without a heading."""
        raise NotImplementedError


class Judge(dspy.Module):
    """One program of a task: it judges records, is what optimizers compile, and what an artifact holds."""

    Options: ClassVar[type[JudgeOptions]] = JudgeOptions
    options: JudgeOptions  # what it was built with
    statement: str = "claim"  # the input that a demo and a record have in common where they are the same
    form: Form = "caption"  # what of a picture stands in the prompt

    # Fitted beside the prompt, and saved with it.
    label_weights: LabelWeights | None = None  # how label probabilities become labels; None: the LM's own labels
    fitted: Fitted | None = None  # what `fit` came to
    ranker: EvidenceRanker | None = None  # ranks texts in the retriever's place
    takes_ranker: bool = False  # whether one may

    # No part of the program.
    gallery: Gallery | None = None  # where the pictures of records are
    embed: Embed | None = None  # asks the embedding model of the retriever

    def __init__(self, **options: Any) -> None:
        """Raises UserError for an option that cannot be."""
        super().__init__()
        self.options = self.Options.of(options)
        self.knn = KnnConfig(self.options.nearest, self.options.nearest_by)

    @property
    def judging(self) -> dspy.Predict:
        """The predictor whose answer is the judgement; labelled records are demos of this one."""
        return self.judge

    def prepare(self, record: Any) -> dspy.Example:
        """A record as the example that the judge is called with; `gold` beside the inputs where it is labelled."""
        raise NotImplementedError

    def steps(self, *args: Any, **inputs: Any) -> Steps:
        """The questions about the inputs of an example, and the prediction."""
        raise NotImplementedError

    def fit(self, records: Sequence[Any]) -> None:
        """Fit what stands beside the prompt (`fitted`) to labelled records, those of train."""

    def load_fitted(self, saved: Mapping[str, Any]) -> None:
        """Set `fitted` from what was saved. Raises ValueError where it is no such thing."""
        raise UserError("learnt: nothing of this program is fitted but prompt, ranker and label weights")

    def choose_evidence(self, label: str, named: Sequence[str], ranking: Sequence[str]) -> list[str]:
        """The ids of the evidence that goes with a label, best first, in tasks that ask for some. named: the ids that
        the LM named, ranking: the ranker's, both best first."""
        return list(named)

    def demo_rows(self, example: dspy.Example) -> list[dspy.Example]:
        """A labelled example as demos of the judging predictor: itself."""
        return [example]

    def lessons(self, example: dspy.Example) -> list[dspy.Example]:
        """The same, made for teaching where a labelled record as it stands teaches badly."""
        return self.demo_rows(example)

    @staticmethod
    def example(record: Record, inputs: Mapping[str, Any], right: Mapping[str, Any]) -> dspy.Example:
        """A record as the example that the program is called with; right: what stands beside the inputs where it is
        labelled."""
        return dspy.Example(id=record.id, **inputs, **right).with_inputs(*inputs)

    @property
    def retriever(self) -> str | None:
        """The retriever's spec (see `retrievers.matcher`); None for a judge that retrieves nothing."""
        return self.options.retriever if isinstance(self.options, SearchOptions) else None

    @property
    def embedding_model(self) -> str | None:
        """The embedding model that the retriever asks; None for none."""
        return embedding_model(self.retriever) if self.retriever else None

    @property
    def match(self) -> Matcher:
        """What ranks texts. Raises UserError where it embeds with a model that `embed` does not ask."""
        return self.ranker.matcher(self.vectors) if self.ranker else matcher(self.retriever or DEFAULT, self.embed)

    @property
    def vectors(self) -> Embed:
        """What gives the word vectors of texts. Raises UserError as `match`."""
        return embedder(self.retriever or DEFAULT, self.embed)

    def rank_paragraphs(self, claim: str, paragraphs: Mapping[str, str]) -> list[str]:
        """All ids of paragraphs, best first."""
        return rank(claim, paragraphs, self.match)

    def copy_context(self, other: "Judge") -> None:
        """Take from another judge what is no part of the program: gallery, embedding model, groups of records that are
        not each other's demos."""
        self.gallery, self.embed = other.gallery, other.embed
        self.knn = replace(self.knn, excluded=other.knn.excluded)

    def with_label_weights(self, label_weights: LabelWeights | None) -> Self:
        """A copy with other label weights, or without any."""
        copy: Self = self.deepcopy()
        copy.label_weights = label_weights
        return copy

    def forward(self, failure: str | None = None, **inputs: Any) -> dspy.Prediction:
        """The prediction for an example. failure: why its record could not be prepared, which fails it without a
        question. Raises `UnusableAnswer`."""
        if failure is not None:
            raise UnusableAnswer(failure)
        return run(self.steps(**inputs))

    async def aforward(self, failure: str | None = None, **inputs: Any) -> dspy.Prediction:
        """`forward` for an event loop: `await program.acall(...)`."""
        if failure is not None:
            raise UnusableAnswer(failure)
        return await arun(self.steps(**inputs))

    def question(
        self,
        predict: dspy.Predict,
        about: str,
        check: Check = lambda answer: None,
        constraints: Constraints = MappingProxyType({}),
        **inputs: Any,
    ) -> Question:
        """A question to `predict`, with the demos that are nearest to `about`, the statement of the record."""
        demos = nearest(predict.demos, self.statement, about, self.knn)
        return Question(predict, {"demos": demos, **inputs}, check, constraints)

    def choice_question(
        self,
        predict: dspy.Predict,
        about: str,
        field: str,
        names: Sequence[str],
        what: str,
        limits: Mapping[str, Any],
        **inputs: Any,
    ) -> Question:
        """The same where `predict` is to choose some of `names` in its output `field`.

        what: a word for what is chosen; limits: how many, as a JSON schema says it.
        """
        items = {**limits.get("items", {}), "enum": list(names)}
        return self.question(
            predict,
            about,
            lambda answer: unknown_names(answer[field], names, what),
            {field: {**limits, "items": items}},
            **inputs,
        )


class LabelJudge(Judge):
    """A judge whose answers are labels. The defaults put one question about one statement, whose answer is `label`; a
    judge with other questions has `__init__`, `prepare` and `steps` of its own."""

    Options: ClassVar[type[LabelOptions]] = LabelOptions
    options: LabelOptions
    labels: tuple[str, ...]  # all of its task
    signature: ClassVar[type[dspy.Signature] | None] = None  # of the one question

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if self.signature is not None:
            stated = with_confidence(self.signature, self.labels) if self.options.states else self.signature
            self.judge = dspy.Predict(stated)

    def prepare(self, record: Any) -> dspy.Example:
        """A record as an example: its field `statement`; where it is labelled, also `label` and `gold`."""
        right = {} if record.gold is None else {"label": record.gold, "gold": record.gold}
        return self.example(record, {self.statement: item(clean(getattr(record, self.statement)))}, right)

    def steps(self, *args: Any, **inputs: Any) -> Steps:
        """`label`, and `judgements` of the one statement."""
        answer = yield self.question(self.judge, inputs[self.statement], **inputs)
        final = self.decide(self.judgements(answer, "label"))
        return dspy.Prediction(label=final[0].label, judgements=final)

    def judgements(self, answer: dspy.Prediction, field: str) -> list[Judgement]:
        """The LM's judgement of each statement that an answer labels in its output `field`, a label or a list of
        them."""
        labels = answer[field] if isinstance(answer[field], list) else [answer[field]]
        judged = judgements_of(answer, field, labels, self.labels, self.options.states)
        clean_trace(answer)
        return judged

    def decide(self, judged: list[Judgement]) -> list[Judgement]:
        """The final judgement of each statement: by the label weights, or the LM's own where there are none."""
        return self.label_weights.apply(judged) if self.label_weights else judged


class SentenceJudge(LabelJudge):
    """A judge whose examples have the inputs `evidence` and `sentences`, and whose answer is a label for each."""

    statement = "sentences"

    def sentences_question(self, predict: dspy.Predict, sentences: Sequence[str], **inputs: Any) -> Question:
        """A question to `predict` about the labels of all sentences, in one call."""
        count = len(sentences)
        slots = {"minItems": count, "maxItems": count}
        return self.question(
            predict,
            " ".join(sentences),
            lambda answer: wrong_count(answer.sentence_labels, count, "labels"),
            {"sentence_labels": slots, CONFIDENCE: slots},
            **inputs,
            sentences=sentences,
        )

    def concluded(self, judged: list[Judgement]) -> dspy.Prediction:
        """The prediction, from the LM's judgement of each sentence: `sentence_labels`, one a sentence, and
        `judgements`."""
        final = self.decide(judged)
        return dspy.Prediction(sentence_labels=[one.label for one in final], judgements=final)
