"""Track 2: does the cited paper support the claim, and which of its paragraphs show it.

LM and ranker err in different places: of three ids two from the one and one from the other hold a gold one more often
than three from either.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import dspy
from pydantic import ConfigDict, Field

from aisr.base.errors import NotEmbedded
from aisr.programs.program import Fitted, LabelOptions, Program, SearchOptions, unknown_names
from aisr.programs.retrieval import USUAL_TOKENS, Passages, able_to_decide, excerpt, select_passages, without_content
from aisr.programs.text import item, item_with_rows, plain
from aisr.programs.track2.prompt import NAMED, naming_none, signature_of
from aisr.programs.track2.record import CITATION_LABELS, EVIDENCE_K, Citation, CitationLabel, Track2Record

DEPTH = 10  # paragraphs from the ranker's best down that may be named
OF_THE_LM = 2  # of the three ids
DISTRACTORS = 2  # beside gold paragraphs; one more where there are none
SHORT = 60  # characters; a shorter paragraph says little, and stands in for a distractor only where there is no other
GOLD, DISTRACTOR = 750, 250  # characters of one such paragraph in a demo: four fit into 3,000 tokens


class Track2Options(LabelOptions, SearchOptions):
    """The options of a Track 2 program."""

    context_tokens: int = Field(
        default=USUAL_TOKENS,
        ge=1,
        description="How many tokens of a paper the LM reads; all of it where it is shorter.",
    )


class EvidencePolicy(Fitted):
    """Which paragraphs to name as evidence, by the label.

    none: the labels that name no evidence. All others name three: Joint@3 asks for one hit among three, so a short list
    only loses; where the gold list is empty it asks for an empty one (guidelines, section 2, "match-empty").
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    none: tuple[CitationLabel, ...] = (CitationLabel.IRRELEVANT,)

    @classmethod
    def from_gold(cls, gold: Iterable[Citation]) -> Self:
        """The policy of labelled records: a label names nothing where most of its records have no gold evidence; one
        that none of them has stays as it is by default."""
        seen, without = Counter[str](), Counter[str]()
        for one in gold:
            seen[one.label] += 1
            without[one.label] += not one.evidence_para_ids
        unseen = [label for label in cls().none if label not in seen]
        return cls(
            none=tuple(CitationLabel(key) for key in sorted({*unseen, *(k for k in seen if 2 * without[k] > seen[k])}))
        )

    def choose(self, label: str, named: Sequence[str], ranking: Sequence[str]) -> list[str]:
        """The evidence list to submit, up to three ids, best first. named: the ids that the LM named, best first;
        ranking: the ranker's, best first."""
        if label in self.none:
            return []
        own = list(dict.fromkeys(named))
        return list(dict.fromkeys([*own[:OF_THE_LM], *ranking[:DEPTH], *own]))[:EVIDENCE_K]

    def summary(self) -> str:
        """It in a few words."""
        return f"no evidence is named with {', '.join(self.none) or 'no label'}"

    def page(self) -> str:
        """It as a person reads it."""
        three = f"the LM's first {OF_THE_LM} ids and the ranker's best of what is left"
        return f"Evidence named: none with {', '.join(self.none) or 'no label'}; with other labels {three}."


class Track2Judge(Program):
    """Labels a claim and names its evidence, from the best paragraphs of a paper."""

    Options: ClassVar[type[Track2Options]] = Track2Options
    options: Track2Options
    labels = CITATION_LABELS
    fitted: EvidencePolicy = EvidencePolicy()
    takes_ranker = True

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.judge = dspy.Predict(signature_of(self.options.states, self.fitted.none))

    def fit(self, records: Sequence[Track2Record]) -> None:
        """Fit which labels name no evidence, and have the prompt say so: demos of train then agree with it."""
        self._name(EvidencePolicy.from_gold(record.gold for record in records if record.gold is not None))

    def load_fitted(self, saved: Mapping[str, Any]) -> None:
        """The same from what was saved. Raises ValueError where it is no such thing."""
        self._name(EvidencePolicy.model_validate(saved))

    def _name(self, policy: EvidencePolicy) -> None:
        self.fitted = policy
        self.judge.signature = naming_none(self.judge.signature, policy.none)

    def choose_evidence(self, label: str, named: Sequence[str], ranking: Sequence[str]) -> list[str]:
        """As `EvidencePolicy.choose`."""
        return self.fitted.choose(label, named, ranking)

    def prepare(self, record: Track2Record) -> dspy.Example:
        """The record as an example: inputs `passages`, `claim`, `candidates` (ids of the passages), `nameable` (those
        of them that can decide), `ranking` (paragraph ids); where it is labelled, also `label`, `evidence_ids` (the
        gold ones among the candidates), `gold`, `incomplete` (none of its gold paragraphs is a candidate) and `lesson`,
        its fields as a demo.

        A record whose texts could not be embedded has the reason as its input `failure`, and fails without a question.
        """
        raw = record.paragraphs
        paper = {key: item_with_rows(text, raw.__contains__) for key, text in raw.items()}
        failed: dict[str, str] = {}
        try:
            read = select_passages(record.claim_text, paper, self.options.context_tokens, self.match)
        except NotEmbedded as error:
            read, failed = Passages("", [], list(paper)), {"failure": str(error)}
        inputs: dict[str, Any] = {
            "passages": plain(read.text),
            "claim": item(record.claim_text, paper.__contains__),
            "candidates": read.keys,
            "nameable": able_to_decide(read.keys, paper),
            "ranking": read.ranking[:DEPTH],
        }
        right: dict[str, Any] = {}
        if record.gold is not None:
            right = self._right(record.gold, record.claim_text, paper, read)
        return self.example(record, inputs | failed, right)

    def _right(self, gold: Citation, claim: str, paper: dict[str, str], read: Passages) -> dict[str, Any]:
        """What stands beside the inputs of a labelled record."""
        wanted = [] if gold.label in self.fitted.none else gold.evidence_para_ids
        return {
            "gold": gold,
            "label": gold.label,
            "evidence_ids": [key for key in wanted if key in read.keys][:NAMED],
            "incomplete": bool(gold.evidence_para_ids) and not {*gold.evidence_para_ids}.intersection(read.keys),
            "lesson": {**_lesson(gold, claim, paper, read.ranking), "evidence_ids": wanted[:EVIDENCE_K]},
        }

    def trimmed_demos(self, example: dspy.Example) -> list[dspy.Example]:
        """The same with gold evidence and the hardest distractors alone: short, and never without what decided."""
        return [example.copy(**example.lesson)]

    def forward(
        self,
        passages: str,
        claim: str,
        candidates: list[str],
        ranking: list[str],
        nameable: Sequence[str] = (),
    ) -> dspy.Prediction:
        """`label`, `evidence_para_ids` (up to three, best first); `judgements`, of the one claim (see
        `aisr.programs.probabilities`), `named`, the ids that the model gave, and `ranking`."""
        answer = self.ask(
            self.judge,
            claim,
            lambda answer: unknown_names(answer.evidence_ids, candidates, "evidence id"),
            limits={"evidence_ids": {"items": {"enum": list(nameable or candidates)}, "maxItems": NAMED}},
            passages=passages,
            claim=claim,
        )
        (final,) = self.decide(answer, "label")
        named = answer.evidence_ids
        if answer.label in self.fitted.none:
            answer.evidence_ids = []  # an answer that becomes a demo agrees with the prompt
        return dspy.Prediction(
            label=final.label,
            evidence_para_ids=self.fitted.choose(final.label, named, ranking),
            judgements=[final],
            named=named,
            ranking=ranking,
        )


def _lesson(gold: Citation, claim: str, paper: Mapping[str, str], best_first: Sequence[str]) -> dict[str, Any]:
    """The inputs of a demo about a paper: gold paragraphs, up to three, and the best-ranked others that have content,
    in document order; long ones cut to the sentences around the one that is most like the claim. best_first: the ids by
    the ranking."""
    named = gold.evidence_para_ids[:EVIDENCE_K]
    idle = without_content(paper)
    others = [key for key in best_first if key not in gold.evidence_para_ids and key not in idle]
    long_first = sorted(others, key=lambda key: len(paper[key]) < SHORT)
    beside = long_first[: DISTRACTORS if named else DISTRACTORS + 1]
    most = dict.fromkeys(beside, DISTRACTOR) | dict.fromkeys(named, GOLD)
    keys = [key for key in paper if key in most]
    return {
        "passages": plain("\n".join(f"[{key}] {excerpt(claim, paper[key], most[key])}" for key in keys)),
        "candidates": keys,
        "nameable": able_to_decide(keys, paper),
        "ranking": [key for key in best_first if key in keys],
    }
