"""What labelled records teach without an LM call: answers to other records, by what was fitted on some."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from aisr.inference.judge import Outcome
from aisr.metrics.judgements import Gold
from aisr.optimize.decision import rule
from aisr.optimize.decision.folds import Judged
from aisr.optimize.decision.priors import count, fit_cues, fit_wording
from aisr.programs.asking.label_probabilities import HALF_VOTE, Judgement
from aisr.programs.decision.cues import measure
from aisr.programs.decision.layer import CUES, LM, WORDING, Decision, Rule, as_it_is, logs
from aisr.programs.retrieval.retrievers import matcher, order
from aisr.tasks.judgements import Judgements

NEAREST = 5  # statements that vote
WEIGHTED, CLASSIFIER, NEIGHBOURS = "LM + weights", "wording + cues, no LM", "nearest labelled, no LM"
Said = list[list[Judgement]]  # of each statement of each record


def answers(facet: Judgements, taught: Sequence[Judged], asked: Sequence[Judged], lm: bool) -> Mapping[str, Said]:
    """What is said of each record that is asked about, by each thing that was fitted on others. lm: whether an LM
    judged them all, so that a decision layer has something to stand on.

    The layer is fitted as a compile does, but kept in any case: to so few records a compile would keep none.
    """
    found = {CLASSIFIER: list(_decided(facet, _classifier(facet, taught), asked))}
    if lm:
        found[WEIGHTED] = list(_decided(facet, _weighted(facet, taught), asked))
    return {**found, NEIGHBOURS: list(_neighbours(facet, taught, asked))}


def silent(facet: Judgements, statements: int) -> Outcome:
    """What a model says that is sure of nothing."""
    even = [1 / len(facet.labels)] * len(facet.labels)
    return Outcome(None, None, [Judgement(facet.neutral, even, "vote")] * statements)


def _weighted(facet: Judgements, taught: Sequence[Judged]) -> Decision:
    chances = [one.chances for row in taught for one in row.outcomes[LM].judgements]
    gold = Gold.of([facet.allowed(row.example.gold) for row, _ in taught], facet.labels, facet.f1_share)
    start = as_it_is([LM], len(facet.labels))
    blend = rule.fit({LM: logs(np.array(chances))}, gold, None, start)
    return Decision(labels=list(facet.labels), majority=facet.neutral, kept=True, says=blend.says, means=blend.means)


def _classifier(facet: Judgements, taught: Sequence[Judged]) -> Decision:
    """The wording and the cues, each counting the same; sure of nothing for the LM."""
    texts = [text for row, _ in taught for text in facet.statements(row.example)]
    signs = [measure(t, facet.grounds(row.example)) for row, _ in taught for t in facet.statements(row.example)]
    first = np.array([facet.labels.index(label) for row, _ in taught for label in facet.said(row.example.gold)])
    every = np.ones(len(texts), dtype=np.bool_)
    both = Rule(weights={WORDING: 0.5, CUES: 0.5}, offsets=[0.0] * len(facet.labels))
    return Decision(
        labels=list(facet.labels),
        majority=facet.neutral,
        kept=True,
        says=both,
        means=both,
        wording=fit_wording(count(texts), every, first, len(facet.labels)),
        cues=fit_cues(np.array(signs), first, len(facet.labels)),
    )


def _decided(facet: Judgements, layer: Decision, asked: Sequence[Judged]) -> Iterator[list[Judgement]]:
    for row, outcomes in asked:
        judgements = {LM: outcomes[LM].judgements}
        yield layer.decide(facet.statements(row.example), facet.grounds(row.example), judgements)


def _neighbours(facet: Judgements, taught: Sequence[Judged], asked: Sequence[Judged]) -> Iterator[list[Judgement]]:
    """The commonest label of the nearest statements, of equals that of the nearest."""
    known = [text for row, _ in taught for text in facet.statements(row.example)]
    golds = [label for row, _ in taught for label in facet.said(row.example.gold)]
    match = matcher("bm25")
    for row, _ in asked:
        near = (order(match(text, known))[:NEAREST] for text in facet.statements(row.example))
        yield [from_votes([golds[k] for k in places], facet.labels) for places in near]


def from_votes(votes: Sequence[str], labels: Sequence[str]) -> Judgement:
    """The commonest of the votes (of equals the first), and how often each label was said."""
    total = len(votes) + HALF_VOTE * len(labels)
    chances = [(votes.count(label) + HALF_VOTE) / total for label in labels]
    return Judgement(max(votes, key=votes.count), chances, "vote")
