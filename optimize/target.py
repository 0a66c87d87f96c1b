"""The target: the set that ranks, of which only unlabelled inputs are known. Records are weighted to it.

We assume label shift: a paragraph with an error looks the same in both sets, but there are more of them in one
(Saerens, Latinne & Decaestecker 2002, "Adjusting the outputs of a classifier to new a priori probabilities"). Then the
mix of labels can be estimated from answers alone. The uncompiled program judges target records; dev shows how often it
takes one label for another; expectation maximisation finds the mix under which its answers are most likely (`python -m
benchmarks.target` compares that with adjusted counts, Forman 2008).

Records of each split are then weighted by raking (Deming & Stephan 1940): in turn to the mix and to the number of
statements a record, until both hold.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aisr.base.errors import UserError
from aisr.base.files import digest_file, percent
from aisr.base.jsonl import read
from aisr.judging.judge import Outcome
from aisr.metrics.intervals import Interval, effective_number
from aisr.metrics.scores import Floats
from aisr.optimize.leakage import groups
from aisr.optimize.near_duplicates import components
from aisr.programs.case import Case
from aisr.programs.records import Record, SentenceRecord
from aisr.programs.task import SentenceTask, Task

JUDGED = 200  # records of the target that are judged for its mix, at most
LEAST_RECORDS = 10  # records of a target
ERROR_FREE, WITH_ERROR = "error-free", "with an error"  # paragraphs, in a mix that is stated
EDGES = (1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 32)  # statements a record from which a bin begins
LEAST_IN_BIN = 5  # records of a split
MOST_WEIGHT = 5.0  # times the mean
LEAST_WEIGHT = 1e-6  # a record that counts for next to nothing still is one
ROUNDS = 100  # of raking
EM_STEPS = 1000  # of expectation maximisation
LEAST_OF_LABEL = 20  # records of dev with a label; of fewer it is not known how the LM takes them
ALIKE = 0.3  # total variation of the answers to two labels, below which they are one group
DRAWS = 200  # of the bootstrap
LEAST_EFFECTIVE = 40  # records, below which a forecast is uncertain
OTHER_TEXTS = 0.8  # AUC from which no weight mends the difference
FOLDS = 5
TELLING_WORDS = 10
LONGEST_TEXT = 3000  # characters of a record's statements that are compared

Integers = NDArray[np.int64]
GroupOf = Mapping[str, str]  # the kind of a record -> the group that it counts in; a kind is `Task.stratify_by`


# --- The target as the user names it


def read_target(task: Task, file: Path) -> list[Record]:
    """Return the records of a target. Raises UserError for fewer than `LEAST_RECORDS`, `BadLine` for a bad one."""
    records = list(read(file, task.record, task.name))
    if len(records) < LEAST_RECORDS:
        raise UserError(
            f"--target {file}: {len(records)} records; a target needs {LEAST_RECORDS}, and 150 for a useful mix"
        )
    return records


def parse_mix(task: Task, text: str) -> dict[str, float]:
    """Return the shares, in 0-1, that "error-free=0.16" states for tasks with several statements a record, and
    "Supported=.5,Overstate=.2,…" for those with one label; they sum to 1. Raises UserError for anything else."""
    names = (ERROR_FREE,) if isinstance(task, SentenceTask) else task.labels
    if not names:
        raise UserError(f"--target-mix: {task.name} has no labels")
    shares = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        name = name.strip()
        if name not in names:
            raise UserError(f"--target-mix: {name[:80]!r} is no label; expected {' or '.join(names)}")
        try:
            shares[name] = float(number)
        except ValueError:
            raise UserError(f"--target-mix {name}: {number[:80]!r} is no number; expected 0 to 1") from None
        if not 0 <= shares[name] <= 1:
            raise UserError(f"--target-mix {text[:80]}: expected shares of 0 to 1")
    if isinstance(task, SentenceTask):
        return {ERROR_FREE: shares[ERROR_FREE], WITH_ERROR: 1 - shares[ERROR_FREE]}
    if abs(sum(shares.values()) - 1) > 0.005:
        raise UserError(f"--target-mix {text[:80]}: the shares sum to {sum(shares.values()):g}; expected 1")
    return {name: shares.get(name, 0.0) for name in names}


def drawn(records: Sequence[Record], seed: int) -> list[Record]:
    """Return the records of a target that are judged: all, or `JUDGED` by a seed."""
    return list(records) if len(records) <= JUDGED else random.Random(seed).sample(list(records), JUDGED)


# --- What two sets look like, without an LM


class Shape(NamedTuple):
    """What the records of a set look like."""

    records: int
    statements: float  # a record, on average
    words: float  # of the statements of a record, on average
    evidence: dict[str, float]  # items of a record by their kind, on average

    def __str__(self) -> str:
        text = f"{self.records} records; {self.statements:.1f} statements of {self.words:.0f} words a record"
        items = ", ".join(f"{count:.1f} {kind}" for kind, count in self.evidence.items())
        return f"{text}; evidence: {items}" if items else text


class Comparison(NamedTuple):
    """Two sets side by side. auc: how well a classifier tells their texts apart, 0.5 (not at all) to 1; None where one
    of them is too small to say. words: those by which it does, most telling first."""

    ours: Shape
    others: Shape
    auc: float | None = None
    words: tuple[str, ...] = ()

    @property
    def differ(self) -> bool:
        """Whether the texts differ in ways that no weight of records mends."""
        return self.auc is not None and self.auc >= OTHER_TEXTS

    def lines(self, name: str, other: str) -> list[str]:
        """Return it in words."""
        return [f"{name}: {self.ours}", f"{other}: {self.others}", self.texts()]

    def texts(self) -> str:
        """Return how far the texts differ, in words."""
        if self.auc is None:
            return "texts: too few records to tell whether they differ"
        return f"texts told apart with AUC {self.auc:.2f} (.5: alike), most by: {', '.join(self.words)}"

    def rows(self) -> list[tuple[str, str, str]]:
        """Return the rows of a table: what is counted, and how much of it each set has."""
        ours, others = self.ours, self.others
        rows = [
            ("records", str(ours.records), str(others.records)),
            ("statements a record", f"{ours.statements:.1f}", f"{others.statements:.1f}"),
            ("words a record", f"{ours.words:.0f}", f"{others.words:.0f}"),
        ]
        for kind in sorted({*ours.evidence, *others.evidence}):
            count, other = ours.evidence.get(kind, 0.0), others.evidence.get(kind, 0.0)
            rows.append((f"{kind}s a record", f"{count:.1f}", f"{other:.1f}"))
        return rows


def statements_of(record: Record) -> int:
    """Return how many statements a record has; 1 where a task counts none."""
    return len(record.statements) if isinstance(record, SentenceRecord) else 1


def shape_of(task: Task, records: Sequence[Record]) -> Shape:
    """Return what records look like."""
    kinds = Counter[str]()
    for record in records:
        if isinstance(record, SentenceRecord):
            kinds.update(item.type for item in record.evidence_bundle)
    return Shape(
        records=len(records),
        statements=float(np.mean([statements_of(record) for record in records])),
        words=float(np.mean([len(task.text(record).split()) for record in records])),
        evidence={kind: count / len(records) for kind, count in sorted(kinds.items())},
    )


def compare_sets(task: Task, ours: Sequence[Record], others: Sequence[Record], seed: int = 0) -> Comparison:
    """Return two sets side by side, with adversarial validation: a logistic regression on TF-IDF, cross-validated over
    groups of records that share something."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # over a second; most commands have no use for it
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict

    shapes = shape_of(task, ours), shape_of(task, others)
    both = [*ours, *others]
    # By claim and pictures alone: all that records may share takes most of the time, and hardly moves an AUC.
    group = groups([{task.text(record), *record.img_paths} for record in both])
    fewest = min(len(set(group[: len(ours)])), len(set(group[len(ours) :])))
    if fewest < LEAST_RECORDS:
        return Comparison(*shapes)
    is_other = np.repeat([0, 1], [len(ours), len(others)])
    texts = [task.text(record)[:LONGEST_TEXT] for record in both]
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2)
    rows = vectorizer.fit_transform(texts)
    classifier = LogisticRegression(class_weight="balanced", solver="liblinear")  # a tenth of the usual one's time
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    scores = cross_val_predict(classifier, rows, is_other, groups=group, cv=folds, method="decision_function")
    telling = np.abs(classifier.fit(rows, is_other).coef_[0]).argsort()[::-1][:TELLING_WORDS]
    words = vectorizer.get_feature_names_out()[telling]
    auc = max(0.5, float(roc_auc_score(is_other, scores)))  # below that is chance, as a half is
    return Comparison(*shapes, auc, tuple(map(str, words)))


# --- The mix of labels in the target, from answers alone


def kind_of_answer(task: Task, outcome: Outcome) -> str | None:
    """Return the kind of record that an answer says it is; None where there is no answer."""
    if outcome.failure is not None or not outcome.judgements:
        return None
    for judgement in outcome.judgements:
        if judgement.label != task.default_label:
            return judgement.label
    return task.default_label


@dataclass(frozen=True)
class Mix:
    """The mix of kinds of record. shares: of each group of kinds, in 0-1, with the 95 % interval of an estimate."""

    shares: Mapping[str, Interval]
    group_of: GroupOf
    judged: int = 0  # target records that it was estimated from

    def __str__(self) -> str:
        """Return it in words, with the intervals of an estimate."""
        if self.judged:
            estimates = [f"{name} {share}" for name, share in self.shares.items()]
            return f"mix of the target: {'; '.join(estimates)}"
        shares = [f"{name} {percent(share.value)}" for name, share in self.shares.items()]
        return f"mix of the target, as stated: {'; '.join(shares)}"


def stated_mix(task: Task, shares: Mapping[str, float]) -> Mix:
    """Return the mix that the user states."""
    if ERROR_FREE in shares:
        group_of = dict.fromkeys(task.labels, WITH_ERROR) | {task.default_label: ERROR_FREE}
    else:
        group_of = {label: label for label in task.labels}
    return Mix({name: Interval(share, share, share) for name, share in shares.items()}, group_of)


def estimate_mix(
    task: Task, dev: Sequence[Case], on_dev: Sequence[Outcome], on_target: Sequence[Outcome], seed: int
) -> Mix:
    """Return the mix of the target, from a program's answers to it and to dev, whose labels are known. Labels that dev
    shows the LM cannot tell apart are given together. The interval is that of a bootstrap over both sets, of dev over
    its groups. Raises UserError where there are no answers."""
    number = {label: k for k, label in enumerate(task.labels)}
    pairs = []
    for k, (case, outcome) in enumerate(zip(dev, on_dev, strict=True)):
        kind = kind_of_answer(task, outcome)
        if kind is not None:
            unit = k if case.group is None else case.group
            pairs.append((number[task.stratify_by(case.gold)], number[kind], unit))
    kinds = [kind_of_answer(task, outcome) for outcome in on_target]
    answers = np.array([number[kind] for kind in kinds if kind is not None])
    if not pairs or not len(answers):
        raise UserError("the label mix of the target cannot be estimated: no record was judged; --target-mix states it")
    gold, said, group = np.array(pairs).T
    name_of = _groups_of_labels(task, gold, said)
    names = list(dict.fromkeys(name_of.values()))
    place = np.array([names.index(name_of[label]) for label in task.labels])
    draw = np.random.default_rng(seed)
    size = len(number)
    tables = [_answer_shares(place[gold], said, len(names), size)]
    counts = [np.bincount(answers, minlength=size)]
    for _ in range(DRAWS):
        rows = _resampled(group, draw)
        tables.append(_answer_shares(place[gold[rows]], said[rows], len(names), size))
        counts.append(np.bincount(draw.choice(answers, len(answers)), minlength=size))
    mixes = _most_likely_mix(np.array(tables), np.array(counts))
    low, high = np.percentile(mixes[1:], [2.5, 97.5], axis=0)
    shares = {}
    for k, name in enumerate(names):
        share = float(mixes[0, k])
        shares[name] = Interval(share, min(float(low[k]), share), max(float(high[k]), share))
    return Mix(shares, name_of, len(answers))


def _resampled(group: Integers, draw: np.random.Generator) -> Integers:
    """Return the rows of a sample of whole groups, with replacement."""
    rows_of: dict[int, list[int]] = {}
    for row, own in enumerate(group.tolist()):
        rows_of.setdefault(own, []).append(row)
    rows_of_groups = list(rows_of.values())
    drawn = draw.integers(len(rows_of_groups), size=len(rows_of_groups))
    return np.concatenate([rows_of_groups[k] for k in drawn])


def _groups_of_labels(task: Task, gold: Integers, said: Integers) -> dict[str, str]:
    """Return the group of each label. Labels other than the default one are grouped where the answers to them are much
    alike, or where dev has too few records of one."""
    count = len(task.labels)
    table = _answer_shares(gold, said, count, count)
    is_rare = np.bincount(gold, minlength=count) < LEAST_OF_LABEL
    edges = []
    for k in range(1, count):
        distance = {j: np.abs(table[k] - table[j]).sum() / 2 for j in range(1, count) if j != k}
        edges += [(k, j) for j in distance if distance[j] < ALIKE]
        if is_rare[k] and distance:
            edges.append((k, min(distance, key=distance.__getitem__)))
    component = components(np.array(edges, dtype=np.int64).reshape(-1, 2), count).tolist()
    together = defaultdict[int, list[str]](list)
    for label, own in zip(task.labels, component, strict=True):
        together[own].append(label)
    names = {label: " or ".join(together[own]) for label, own in zip(task.labels, component, strict=True)}
    if isinstance(task, SentenceTask):
        names[task.default_label] = ERROR_FREE
    return names


def _answer_shares(gold: Integers, said: Integers, groups: int, labels: int) -> Floats:
    """Return how often each label is the answer to a record of each group, (groups, labels). To each group but the
    first one answer is added, spread as the answers to all of these groups are."""
    counts = np.zeros((groups, labels))
    np.add.at(counts, (gold, said), 1)
    overall = counts.sum(axis=0) / max(counts.sum(), 1)
    pooled = counts[1:].sum(axis=0) + overall
    prior = np.tile(pooled / pooled.sum(), (groups, 1))
    of_first = counts[0].sum()
    prior[0] = counts[0] / of_first if of_first else overall
    smoothed = counts + prior + 1e-6
    return np.asarray(smoothed / smoothed.sum(axis=1, keepdims=True))


def _most_likely_mix(tables: Floats, answers: Integers) -> Floats:
    """Return the mixes of groups under which answers are most likely, by expectation maximisation, (cases, groups).

    tables: how often each label is the answer to a record of a group, (cases, groups, labels); answers: how often each
    label is the answer to a target record, (cases, labels).
    """
    mixes = np.full(tables.shape[:2], 1 / tables.shape[1])
    for _ in range(EM_STEPS):
        joint = mixes[:, :, None] * tables
        mixes = (joint / joint.sum(axis=1, keepdims=True) * answers[:, None, :]).sum(axis=2)
        mixes /= mixes.sum(axis=1, keepdims=True)
    return np.asarray(mixes)


# --- Weights


def rake(groups: Sequence[str], sizes: Sequence[int], mix: Mapping[str, float], target_sizes: Sequence[int]) -> Floats:
    """Return a weight for each record, 1 on average and at most `MOST_WEIGHT`, under which the groups of records have
    the shares of `mix`, and their sizes those of `target_sizes`, both as far as these records allow.

    groups, sizes: of each record; sizes are statements. Groups that no record is in are left out, and the rest scaled
    up; bins of sizes that hold few records are merged. An empty mix: sizes alone; empty target sizes: the mix alone.
    """
    weights = np.ones(len(groups))
    margins: list[list[tuple[NDArray[np.bool_], float]]] = []  # in each: which records a share is of, and the share
    if mix:
        margins.append([(np.array(groups) == name, share) for name, share in mix.items()])
    if len(target_sizes):
        starts = _bins(sizes, target_sizes)
        bins = np.searchsorted(starts, sizes, "right")
        wanted = np.searchsorted(starts, target_sizes, "right")
        margins.append([(bins == k, float((wanted == k).mean())) for k in np.unique(wanted)])
    for _ in range(ROUNDS):
        for margin in margins:
            present = [(here, share) for here, share in margin if share and here.any()]
            whole = sum(share for _, share in present)
            factor = np.zeros(len(weights))
            for here, share in present:
                factor[here] = share / whole * len(weights) / weights[here].sum()
            if present:
                weights = _capped(weights * factor)
    return weights


def _capped(weights: Floats) -> Floats:
    """Return weights with a mean of 1, the greatest of which are cut to `MOST_WEIGHT`."""
    weights = np.maximum(weights, LEAST_WEIGHT)
    for _ in range(ROUNDS):
        weights = weights / weights.mean()
        if weights.max() <= MOST_WEIGHT + LEAST_WEIGHT:
            break
        weights = np.minimum(weights, MOST_WEIGHT)
    return np.asarray(weights)


def _bins(sizes: Sequence[int], target_sizes: Sequence[int]) -> list[int]:
    """Return the sizes at which bins begin: each bin holds `LEAST_IN_BIN` records, and one of the target."""
    ours, _ = np.histogram(sizes, (*EDGES, 10**9))
    others, _ = np.histogram(target_sizes, (*EDGES, 10**9))
    starts, begin = [0], 0
    for end in range(1, len(EDGES)):
        is_full = ours[begin:end].sum() >= LEAST_IN_BIN and others[begin:end].any()
        is_rest_full = ours[end:].sum() >= LEAST_IN_BIN and others[end:].any()
        if is_full and is_rest_full:
            starts.append(EDGES[end])
            begin = end
    return starts


@dataclass(frozen=True)
class Target:
    """What a compile knows of the set that it will be ranked on. mix: None where it is not known."""

    mix: Mix | None
    sizes: Sequence[int] = ()  # statements of each record of the target; empty where only its mix is stated
    comparison: Comparison | None = None
    digest: str = ""  # of the file
    effective: Mapping[str, float] = field(default_factory=dict)  # records of each split, as if all weighed the same

    @classmethod
    def of(
        cls, mix: Mix | None, records: Sequence[Record], comparison: Comparison | None, file: Path | None
    ) -> "Target":
        """Return the target of a file's records and a mix; either may be missing."""
        sizes = [statements_of(record) for record in records]
        return cls(mix, sizes, comparison, digest_file(file) if file else "")

    def weigh(self, task: Task, cases: Sequence[Case]) -> list[Case]:
        """Return cases with their weights."""
        groups = [task.stratify_by(case.gold) for case in cases]
        shares: dict[str, float] = {}
        if self.mix:
            groups = [self.mix.group_of.get(kind, kind) for kind in groups]
            shares = {name: share.value for name, share in self.mix.shares.items()}
        sizes = [1] * len(cases)
        if task.labels:
            sizes = [len(task.gold_labels(case.gold)) for case in cases]
        weights = rake(groups, sizes, shares, self.sizes).tolist()
        return [replace(case, weight=weight) for case, weight in zip(cases, weights, strict=True)]

    def weigh_splits(self, task: Task, splits: Mapping[str, Sequence[Case]]) -> tuple["Target", dict[str, list[Case]]]:
        """Return the cases of each split with their weights, and the target with the effective number of each."""
        cases, numbers = {}, {}
        for name, split in splits.items():
            cases[name] = self.weigh(task, split)
            numbers[name] = effective_number(np.array([case.weight for case in cases[name]]))
        return replace(self, effective=numbers), cases

    def warnings(self) -> list[str]:
        """Return how far a forecast for the target can be trusted, in words; nothing where all is well."""
        warnings = [
            f"{name} has {number:.0f} effective records under these weights; fewer than {LEAST_EFFECTIVE} tell little"
            for name, number in self.effective.items()
            if name != "train" and number < LEAST_EFFECTIVE
        ]
        if self.comparison and self.comparison.differ:
            warnings.append("the target's texts differ from dev's in ways that no weight mends")
        return warnings

    def as_dict(self) -> dict[str, Any]:
        """Return it as a manifest has it."""
        content: dict[str, Any] = {}
        if self.digest:
            content["digest"] = self.digest
        if self.mix:
            content["mix"] = {name: list(share) for name, share in self.mix.shares.items()}
            content["judged"] = self.mix.judged
        if self.comparison:
            content |= {"auc": self.comparison.auc, "words": list(self.comparison.words)}
            content |= {"shape": self.comparison.others._asdict(), "dev_shape": self.comparison.ours._asdict()}
        content["effective"] = {name: round(number, 1) for name, number in self.effective.items()}
        return content
