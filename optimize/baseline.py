"""The no-LM baseline: a text classifier beside each score of a compile, so that a score is read against what its test
split gives away by wording alone. It is no program, is never chosen, and is not saved.

A logistic regression (scikit-learn, whose import takes over a second: inside the functions) on TF-IDF of words and
characters of a statement, and on seven overlap features of a statement and its evidence.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from threadpoolctl import threadpool_limits

from aisr.programs.case import Case
from aisr.programs.program import Program
from aisr.programs.task import Task
from aisr.programs.text_index import stemmer

PROPER_NAME = re.compile(r"\b(?=\w*[A-Z])(?=\w*(?:[a-z0-9][A-Z]|\d|-))[A-Za-z][\w-]{2,}\b|\b[A-Z][\w]+-[\w-]+\b")
ACRONYM = re.compile(r"\b[A-Z]{2,}[\w-]*\b")
# Possessive: a long run of digits must not be tried again at each of its lengths.
LONE_NUMBER = re.compile(r"(?<![\w.,-])\d++(?:\.\d++)?+(?![\w.-]*\d)")
FIGURE = re.compile(r"\b(fig(?:ure)?|tab(?:le)?)s?\.?\s*(\d+)", re.IGNORECASE)
QUANTIFIER = re.compile(
    r"\b(?:all|any|every\w*|always|never|none|no|each|entire\w*|across|universal\w*|consistent\w*|invariabl\w*|"
    r"regardless|in general|generally|without exception)\b",
    re.IGNORECASE,
)
CAUSE = re.compile(
    r"\b(?:because|due to|owing to|thanks to|since|as a result|caus\w+|driv\w+|thereby|therefore|hence|explain\w*|"
    r"attribut\w+|stems? from|result\w* from|mechanism\w*|leads? to|enabl\w+|suggest\w*|impl(?:y|ies|ying))\b",
    re.IGNORECASE,
)
CONTENT_WORD = re.compile(r"[a-z]{3,}", re.IGNORECASE)
MOST_COUNTED = 3  # a count beyond this says no more

StatementAndEvidence = tuple[str, str]  # its text, and its evidence, one item or paragraph a line


def with_no_lm_baseline(task: Task, program: Program, splits: Mapping[str, Sequence[Case]]) -> dict[str, list[Case]]:
    """Return the cases of each split, those of all but train with the answer of the baseline, fitted to train. They
    stay as they are in a task without labels, where they have such an answer, and where train has one label alone."""
    cases = {name: list(split) for name, split in splits.items()}
    if not task.labels or task.fallback_is_baseline:
        return cases
    train = cases["train"]
    labels = [label for case in train for label in task.first_labels(case.gold)]
    if len(set(labels)) < 2:
        return cases
    with threadpool_limits(1):  # its steps are short: beside each other, threads wait ten times as long as they work
        classifier = make_classifier().fit(_statements(task, train), labels)
    for name in cases.keys() - {"train"}:
        predicted = classifier.predict(_statements(task, cases[name])).tolist()
        answered = []
        start = 0
        for case in cases[name]:
            end = start + len(task.statements(case.example))
            answer = predicted[start:end]
            evidence = program.choose_evidence(answer[0], [], case.example.get("ranking", ()))
            answered.append(replace(case, baseline=task.label_answer(answer, evidence)))
            start = end
        cases[name] = answered
    return cases


def _statements(task: Task, cases: Sequence[Case]) -> list[StatementAndEvidence]:
    """Return the statements of all cases, in order."""
    statements = []
    for case in cases:
        evidence = task.evidence(case)
        statements += [(statement, evidence) for statement in task.statements(case.example)]
    return statements


def make_classifier() -> Any:
    """Return the unfitted classifier of statements and their evidence."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline, make_union
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    how = {"preprocessor": lambda statement: statement[0].lower(), "sublinear_tf": True, "min_df": 2}
    words = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\b\w+\b", **how)
    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), **how)
    overlap = FunctionTransformer(lambda statements: [overlap_features(*one) for one in statements])
    features = make_union(words, characters, make_pipeline(overlap, StandardScaler()))
    return make_pipeline(features, LogisticRegression(C=10.0, class_weight="balanced", max_iter=2000))


def overlap_features(sentence: str, evidence: str) -> list[float]:
    """Return signs that a sentence goes beyond its evidence, as seven numbers.

    Five counts, each at most `MOST_COUNTED`: names, numbers and figures that the evidence lacks, quantifiers, causal
    words. Two shares, 0 to 1: of its words and of its numbers, what the best line of the evidence holds.
    """
    names = {*PROPER_NAME.findall(sentence), *ACRONYM.findall(sentence)}
    numbers = {*LONE_NUMBER.findall(sentence)}
    words = _stems(sentence)
    known = evidence.lower()
    counts = [
        sum(name.lower() not in known for name in names),
        len(numbers.difference(LONE_NUMBER.findall(evidence))),
        len(_figures(sentence) - _figures(evidence)),
        len(QUANTIFIER.findall(sentence)),
        len(CAUSE.findall(sentence)),
    ]
    features = [float(min(count, MOST_COUNTED)) for count in counts]
    lines = evidence.split("\n")
    shared_words = max(len(words & _stems(line)) for line in lines)
    features.append(shared_words / len(words) if words else 1.0)
    shared_numbers = max(len(numbers.intersection(LONE_NUMBER.findall(line))) for line in lines)
    features.append(shared_numbers / len(numbers) if numbers else 1.0)
    return features


def _figures(text: str) -> set[tuple[str, str]]:
    return {(kind[:3].lower(), number) for kind, number in FIGURE.findall(text)}


@lru_cache(maxsize=4096)  # the sentences of a paragraph share their evidence
def _stems(text: str) -> frozenset[str]:
    return frozenset(stemmer().stemWords(list(set(CONTENT_WORD.findall(text.lower())))))
