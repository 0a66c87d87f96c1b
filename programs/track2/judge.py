"""Track 2: does the cited paper support the claim, and which of its paragraphs show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import dspy

from aisr.base.errors import NotEmbedded
from aisr.programs.ask import Steps, unknown_names
from aisr.programs.base import LabelJudge, LabelOptions, SearchOptions
from aisr.programs.ranker import DEPTH, EvidencePolicy
from aisr.programs.retrieval import USUAL_TOKENS, Passages, able_to_decide, excerpt, select_passages, without_content
from aisr.programs.text import item, item_with_rows, plain
from aisr.programs.track2.prompt import NAMED, signature_of
from aisr.programs.track2.record import CITATION_LABELS, EVIDENCE_K, Citation, Track2Record

DISTRACTORS = 2  # beside gold paragraphs; one more where there are none
SHORT = 60  # characters; a shorter paragraph says little, and stands in for a distractor only where there is no other
# Characters of one gold paragraph and of one distractor in a demo: six demos fit into 3,000 tokens. Brief ones are
# for a demo that would be too long.
USUAL_LENGTHS, BRIEF_LENGTHS = (1200, 500), (600, 250)
LONG_LESSON = 2000  # characters of all together that may be too long


@dataclass(frozen=True, kw_only=True)
class Track2Options(LabelOptions, SearchOptions):
    """The options of a Track 2 judge."""

    context_tokens: int = field(
        default=USUAL_TOKENS,
        metadata={"help": "How many tokens of a paper the LM reads; all of it where it is shorter.", "min": 1},
    )


class Track2Judge(LabelJudge):
    """Labels a claim and names its evidence, from the best paragraphs of a paper."""

    Options: ClassVar[type[Track2Options]] = Track2Options
    options: Track2Options
    labels = CITATION_LABELS
    naming: EvidencePolicy = EvidencePolicy()
    takes_ranker = True

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.judge = dspy.Predict(signature_of(self.options.states))

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
        right: dict[str, Any] = {"shown_ids": _listed(read.keys)}
        if record.gold is not None:
            right |= self._right(record.gold, record.claim_text, paper, read)
        return self.example(record, inputs | failed, right)

    @staticmethod
    def _right(gold: Citation, claim: str, paper: dict[str, str], read: Passages) -> dict[str, Any]:
        """What stands beside the inputs of a labelled record."""
        visible = [key for key in gold.evidence_para_ids if key in read.keys][:NAMED]
        ids, keys, text = lesson(claim, paper, gold.evidence_para_ids, read.ranking)
        fields: dict[str, Any] = {
            "passages": plain(text),
            "evidence_ids": ids,
            "candidates": keys,
            "nameable": able_to_decide(keys, paper),
            "shown_ids": _listed(keys),
            "ranking": [key for key in read.ranking if key in keys],
        }
        right = {
            "gold": gold,
            "label": gold.label,
            "evidence_ids": visible,
            "incomplete": bool(gold.evidence_para_ids) and not visible,
            "lesson": fields,
        }
        if len(text) > LONG_LESSON:  # which might be cut off
            brief = lesson(claim, paper, gold.evidence_para_ids, read.ranking, BRIEF_LENGTHS)
            right["brief"] = {"passages": plain(brief.text)}
        return right

    def lessons(self, example: dspy.Example) -> list[dspy.Example]:
        """The same with gold evidence and the hardest distractors alone: short, and never without what decided."""
        return [example.copy(**example.lesson)]

    def steps(
        self,
        passages: str,
        claim: str,
        candidates: list[str],
        ranking: list[str],
        nameable: Sequence[str] = (),
    ) -> Steps:
        """`label`, `evidence_para_ids` (up to three, best first); `judgements`, of the one claim (see
        `aisr.programs.probabilities`), `named`, the ids that the model gave, and `ranking`."""
        answer = yield self.question(
            self.judge,
            claim,
            lambda answer: unknown_names(answer.evidence_ids, candidates, "evidence id"),
            {"evidence_ids": {"items": {"enum": list(nameable or candidates)}, "maxItems": NAMED}},
            passages=passages,
            claim=claim,
            shown_ids=_listed(candidates),
        )
        (final,) = self.decide([claim], passages, self.judgements(self.judge, answer, "label"))
        return dspy.Prediction(
            label=final.label,
            evidence_para_ids=self.naming.choose(final.label, answer.evidence_ids, ranking),
            judgements=[final],
            named=answer.evidence_ids,
            ranking=ranking,
        )


def _listed(ids: Sequence[str]) -> str:
    """Ids as a list to name some of."""
    return plain(", ".join(ids))


class Lesson(NamedTuple):
    """A paper as a demo shows it."""

    gold: list[str]  # the gold ids, up to three
    keys: list[str]  # these and the best-ranked others that have content, in document order
    text: str  # their passages, long ones cut to the sentences around the one that is most like the claim


def lesson(
    claim: str,
    paragraphs: Mapping[str, str],
    gold: Sequence[str],
    best_first: Sequence[str],
    lengths: tuple[int, int] = USUAL_LENGTHS,
) -> Lesson:
    """What a demo shows of a paper. best_first: its ids by the ranking; lengths: the most characters of a gold
    paragraph and of another."""
    named = list(gold[:EVIDENCE_K])
    idle = without_content(paragraphs)
    others = [key for key in best_first if key not in gold and key not in idle]
    long_first = sorted(others, key=lambda key: len(paragraphs[key]) < SHORT)
    beside = long_first[: DISTRACTORS if named else DISTRACTORS + 1]
    most = dict.fromkeys(beside, lengths[1]) | dict.fromkeys(named, lengths[0])
    keys = [key for key in paragraphs if key in most]
    return Lesson(named, keys, "\n".join(f"[{key}] {excerpt(claim, paragraphs[key], most[key])}" for key in keys))
