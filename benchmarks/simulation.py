"""Corpora and pools of candidate programs that exist only as counts: what `benchmarks.objective` measures
objectives on.

A *world* is a label mix. Published figures behind it (guidelines, section 1; the test phase as participants described
it): Track 1 train-dev has 3,333 paragraphs of 5.3 sentences, 33 % of them with one unsupported sentence (93.7 %
Supported), and 527 of the 1,105 unsupported sentences carry several labels (here: two). In its test phase 82 % of
paragraphs hold an error, and they have 8.7 sentences, up to 31. How many errors such a paragraph holds was not
published: with 2.5 on average "everything Supported" scores 17.7, where the leaderboard says 17.3 (train-dev: 43.2 in
both). Track 2 train-dev has 2,162 claims. No label mix of its test phases is known, so there is no such world. Which
of its records have no gold evidence is not known either; here 90 % of Irrelevant, 30 % of Topical Match, no others.

A *candidate* labels by random utility: the utility of a label is the candidate's bias towards it, plus its sensitivity
to that label where it is a gold one, plus noise. Noise is shared in part by all candidates (an item is hard for every
prompt) and by all sentences of a record (a paragraph that looks suspicious is flagged more than once). Half of a pool
are small changes of the other half, as optimizers make them: a pool holds close pairs.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aisr.metrics.scores import FN, FP, TP, Tally
from aisr.programs.track1 import CLAIM_LABELS
from aisr.programs.track2 import CITATION_LABELS

Floats = NDArray[np.float32]

SEVERAL_LABELS = 527 / 1105  # of the unsupported sentences
RECORD_NOISE = 0.5  # standard deviation of each of the two parts of noise that a record's sentences have in common
SHARED = 0.6  # share of an item's noise variance that all candidates have in common
NO_EVIDENCE = (0.0, 0.0, 0.3, 0.9)  # of Track 2's labels in their order; assumed
SKILL_SPREAD = 0.7
SPREAD = 4.0  # of the number of sentences: the shape of a negative binomial distribution
CHANGE = 0.15  # how far a small change of a candidate goes, as a share of the pool's spread


@dataclass(frozen=True)
class World:
    """A label mix and the pool of candidates that is drawn for it.

    mix: counts of the labels, in Track 1 of all but Supported; skill: mean sensitivity in a pool; lean: range of the
    bias towards Supported (low: over-flagging). Track 1 only: with_error: share of paragraphs that hold an error;
    errors: mean number in such a paragraph; sentences: mean number in a paragraph, longest: the most.
    """

    name: str
    labels: tuple[str, ...]
    mix: tuple[float, ...]
    skill: float
    lean: tuple[float, float]
    with_error: float = 1.0
    errors: float = 1.0
    sentences: float = 1.0
    longest: int = 31

    @property
    def paragraphs(self) -> bool:
        """Whether a record has several sentences (Track 1)."""
        return self.labels == CLAIM_LABELS


_ERRORS = (276.0, 639.0, 605.0, 216.0)  # guidelines, section 1, in the order of CLAIM_LABELS[1:]
WORLDS = (
    World("track1 train-dev", CLAIM_LABELS, _ERRORS, 2.3, (0.8, 4.6), 0.33, 1.0, 17547 / 3333),
    World("track1 test-shaped", CLAIM_LABELS, _ERRORS, 2.3, (0.8, 4.6), 0.82, 2.5, 8.7),
    World("track2 train-dev", CITATION_LABELS, (1029.0, 375.0, 376.0, 382.0), 1.2, (-0.8, 1.6)),
)


@dataclass(frozen=True)
class Corpus:
    """Gold of a simulated corpus, and the part of the noise that all candidates have in common.

    record: record of each item (sentence or claim), ascending; first: the gold label that a miss counts against;
    gold: bool (items, labels); evidence: bool (records,), whether there is gold evidence (Track 2).
    """

    record: NDArray[np.int64]
    first: NDArray[np.int64]
    gold: NDArray[np.bool_]
    evidence: NDArray[np.bool_]
    noise: Floats
    record_noise: Floats


class Candidate(NamedTuple):
    """bias and sensitivity of each label (standard deviations of noise); finds, empties: probabilities (Track 2)."""

    bias: Floats
    sensitivity: Floats
    finds: float
    empties: float


def draw_corpus(world: World, records: int, rng: np.random.Generator) -> Corpus:
    """Gold labels of a corpus of `world`."""
    lengths = _lengths(world, records, rng)
    record = np.repeat(np.arange(records), lengths)
    first = _first_labels(world, lengths, record, rng)
    gold = np.zeros((len(record), len(world.labels)), dtype=np.bool_)
    gold[np.arange(len(record)), first] = True
    if world.paragraphs:
        second = rng.choice(len(world.labels), len(record), p=_shares(world))
        shares = _shares(world)
        another = 1 - float(shares @ shares)  # how often the second label drawn differs from the first
        several = (first > 0) & (rng.random(len(record)) < SEVERAL_LABELS / another)
        gold[several, second[several]] = True
        evidence = np.ones(records, dtype=np.bool_)
    else:
        evidence = rng.random(records) >= np.asarray(NO_EVIDENCE)[first]
    return Corpus(record, first, gold, evidence, _normal(rng, gold.shape), _normal(rng, (records,)))


def draw_pool(world: World, size: int, rng: np.random.Generator) -> list[Candidate]:
    """`size` candidates in random order: half drawn freely, half small changes of one of those."""
    free = [_candidate(world, rng) for _ in range((size + 1) // 2)]
    changed = [_mix(free[rng.integers(len(free))], _candidate(world, rng)) for _ in range(size // 2)]
    pool = free + changed
    return [pool[k] for k in rng.permutation(size)]


def judge(world: World, corpus: Corpus, candidate: Candidate, rng: np.random.Generator) -> Tally:
    """What `candidate` earns on each record of `corpus`."""
    utility = candidate.bias + candidate.sensitivity * corpus.gold
    utility += SHARED**0.5 * corpus.noise + (1 - SHARED) ** 0.5 * _normal(rng, corpus.noise.shape)
    own = _normal(rng, corpus.record_noise.shape)
    utility[:, 0] += RECORD_NOISE * (corpus.record_noise + own)[corpus.record]
    chosen = utility.argmax(axis=1)
    right = corpus.gold[np.arange(len(chosen)), chosen]
    counts = _counts(corpus, chosen, right, len(world.labels))
    exact = counts[:, FN].sum(axis=1) == 0
    if not world.paragraphs:
        emptied = (chosen == len(world.labels) - 1) & (rng.random(len(chosen)) < candidate.empties)
        names_evidence = rng.random(len(chosen)) < candidate.finds
        exact &= np.where(corpus.evidence, names_evidence & ~emptied, emptied)
    return Tally(world.labels, counts, exact, "pem" if world.paragraphs else "joint_at_3")


def part(tally: Tally, start: int, records: int) -> Tally:
    """Records `start` to `start + records` of a tally."""
    rows = slice(start, start + records)
    return Tally(tally.labels, tally.counts[rows], tally.exact[rows], tally.exact_name)


def _candidate(world: World, rng: np.random.Generator) -> Candidate:
    labels = len(world.labels)
    bias = 0.5 * _normal(rng, (labels,))
    bias[0] = rng.uniform(*world.lean)
    sensitivity = world.skill + SKILL_SPREAD * (_normal(rng, (1,)) + _normal(rng, (labels,)))
    if world.paragraphs:
        sensitivity[0] = 0.0  # of Supported against the rest, the bias says it all
    return Candidate(bias, np.maximum(sensitivity, 0), rng.uniform(0.3, 0.8), rng.uniform(0.2, 1.0))


def _mix(parent: Candidate, other: Candidate) -> Candidate:
    """`parent`, moved a little towards `other`."""
    keep = 1 - CHANGE
    return Candidate(
        keep * parent.bias + CHANGE * other.bias,
        keep * parent.sensitivity + CHANGE * other.sensitivity,
        keep * parent.finds + CHANGE * other.finds,
        keep * parent.empties + CHANGE * other.empties,
    )


def _counts(corpus: Corpus, chosen: NDArray[np.int64], right: NDArray[np.bool_], labels: int) -> NDArray[np.int64]:
    """int (records, 3, labels), as aisr.metrics.scores.Tally holds them."""
    cell = corpus.record * (3 * labels)
    cells = [
        (cell + TP * labels + chosen)[right],
        (cell + FP * labels + chosen)[~right],
        (cell + FN * labels + corpus.first)[~right],
    ]
    records = len(corpus.evidence)
    return np.bincount(np.concatenate(cells), minlength=records * 3 * labels).reshape(records, 3, labels)


def _lengths(world: World, records: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Sentences of each record: 1 plus a negative binomial number, cut at the longest known."""
    if not world.paragraphs:
        return np.ones(records, dtype=np.int64)
    rest = rng.negative_binomial(SPREAD, SPREAD / (SPREAD + world.sentences - 1), records)
    return np.minimum(1 + rest, world.longest)


def _first_labels(
    world: World, lengths: NDArray[np.int64], record: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Track 1: one sentence of each paragraph with an error is unsupported, and others by chance; Track 2: the mix."""
    if not world.paragraphs:
        return rng.choice(len(world.labels), len(record), p=_shares(world))
    error = rng.random(len(lengths)) < world.with_error
    planted = np.cumsum(lengths) - lengths + rng.integers(0, lengths)
    more = (world.errors - 1) / max(float(lengths.mean()) - 1, 1)
    unsupported = rng.random(len(record)) < more
    unsupported[planted] = True
    unsupported &= error[record]
    return np.where(unsupported, rng.choice(len(world.labels), len(record), p=_shares(world)), 0)


def _shares(world: World) -> NDArray[np.float64]:
    mix = np.asarray(world.mix)
    if world.paragraphs:
        mix = np.concatenate([[0.0], mix])
    return np.asarray(mix / mix.sum())


def _normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.standard_normal(shape, dtype=np.float32)
