"""Track 2: does the cited paper support the claim, and which of its paragraphs show it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import dspy

from aisr.programs.asking.ask import unknown_names
from aisr.programs.asking.steps import Steps
from aisr.programs.base import LabelJudge, LabelOptions, SearchOptions
from aisr.programs.decision.layer import decide
from aisr.programs.errors import NotEmbedded
from aisr.programs.labels import CITATION_LABELS
from aisr.programs.retrieval import passages as paper_passages
from aisr.programs.retrieval.content import able_to_decide
from aisr.programs.retrieval.evidence_list import DEFAULT, DEPTH, EvidencePolicy, complete
from aisr.programs.retrieval.excerpts import BRIEF, LONG, lesson
from aisr.programs.retrieval.passages import Passages
from aisr.programs.text.sanitize import item, item_with_rows, plain
from aisr.programs.track2.prompt import NAMED, signature_of
from aisr.programs.track2.record import Citation, Track2Record


@dataclass(frozen=True, kw_only=True)
class Track2Options(LabelOptions, SearchOptions):
    """The options of a Track 2 judge."""

    context_tokens: int = field(
        default=paper_passages.USUAL,
        metadata={"help": "How many tokens of a paper are shown; all of it where it is shorter.", "min": 1},
    )


class Track2Judge(LabelJudge):
    """Labels a claim and names its evidence, reading the best paragraphs of a paper. naming: how evidence is named."""

    Options: ClassVar[type[Track2Options]] = Track2Options
    options: Track2Options
    labels = CITATION_LABELS
    naming: EvidencePolicy = DEFAULT
    takes_ranker = True

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.judge = dspy.Predict(signature_of(self.options.states))

    def prepare(self, record: Track2Record) -> dspy.Example:
        """The record as an example: inputs `passages`, `claim`, `shown`, `nameable` (those of them that can decide),
        `ranking` (paragraph ids); where it is labelled, also `label`, `evidence_ids` (the gold ones that are shown),
        `gold`, `incomplete` (none of its gold paragraphs is shown) and `lesson`, its fields as a demo.

        A record whose texts could not be embedded has the reason as its input `failure`, and is failed without being
        asked about.
        """
        raw = record.paragraphs
        paper = {key: item_with_rows(text, raw.__contains__) for key, text in raw.items()}
        failed: dict[str, str] = {}
        try:
            found = paper_passages.passages(record.claim_text, paper, self.options.context_tokens, self.match)
        except NotEmbedded as error:
            found, failed = Passages("", [], list(paper)), {"failure": str(error)}
        inputs: dict[str, Any] = {
            "passages": plain(found.text),
            "claim": item(record.claim_text, paper.__contains__),
            "shown": found.shown,
            "nameable": able_to_decide(found.shown, paper),
            "ranking": found.ranking[:DEPTH],
        }
        right: dict[str, Any] = {"shown_ids": _listed(found.shown)}
        if record.gold is not None:
            right |= self._right(record.gold, record.claim_text, paper, found)
        return self.example(record, inputs | failed, right)

    @staticmethod
    def _right(gold: Citation, claim: str, paper: dict[str, str], found: Passages) -> dict[str, Any]:
        """What stands beside the inputs of a labelled record."""
        visible = [key for key in gold.evidence_para_ids if key in found.shown][:NAMED]
        ids, beside, text = lesson(claim, paper, gold.evidence_para_ids, found.ranking)
        taught: dict[str, Any] = {
            "passages": plain(text),
            "evidence_ids": ids,
            "shown": beside,
            "nameable": able_to_decide(beside, paper),
            "shown_ids": _listed(beside),
            "ranking": [key for key in found.ranking if key in beside],
        }
        right = {
            "gold": gold,
            "label": gold.label,
            "evidence_ids": visible,
            "incomplete": bool(gold.evidence_para_ids) and not visible,
            "lesson": taught,
        }
        if len(text) > LONG:  # which might be cut off
            brief = lesson(claim, paper, gold.evidence_para_ids, found.ranking, BRIEF)
            right["brief"] = {"passages": plain(brief.text)}
        return right

    def lessons(self, example: dspy.Example) -> list[dspy.Example]:
        """The same with gold evidence and the hardest distractors alone: short, and never without what decided."""
        return [example.copy(**example.lesson)]

    def steps(
        self,
        passages: str,
        claim: str,
        shown: list[str],
        ranking: list[str],
        nameable: Sequence[str] = (),
    ) -> Steps[dspy.Prediction]:
        """`label`, `evidence_para_ids` (up to three, best first); `judgements`, of the one claim (see
        `aisr.programs.asking.label_probabilities`), `named`, the ids that the model gave, and `ranking`."""
        (judged,), answer = yield from self.labelled(
            self.judge,
            claim,
            "label",
            lambda prediction: unknown_names(prediction.evidence_ids, shown, "evidence id"),
            {"evidence_ids": {"items": {"enum": list(nameable or shown)}, "maxItems": NAMED}},
            passages=passages,
            claim=claim,
            shown_ids=_listed(shown),
        )
        (final,) = decide(self.decision, [claim], passages, [judged])
        ids = complete(final.label, answer.evidence_ids, ranking, self.naming)
        return dspy.Prediction(
            label=final.label,
            evidence_para_ids=ids,
            judgements=[final],
            named=answer.evidence_ids,
            ranking=ranking,
        )


def _listed(ids: Sequence[str]) -> str:
    """Ids as a list to name some of."""
    return plain(", ".join(ids))
