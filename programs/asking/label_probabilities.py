"""How likely each label is, as a model's answer tells it.

Four sources, the best that the backend has: what a decision model gives for each option; the log-probabilities of the
answer's tokens; what the model states beside each label (`programs/asking/stated.py`); or one vote. A decision layer
that was fitted makes a fifth of any of them. Which one it was goes with every judgement.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from aisr.programs.asking import stated

Source = Literal["options", "logprobs", "stated", "vote", "layer"]
SOURCES = {  # in words
    "options": "a decision model",
    "logprobs": "log-probabilities",
    "stated": "stated by the LM",
    "vote": "single votes",
    "layer": "decision layer",
}
ROUNDING = 1e-3  # how far above 0 a log-probability may be
HALF_VOTE = 0.5  # added to each label's votes: of one answer no label is impossible (Jeffreys' prior)


class Judgement(NamedTuple):
    """What a model thinks of one sentence or claim.

    label: what it says; chances: a probability for each label of the track, in its order, summing to 1; source: where
    they come from. Those of a single vote are only how it is counted: nobody is to be shown them (`known`).
    """

    label: str
    chances: list[float]
    source: Source

    @property
    def known(self) -> bool:
        """Whether there is a distribution: a single vote is none."""
        return self.source != "vote"


def from_vote(label: str, labels: Sequence[str]) -> Judgement:
    """What a single answer without probabilities counts for."""
    total = 1 + HALF_VOTE * len(labels)
    return Judgement(label, [((name == label) + HALF_VOTE) / total for name in labels], "vote")


def from_logprobs(content: Any, field: str, said: Sequence[str], labels: Sequence[str]) -> list[Judgement] | None:
    """A judgement for each label of `said`, which an answer's tokens spell after the name of its output `field`.

    content: the tokens of the answer with their likeliest alternatives, as OpenAI's API lists them. None where the
    labels cannot be found in them or a number is no log-probability.
    """
    tokens = list(content or [])
    if not all(_usable(entry) for token in tokens for entry in (token, *(token.top_logprobs or []))):
        return None
    text = "".join(entry.token for entry in tokens)
    place = max(text.find(field), 0)
    judgements = []
    for label in said:
        place = text.find(label, place)
        if place < 0:
            return None
        judgements.append(Judgement(label, _chances(tokens, place, label, labels), "logprobs"))
        place += len(label)
    return judgements


def from_stated(value: Any, said: Sequence[str], labels: Sequence[str]) -> list[Judgement]:
    """A judgement for each label of `said`, from what an answer states beside them, one a label; by the vote where that
    cannot be read, is impossible, or is of another length."""
    values = value if isinstance(value, list | tuple) and len(value) == len(said) else [None] * len(said)
    found = [stated.stated(one, label, labels) for one, label in zip(values, said, strict=True)]
    if stated.says_nothing(found):
        found = [None] * len(said)
    return [
        Judgement(label, row, "stated") if row else from_vote(label, labels)
        for label, row in zip(said, found, strict=True)
    ]


def judgements_of(
    answer: Any, field: str, said: Sequence[str], labels: Sequence[str], states: bool, decided: bool = False
) -> list[Judgement]:
    """A judgement for each slot of an answer: from its log-probabilities where it has some, else from what it states,
    else by the vote.

    said: the labels that its output `field` holds, one a slot; states: whether it was asked to state how likely they
    are; decided: by a decision model, whose tokens are whole labels.
    """
    logprobs = answer.get("logprobs")
    found = from_logprobs(logprobs.content, field, said, labels) if logprobs else None
    if found:
        return [one._replace(source="options") for one in found] if decided else found
    if states:
        value = answer.get(stated.FIELD)
        return from_stated([value] if isinstance(value, str) else value, said, labels)
    return [from_vote(label, labels) for label in said]


def _chances(tokens: Sequence[Any], place: int, label: str, labels: Sequence[str]) -> list[float]:
    """The probabilities of the labels at `place` in the text of the tokens, where `label` was written.

    Read where the labels first diverge: what follows is certain once a label is begun, so that long labels pay nothing
    for their length. Where alternatives stand for several labels ("Uns…"), their mass is shared evenly: the answer
    shows one way only. Alternatives that begin no label are left out.
    """
    chances = dict.fromkeys(labels, 0.0)
    alive, share, read = frozenset(labels), 1.0, 0
    at, begin = 0, 0
    while begin + len(tokens[at].token) <= place:
        begin += len(tokens[at].token)
        at += 1
    lead = tokens[at].token[: place - begin]
    while len(alive) > 1 and read < len(label) and at < len(tokens):
        piece = tokens[at].token[len(lead) :]
        mass = _mass(tokens[at], lead, alive, read)
        chosen = frozenset(name for name in alive if _begins(name[read:], piece))
        total = math.fsum(mass.values())
        if total <= 0 or chosen not in mass:
            break
        for group, weight in mass.items():
            if group != chosen:
                for name in group:
                    chances[name] += share * weight / total / len(group)
        share *= mass[chosen] / total
        alive, read, at, lead = chosen, read + len(piece), at + 1, ""
    for name in alive:
        chances[name] += share / len(alive)
    return [chances[name] for name in labels]


def _mass(token: Any, lead: str, alive: frozenset[str], read: int) -> dict[frozenset[str], float]:
    """The probability of each set of labels that an alternative at this token leaves possible."""
    mass: dict[frozenset[str], float] = {}
    listed = {entry.token: entry.logprob for entry in token.top_logprobs or []}
    for text, logprob in {token.token: token.logprob, **listed}.items():
        if text.startswith(lead):
            group = frozenset(name for name in alive if _begins(name[read:], text[len(lead) :]))
            if group:
                mass[group] = mass.get(group, 0.0) + math.exp(logprob)
    return mass


def _usable(entry: Any) -> bool:
    return isinstance(entry.logprob, int | float) and -math.inf <= entry.logprob <= ROUNDING


def _begins(rest: str, piece: str) -> bool:
    """Whether a token goes on with what is left of a label, or finishes it and more."""
    return bool(piece) and (rest.startswith(piece) or (bool(rest) and piece.startswith(rest)))
