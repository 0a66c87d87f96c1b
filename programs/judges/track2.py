"""Track 2: does the cited paper support the claim, and which of its paragraphs show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import dspy

from aisr.programs.asking.ask import unknown_names
from aisr.programs.asking.steps import Steps
from aisr.programs.decision.layer import decide
from aisr.programs.errors import NotEmbedded, UserError
from aisr.programs.judges.mould import LabelJudge
from aisr.programs.judges.options import LabelOptions, SearchOptions
from aisr.programs.judges.searching import Ranking
from aisr.programs.labels import CITATION_LABELS, EVIDENCE_K
from aisr.programs.records.track2 import Citation, Track2Record
from aisr.programs.retrieval import passages as paper_passages
from aisr.programs.retrieval.content import able_to_decide
from aisr.programs.retrieval.evidence_list import DEFAULT, DEPTH, EvidencePolicy, complete
from aisr.programs.retrieval.excerpts import BRIEF, LONG, lesson
from aisr.programs.retrieval.passages import Passages
from aisr.programs.retrieval.quotes import closest, paragraphs_shown, quoted
from aisr.programs.retrieval.rerank import Reranker, check_depth
from aisr.programs.retrieval.retrievers import bm25
from aisr.programs.signatures.track2 import signature_of
from aisr.programs.text.sanitize import item, plain
from aisr.programs.text.table import item_with_rows


@dataclass(frozen=True, kw_only=True)
class Track2Options(LabelOptions, SearchOptions):
    """context_tokens: how much of a paper is shown, all of it where it is shorter; sifted: which of it
    (see `retrieval.passages.chosen`); rerank: how many of the best paragraphs the LM puts in order first (0: none, it
    is not asked); ids: how many it is asked to name; listed: whether those that it may name stand once more at the end;
    quotes: whether it quotes a sentence for each that can be submitted."""

    context_tokens: int = paper_passages.USUAL
    sifted: bool = True
    rerank: int = 0
    ids: int = 5
    listed: bool = True
    quotes: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not EVIDENCE_K <= self.ids <= DEPTH:
            raise UserError(f"ids is {self.ids}; expected {EVIDENCE_K} to {DEPTH}")
        paper_passages.check_budget(self.context_tokens)
        check_depth(self.rerank)


class Track2Judge(LabelJudge, Ranking):
    """Labels a claim and names its evidence, reading the best paragraphs of a paper. naming: how evidence is named."""

    Given: ClassVar[type[Track2Options]] = Track2Options
    given: Track2Options
    labels = CITATION_LABELS
    naming: EvidencePolicy = DEFAULT

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if self.given.rerank:
            self.reranker = Reranker(self.given.rerank)
        self.judge = dspy.Predict(signature_of(self.given.quotes, self.given.states, self.given.ids, self.given.listed))

    @property
    def context_tokens(self) -> int:
        """How much of a paper is shown."""
        return self.given.context_tokens

    def prepare(self, record: Track2Record) -> dspy.Example:
        """The record as an example: inputs `passages`, `claim`, `shown`, `nameable` (those of them that can decide),
        `ranking` (paragraph ids) and `paper`, all its paragraphs by id, if they are to be reranked; where it is
        labelled, also `label`, `evidence_ids` (the gold ones that are shown), `gold`, and `gold_rank`, that of the best
        gold paragraph, from 1 (None: there is none), `incomplete` (none of its gold paragraphs is shown) and `lesson`,
        its fields as a demo.

        A record whose texts could not be embedded has the reason as its input `failure`, and is failed without being
        asked about.
        """
        raw = record.paragraphs
        paper = {key: item_with_rows(text, raw.__contains__) for key, text in raw.items()}
        failed: dict[str, str] = {}
        try:
            found = paper_passages.passages(
                record.claim_text, paper, self.context_tokens, self.match, self.given.sifted
            )
        except NotEmbedded as error:
            found, failed = Passages("", [], list(paper)), {"failure": str(error)}
        inputs: dict[str, Any] = {
            "passages": plain(found.text),
            "claim": item(record.claim_text, paper.__contains__),
            "shown": found.shown,
            "nameable": able_to_decide(found.shown, paper),
            "ranking": found.ranking if self.given.rerank else found.ranking[:DEPTH],
        }
        if self.given.rerank:
            inputs["paper"] = paper
        right: dict[str, Any] = {"shown_ids": _listed(found.shown)} if self.given.listed else {}
        if record.gold is not None:
            right |= self._right(record.gold, record.claim_text, paper, found, inputs)
        if failed and "gold_rank" in right:
            right["gold_rank"] = None
        return self.example(record, inputs | failed, right)

    def _right(
        self, gold: Citation, claim: str, paper: dict[str, str], found: Passages, inputs: Mapping[str, Any]
    ) -> dict[str, Any]:
        """What stands beside the inputs of a labelled record."""
        visible = [key for key in gold.evidence_para_ids if key in found.shown][: self.given.ids]
        ids, beside, text = lesson(claim, paper, gold.evidence_para_ids, found.ranking)
        taught: dict[str, Any] = {
            "passages": plain(text),
            "evidence_ids": ids,
            "shown": beside,
            "nameable": able_to_decide(beside, paper),
        }
        if self.given.listed:
            taught["shown_ids"] = _listed(beside)
        right = {
            "gold": gold,
            "label": gold.label,
            "evidence_ids": visible,
            "gold_rank": min((found.ranking.index(key) + 1 for key in gold.evidence_para_ids), default=None),
            "incomplete": bool(gold.evidence_para_ids) and not visible,
            "lesson": taught,
        }
        if len(text) > LONG and not self.given.quotes:  # which might be cut off
            brief = lesson(claim, paper, gold.evidence_para_ids, found.ranking, BRIEF)
            right["brief"] = {"passages": plain(brief.text)}
        if not self.given.rerank:  # else the LM ranks the whole paper again, whatever is shown
            taught |= {"ranking": [key for key in found.ranking if key in beside]}
        if self.given.quotes:
            lines = paragraphs_shown(inputs["passages"], found.shown) if visible else {}
            right["evidence_quotes"] = [self._closest(claim, lines[key]) for key in visible]
            taught["evidence_quotes"] = [self._closest(claim, paper[key]) for key in ids]
        return right

    def _closest(self, claim: str, paragraph: str) -> str:
        """The sentence of a paragraph that tells most about a claim: by the ranker, where there is one."""
        return closest(claim, paragraph, self.ranker.of_sentences() if self.ranker else bm25)

    def ranked(self, claim: str, paragraphs: Mapping[str, str]) -> list[str]:
        """All paragraph ids of a paper, best first: by the retriever, and reordered by the LM where it reranks."""
        ranking = paper_passages.rank(claim, paragraphs, self.match)
        return self.reranker(claim, paragraphs, ranking) if self.given.rerank else ranking

    def lessons(self, example: dspy.Example) -> list[dspy.Example]:
        """The same with gold evidence and the hardest distractors alone: short, and never without what decided."""
        return [example.copy(**example.lesson)]

    def steps(
        self,
        passages: str,
        claim: str,
        shown: list[str],
        ranking: list[str],
        paper: dict[str, str] | None = None,
        nameable: Sequence[str] = (),
    ) -> Steps[dspy.Prediction]:
        """`label`, `evidence_para_ids` (up to three, best first) and, if asked for, `quotes` (by id) and the `quotable`
        paragraphs, all that were shown; `judgements`, of the one claim (see
        `aisr.programs.asking.label_probabilities`), `named`, the ids that the model gave, and `ranking`."""
        seen = passages
        if self.given.rerank and paper:
            ranking = yield from self.reranker.steps(claim, paper, ranking)
            most = self.context_tokens
            found = paper_passages.chosen(claim, paper, ranking, most, self.given.sifted)
            seen, shown = plain(found.text), found.shown
            nameable = able_to_decide(shown, paper)
        (judged,), answer = yield from self.labelled(
            self.judge,
            claim,
            "label",
            lambda prediction: unknown_names(prediction.evidence_ids, shown, "evidence id"),
            {
                "evidence_ids": {"items": {"enum": list(nameable or shown)}, "maxItems": self.given.ids},
                "evidence_quotes": {"maxItems": EVIDENCE_K},
            },
            passages=seen,
            claim=claim,
            **({"shown_ids": _listed(shown)} if self.given.listed else {}),
        )
        (final,) = decide(self.decision, [claim], passages, [judged])
        ids = complete(final.label, answer.evidence_ids, ranking, self.naming)
        result = dspy.Prediction(
            label=final.label,
            evidence_para_ids=ids,
            judgements=[final],
            named=answer.evidence_ids,
            ranking=ranking,
        )
        if self.given.quotes:
            pairs = dict(zip(answer.evidence_ids, answer.evidence_quotes, strict=False))
            quotable = paragraphs_shown(seen, shown)
            best = {key: self._closest(claim, quotable[key]) for key in ids if key in quotable}
            result.quotable, result.quotes = quotable, quoted(claim, ids, pairs, quotable, best)
        return result


def _listed(ids: Sequence[str]) -> str:
    """Ids as a list to name some of."""
    return plain(", ".join(ids))
