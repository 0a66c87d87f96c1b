"""How likely each label is, as a model's answer says.

There are three sources, the best that the backend has: the log-probabilities of the answer's tokens; verbalized
confidence; or one vote. Which one it was goes with every judgement.

Confidence is verbalized beside each label in one short string: the percent of that label, then the likeliest other
label and its percent, as in "70, Overstate 20". Of the forms that name a runner-up it takes the fewest tokens, and
nothing in it can break an answer: what cannot be read leaves the label as a vote. Demos from labelled records leave it
out: nobody knows how likely their labels are.
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
    """Return whether a demo holds an answer: all output fields but the confidence, which no labelled record has."""
    return all(name in demo for name in outputs if name != CONFIDENCE)


def read_confidence(value: Any, label: str, labels: Sequence[str]) -> list[float] | None:
    """Return the probability of each label, in the order of `labels`, as a value of the field states it beside `label`.
    What it leaves open is shared evenly among the labels that it does not name. None for a value of another form, and
    for impossible percents: over 100, also together, or 0 for the label itself."""
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
    left = max(100.0 - sum(percents.values()), 0.0)
    share = left / max(len(labels) - len(percents), 1)
    mass = [percents.get(name, share) for name in labels]
    total = math.fsum(mass)
    return [number / total for number in mass]


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
    """Return a judgement for each label of `answers`, which the tokens spell after the name of the output `field`; None
    where the labels do not occur in them or a number is no log-probability. content: the tokens of the answer with
    their likeliest alternatives, as OpenAI's API lists them."""
    tokens = list(content or [])
    for token in tokens:
        for entry in (token, *(token.top_logprobs or ())):
            if not isinstance(entry.logprob, int | float) or not -math.inf <= entry.logprob <= ROUNDING:
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
    """Return a judgement for each slot of an answer: from its log-probabilities, else its confidence, else by vote.

    answers: the labels that its output `field` holds, one a slot; states: whether it states a confidence in them. A
    confidence that cannot be read leaves its label as a vote; a wrong number of them leaves all labels as votes.
    """
    logprobs = answer.get("logprobs")
    if logprobs:
        judgements = from_logprobs(logprobs.content, field, answers, labels)
        if judgements:
            return judgements
    stated = answer.get(CONFIDENCE) if states else None
    if isinstance(stated, str):
        stated = [stated]
    if not isinstance(stated, list | tuple) or len(stated) != len(answers):
        stated = [None] * len(answers)
    judgements = []
    for label, value in zip(answers, stated, strict=True):
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

    def add(names: frozenset[str], mass: float) -> None:
        for name in names:
            probabilities[name] += mass / len(names)

    possible, share, read = frozenset(labels), 1.0, 0
    end = 0
    for token in tokens:
        begin, end = end, end + len(token.token)
        if end <= place:
            continue
        if len(possible) == 1 or read >= len(label):
            break
        lead = token.token[: max(place - begin, 0)]  # before the label
        piece = token.token[len(lead) :]
        chosen = _continued(possible, read, piece)
        mass = _mass(token, lead, possible, read)
        total = math.fsum(mass.values())
        if total <= 0 or chosen not in mass:
            break
        for group, weight in mass.items():
            if group != chosen:
                add(group, share * weight / total)
        share *= mass[chosen] / total
        possible = chosen
        read += len(piece)
    add(possible, share)
    return list(probabilities.values())


def _mass(token: Any, lead: str, possible: frozenset[str], read: int) -> dict[frozenset[str], float]:
    """Return the probability of each set of labels that an alternative at this token leaves possible."""
    logprobs = {token.token: token.logprob}
    for entry in token.top_logprobs or ():
        logprobs[entry.token] = entry.logprob
    mass: dict[frozenset[str], float] = {}
    for text, logprob in logprobs.items():
        if not text.startswith(lead):
            continue
        group = _continued(possible, read, text[len(lead) :])
        if group:
            mass[group] = mass.get(group, 0.0) + math.exp(logprob)
    return mass


def _continued(labels: frozenset[str], read: int, piece: str) -> frozenset[str]:
    """Return the labels of which a token goes on with what is left behind `read` characters, or ends it and more."""
    continued: set[str] = set()
    for label in labels:
        rest = label[read:]
        if rest and piece and (rest.startswith(piece) or piece.startswith(rest)):
            continued.add(label)
    return frozenset(continued)
