"""How likely each label is, as a model's answer says.

There are three sources, the best that the backend has: the log-probabilities of the answer's tokens; verbalized
confidence; or one vote. Which one it was goes with every judgement.

Confidence is verbalized beside each label in one short string: the percent of that label, then the likeliest other
label and its percent, as in "70, Overstate 20". Of the forms that name a runner-up it takes the fewest tokens, and
nothing in it can break an answer: what cannot be read leaves the label as a vote. Labelled records that stand in a
prompt as demos leave it out: nobody knows how likely their labels are, and made-up probabilities would be an example of
a confidence that rests on nothing.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import dspy

CONFIDENCE = "how_sure"  # the output in which a model that writes states how likely its labels are
FORM = (
    "how likely that label is in percent, then the likeliest other label and its percent, such as "
    '"{example}". Be honest: of all that you call 70, seven in ten should be right'
)
MOST_PERCENT = 99.0  # percent: whoever says 100 is not believed the last one
PERCENT_ROUNDING = 1.0  # percent by which stated numbers may sum to more than 100
# "70, Overstate 20", as the prompt asks for it; of 3,051 recorded answers of a capable LM each has this form.
STATED = re.compile(r"\s*(\d{1,3}(?:\.\d{1,9})?) ?%?(?:, ?(\D{1,60}?) ?(\d{1,3}(?:\.\d{1,9})?) ?%?)?\.?\s*")


def definitions(of: Mapping[str, str]) -> str:
    """Return definitions of labels on one line, as the description of an output field takes them."""
    return "; ".join(f"{label} = {meaning}" for label, meaning in of.items())


def with_confidence(
    signature: type[dspy.Signature], labels: Sequence[str], place: int = -1, slots: str = ""
) -> type[dspy.Signature]:
    """Return a signature that also asks how likely the label is: among its outputs at `place`, -1 for the end. slots:
    what its description begins with, where there is one for each sentence; the field is then a list."""
    field: Any = dspy.OutputField(desc=slots + FORM.format(example=f"70, {labels[1]} 20"))
    wider: type[dspy.Signature] = signature.insert(place, CONFIDENCE, field, list[str] if slots else str)
    return wider


def is_complete(demo: Mapping[str, Any], outputs: Iterable[str]) -> bool:
    """Return whether a demo holds an answer: all output fields but how likely its labels are, which nobody knows of a
    labelled record."""
    return all(name in demo for name in outputs if name != CONFIDENCE)


def read_confidence(value: Any, label: str, labels: Sequence[str]) -> list[float] | None:
    """Return the probability of each label, in the order of `labels`, as a value of the field states it beside `label`.

    What it leaves open is shared evenly among the labels that it does not name. None for a value of another form, and
    for impossible percents: over 100, also together, or 0 for the label itself.
    """
    stated = STATED.fullmatch(str(value))
    if stated is None:
        return None
    percents = {label: float(stated[1])}
    if stated[2] in labels:
        percents.setdefault(stated[2], float(stated[3]))
    if max(percents.values()) <= 1:  # shares of 1, not percents
        percents = {name: 100 * number for name, number in percents.items()}
    if not percents[label] or sum(percents.values()) > 100 + PERCENT_ROUNDING:
        return None
    percents[label] = min(percents[label], MOST_PERCENT)
    total = max(100.0, sum(percents.values()))
    unnamed = [name for name in labels if name not in percents]
    rest = (total - sum(percents.values())) / len(unnamed) if unnamed else 0.0
    mass = [percents.get(name, rest) for name in labels]
    return [number / math.fsum(mass) for number in mass]


Source = Literal["logprobs", "stated", "vote"]
SOURCES = {  # in words
    "logprobs": "log-probabilities",
    "stated": "confidences stated by the LM",
    "vote": "single votes",
}
ROUNDING = 1e-3  # how far above 0 a log-probability may be
HALF_VOTE = 0.5  # added to each label's votes: of one answer no label is impossible (Jeffreys' prior)


class Judgement(NamedTuple):
    """The judgement of one sentence or claim."""

    label: str
    probabilities: list[float]  # for each label of the task, in its order, summing to 1; of a vote only how it counts
    source: Source  # where they come from

    @property
    def has_probabilities(self) -> bool:
        """Whether there is a distribution that a reader may see: a single vote is none."""
        return self.source != "vote"


def from_vote(label: str, labels: Sequence[str]) -> Judgement:
    """Return the judgement by a single answer without probabilities."""
    total = 1 + HALF_VOTE * len(labels)
    return Judgement(label, [((name == label) + HALF_VOTE) / total for name in labels], "vote")


def from_logprobs(content: Any, field: str, answers: Sequence[str], labels: Sequence[str]) -> list[Judgement] | None:
    """Return a judgement for each label of `answers`, which an answer's tokens spell after the name of its output
    `field`.

    content: the tokens of the answer with their likeliest alternatives, as OpenAI's API lists them. None where the
    labels do not occur in them or a number is no log-probability.
    """
    tokens = list(content or [])
    if not all(_usable(entry) for token in tokens for entry in (token, *(token.top_logprobs or []))):
        return None
    text = "".join(entry.token for entry in tokens)
    place = max(text.find(field), 0)
    judgements = []
    for label in answers:
        place = text.find(label, place)
        if place < 0:
            return None
        judgements.append(Judgement(label, _probabilities(tokens, place, label, labels), "logprobs"))
        place += len(label)
    return judgements


def judgements_of(
    answer: Any, field: str, answers: Sequence[str], labels: Sequence[str], states: bool
) -> list[Judgement]:
    """Return a judgement for each slot of an answer: from its log-probabilities where it has some, else from what it
    states, one confidence a slot, else by the vote.

    answers: the labels that its output `field` holds, one a slot; states: whether it states a confidence in them. A
    confidence that cannot be read or is impossible leaves its label as a vote; a number of them that is another than
    that of the slots, all of them.
    """
    logprobs = answer.get("logprobs")
    judgements = from_logprobs(logprobs.content, field, answers, labels) if logprobs else None
    if judgements:
        return judgements
    stated = answer.get(CONFIDENCE) if states else None
    values = [stated] if isinstance(stated, str) else stated
    if not isinstance(values, list | tuple) or len(values) != len(answers):
        values = [None] * len(answers)
    judgements = []
    for label, value in zip(answers, values, strict=True):
        row = read_confidence(value, label, labels)
        judgements.append(Judgement(label, row, "stated") if row else from_vote(label, labels))
    return judgements


def _probabilities(tokens: Sequence[Any], place: int, label: str, labels: Sequence[str]) -> list[float]:
    """Return the probabilities of the labels at `place` in the text of the tokens, where `label` was written.

    Read where the labels first diverge: what follows is certain once a label is begun, so that long labels pay nothing
    for their length. Where alternatives stand for several labels ("Uns…"), their mass is shared evenly: the answer
    shows one way only. Alternatives that begin no label are left out.
    """
    probabilities = dict.fromkeys(labels, 0.0)
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
                    probabilities[name] += share * weight / total / len(group)
        share *= mass[chosen] / total
        alive, read, at, lead = chosen, read + len(piece), at + 1, ""
    for name in alive:
        probabilities[name] += share / len(alive)
    return [probabilities[name] for name in labels]


def _mass(token: Any, lead: str, alive: frozenset[str], read: int) -> dict[frozenset[str], float]:
    """Return the probability of each set of labels that an alternative at this token leaves possible."""
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
    """Return whether a token goes on with what is left of a label, or finishes it and more."""
    return bool(piece) and (rest.startswith(piece) or (bool(rest) and piece.startswith(rest)))
