"""How likely each label is, as a model's answer tells it.

Five sources, the best that the backend has: what a decision model gives for each option; the log-probabilities of the
answer's tokens; what the model states beside each label (`programs/asking/stated.py`); how often several answers agree;
or a single answer. A decision layer that was fitted makes a sixth of any of them. Which one it was goes with every
judgement.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

from aisr.programs.asking import stated
from aisr.programs.errors import UserError

Source = Literal["options", "logprobs", "stated", "samples", "vote", "layer"]
SOURCES = {  # in words
    "options": "a decision model",
    "logprobs": "log-probabilities",
    "stated": "stated by the LM",
    "samples": "agreement of samples",
    "vote": "single votes",
    "layer": "decision layer",
}
# Where a program takes them from. auto: log-probabilities where they come, else what is stated; logprobs: these, else
# the votes of its samples; and the others only that.
Chances = Literal["auto", "logprobs", "stated", "samples", "vote"]
STATING = ("auto", "stated")
ROUNDING = 1e-3  # how far above 0 a log-probability may be
HALF_VOTE = 0.5  # added to each label's votes, so that no label is impossible for want of samples (Jeffreys' prior)


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


def from_votes(votes: Sequence[str], labels: Sequence[str]) -> Judgement:
    """The commonest of the votes (of equals the first), and how often each label was said."""
    count = Counter(votes)
    total = len(votes) + HALF_VOTE * len(labels)
    chances = [(count[label] + HALF_VOTE) / total for label in labels]
    return Judgement(max(votes, key=lambda label: count[label]), chances, "samples" if len(votes) > 1 else "vote")


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
        Judgement(label, row, "stated") if row else from_votes([label], labels)
        for label, row in zip(said, found, strict=True)
    ]


def judgements_of(
    answers: Sequence[Any],
    field: str,
    said: Sequence[Sequence[str]],
    labels: Sequence[str],
    chances: Chances = "logprobs",
    decided: bool = False,
) -> list[Judgement]:
    """A judgement for each slot of an answer, from the source that `chances` names, or else from the votes of all.

    said: for each answer, the labels that its output `field` holds, one a slot; decided: by a decision model, whose
    tokens are whole labels.
    """
    logprobs = answers[0].get("logprobs") if chances in ("auto", "logprobs") else None
    found = from_logprobs(logprobs.content, field, said[0], labels) if logprobs else None
    if found:
        return [one._replace(source="options") for one in found] if decided else found
    if chances in STATING:
        value = answers[0].get(stated.FIELD)
        return from_stated([value] if isinstance(value, str) else value, said[0], labels)
    return [from_votes(votes, labels) for votes in zip(*said, strict=True)]


def check_chances(chances: str, samples: int) -> Chances:
    """Where chances come from, if it can be that. Raises UserError otherwise."""
    if chances not in get_args(Chances):
        raise UserError(f"chances is {chances!r}; one of: {', '.join(get_args(Chances))}")
    if chances == "samples" and samples < 2:
        raise UserError("chances by samples need two or more of them (--samples 5)")
    if chances in (*STATING, "vote") and samples > 1:
        raise UserError(f"chances is {chances}, which asks once; samples is {samples} (logprobs and samples take some)")
    return chances  # type: ignore[return-value]


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
