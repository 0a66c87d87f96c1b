"""Track 2: does the cited paper support the claim, and which of its paragraphs show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import dspy
import numpy as np

from aisr.programs.asking.ask import unknown_names
from aisr.programs.asking.steps import Steps
from aisr.programs.decision.layer import LM, Decision, decide
from aisr.programs.errors import NotEmbedded, UserError
from aisr.programs.judges.mould import LabelJudge
from aisr.programs.judges.options import LabelOptions, SearchOptions
from aisr.programs.judges.searching import Ranking
from aisr.programs.labels import CITATION_LABELS, EVIDENCE_K
from aisr.programs.records.track2 import Citation, Track2Record
from aisr.programs.retrieval import passages as paper_passages
from aisr.programs.retrieval.content import able_to_decide
from aisr.programs.retrieval.evidence_list import DEFAULT, DEPTH, EvidencePolicy, complete, log_odds
from aisr.programs.retrieval.lesson import BRIEF, LONG, lesson
from aisr.programs.retrieval.passages import Passages
from aisr.programs.retrieval.quotes import closest, paragraphs_shown, quoted
from aisr.programs.retrieval.rerank import Reranker, check_depth
from aisr.programs.retrieval.retrievers import bm25
from aisr.programs.signatures.track2 import signature_of
from aisr.programs.text.sanitize import item, plain
from aisr.programs.text.table import item_with_rows


@dataclass(frozen=True, kw_only=True)
class Track2Options(LabelOptions, SearchOptions):
    """context_tokens: how much of a paper is shown (0: two fifths of it, see `retrieval.budget`); sifted: which of it
    (see `retrieval.passages.chosen`); rerank: how many of the best paragraphs the LM puts in order first (0: none, it
    is not asked); ids: how many it is asked to name; listed: whether those that it may name stand once more at the end;
    quotes: whether it quotes a sentence for each that can be submitted."""

    context_tokens: int = 0
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
        """How much of a paper is shown. It may be set after the program was built, when train has shown how much is
        worth its price."""
        return self.given.context_tokens

    @context_tokens.setter
    def context_tokens(self, tokens: int) -> None:
        self.given = replace(self.given, context_tokens=tokens)

    def prepare(self, record: Track2Record) -> dspy.Example:
        """The record as an example: inputs `passages`, `claim`, `shown`, `nameable` (those of them that can decide),
        `ranking` (paragraph ids), `odds` (of the first of these by the fitted ranker: see `evidence_list.complete`),
        and `paper`, all its paragraphs by id, if they are to be reranked; where it is labelled, also `label`,
        `evidence_ids` (the gold ones that are shown), `gold`, and `gold_rank`, that of the best gold paragraph, from 1
        (None: there is none), `incomplete` (none of its gold paragraphs is shown) and `lesson`, its fields as a demo.

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
            "odds": self._odds(found),
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
            taught |= {"ranking": [key for key in found.ranking if key in beside], "odds": []}
        if self.given.quotes:
            lines = paragraphs_shown(inputs["passages"], found.shown) if visible else {}
            right["evidence_quotes"] = [self._closest(claim, lines[key]) for key in visible]
            taught["evidence_quotes"] = [self._closest(claim, paper[key]) for key in ids]
        return right

    def _odds(self, found: Passages) -> list[float]:
        """What the fitted ranker gives to the best paragraphs; the scores of a retriever are no odds, nor is an LM's
        order."""
        known = self.ranker is not None and not self.given.rerank
        return log_odds(np.array(found.scores))[:DEPTH].tolist() if known else []

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
        odds: Sequence[float] = (),
        nameable: Sequence[str] = (),
    ) -> Steps[dspy.Prediction]:
        """`label`, `evidence_para_ids` (up to three, best first) and, if asked for, `quotes` (by id) and the `quotable`
        paragraphs, all that were shown; `judgements`, of the one claim (see
        `aisr.programs.asking.label_probabilities`), `named`, the ids that the model gave, `ranking` and `odds`."""
        seen = passages
        if self.given.rerank and paper:
            ranking = yield from self.reranker.steps(claim, paper, ranking)
            most = self.context_tokens or paper_passages.budget(paper)
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
        model = dspy.Prediction(judgements=[judged], named=answer.evidence_ids, ranking=ranking, odds=odds)
        if self.given.quotes:
            model.quotes = dict(zip(answer.evidence_ids, answer.evidence_quotes, strict=False))
            model.quotable = paragraphs_shown(seen, shown)
            likely = [*answer.evidence_ids, *ranking[: 2 * EVIDENCE_K]]  # more than can be named in the end
            model.best = {key: self._closest(claim, model.quotable[key]) for key in likely if key in model.quotable}
        return self.conclude(self.decision, {LM: model}, passages=passages, claim=claim, naming=self.naming)

    @staticmethod
    def conclude(
        decision: Decision | None,
        said: Mapping[str, dspy.Prediction],
        *,
        passages: str,
        claim: str,
        naming: EvidencePolicy = DEFAULT,
        **_: Any,
    ) -> dspy.Prediction:
        """What `forward` gives, from the `judgements`, `named` ids, `ranking` and `odds` of one model or several, by
        their names; from the `quotes`, the `quotable` paragraphs and their `best` sentences (by id) of those that
        quote."""
        judged = decide(decision, [claim], passages, {name: one.judgements for name, one in said.items()})
        named = [one.named for one in said.values()]
        first = next(iter(said.values()))
        ranking, odds = first.ranking, first.get("odds", ())
        ids = complete(judged[0].label, named, ranking, naming, odds)
        result = dspy.Prediction(
            label=judged[0].label, evidence_para_ids=ids, judgements=judged, named=named[0], ranking=ranking, odds=odds
        )
        quoting = [one for one in said.values() if "quotable" in one]
        if quoting:
            # Of a paragraph that it did not name, a member of an ensemble has no quote but the one that stood in.
            pairs = [(key, one.quotes[key]) for one in reversed(quoting) for key in one.named if key in one.quotes]
            result.quotable = {key: text for one in quoting for key, text in one.quotable.items()}
            result.best = {key: text for one in reversed(quoting) for key, text in one.best.items()}
            result.quotes = quoted(claim, ids, dict(pairs), result.quotable, result.best)
        return result


def _listed(ids: Sequence[str]) -> str:
    """Ids as a list to name some of."""
    return plain(", ".join(ids))
