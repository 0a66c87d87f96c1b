"""A paper with all flags on it: those that take no model, counts and order, what was not checked, which flags make
`--fail-on` fail, and which a reader dismissed."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from aisr import UserError
from aisr.text import pluralize, printable
from aisr_papers.check.flags import (
    EXACT,
    JUDGED,
    LABELS,
    NOT_JUDGED,
    Flag,
    Mark,
    NamedPlace,
    Piece,
    QuoteLabel,
    Reason,
    doubt,
    hidden_flags,
    make_flag,
    sort_flags,
)
from aisr_papers.cited_claims import find_misquotes
from aisr_papers.draft import Draft
from aisr_papers.recompute.recompute import Fact, Outcome, Position, count_read, recompute, too_long

NO_LM = "none"  # what stands for a language model where none is asked
LEAST_READ = 0.9  # of the words of a source; below it, what was lost comes first
DISMISSED = "dismissed"
LONGEST = 240  # characters of a sentence in a list


@dataclass(frozen=True)
class Review:
    """A paper and all flags on it, in its own order."""

    draft: Draft
    lm: str
    flags: tuple[Flag, ...]
    reliability: tuple[str, ...] = ()  # what the flags are worth
    skipped: Mapping[str, int] = field(default_factory=dict)  # see `aisr_papers.check.questions.Checks`
    missing: Mapping[str, int] = field(default_factory=dict)
    stopped: str | None = None  # the limit that ended the judging early
    pictures: Mapping[str, str] = field(default_factory=dict)  # those that could not be shown to a model -> the reason
    recomputed: tuple[tuple[Position, Fact], ...] = ()  # also what holds and what is not decided

    def counts(self) -> dict[str, int]:
        """Return how often each label was given, the commonest first; what was not judged under "not judged", and what
        readers dismissed under "dismissed", at the end."""
        counts = Counter(DISMISSED if one.dismissed else one.label or NOT_JUDGED for one in self.flags)
        return dict(sorted(counts.items(), key=lambda pair: (pair[0] == DISMISSED, -pair[1])))

    @property
    def unjudged(self) -> int:
        """How many flags have no label."""
        return sum(one.label is None for one in self.flags)

    def by_doubt(self) -> list[int]:
        """Return the positions of the flags, the most doubtful first, see `doubt`. Equals, and what has no confidence,
        in the paper's order, the latter behind."""
        return sorted(range(len(self.flags)), key=lambda place: doubt(self.flags[place]))


# --- What takes no language model: reported tests, percentages, and quotes of cited papers.

CHECKED = "reported tests of significance and percentages beside their counts"
NOT_CHECKED = (
    "Not checked: numbers against tables, figures and other sentences, comparisons, and citations; for these name a "
    "language model, such as --lm openai/gpt-4o-mini."
)
OUTCOMES = {Outcome.HOLDS: "right", Outcome.WRONG: "wrong", Outcome.UNDECIDED: "not decided"}


def without_lm(draft: Draft, cited: Mapping[str, Mapping[str, str]]) -> Review:
    """Return all flags on a draft without a language model: hidden text, tests, percentages and quotes that are wrong;
    what such a check looks at comes first."""
    return add_exact_flags(Review(draft, NO_LM, tuple(hidden_flags(draft)), (describe_scope(bool(cited)),)), cited)


def describe_scope(quotes: bool) -> str:
    """Return what a check without a language model looks at, and what it does not. quotes: whether there are cited
    papers."""
    checked = f"{CHECKED}, and quotes of the cited papers," if quotes else CHECKED
    return f"Without a language model {checked} are checked. {NOT_CHECKED}"


def add_exact_flags(review: Review, cited: Mapping[str, Mapping[str, str]]) -> Review:
    """Return a review with the wrong tests, percentages and quotes among its flags. cited: key of a work -> paragraphs,
    id -> text."""
    facts = recompute(review.draft)
    flags = [*_of_statistics(review.draft, facts), *_of_quotes(review.draft, cited)]
    return replace(
        review,
        flags=sort_flags([*flags, *review.flags]),
        recomputed=tuple(facts),
        reliability=(*review.reliability, _reach(review.draft, facts)),
    )


def _reach(draft: Draft, facts: Sequence[tuple[Position, Fact]]) -> str:
    """Return how much of a draft was looked at without a language model: where nothing is wrong, that may be little."""
    outcomes = Counter(fact.outcome for _, fact in facts)
    counted = ", ".join(f"{outcomes[one]} {word}" for one, word in OUTCOMES.items() if outcomes[one])
    statistics = f"tests and percentages: {counted}" if facts else "no test or percentage in them could be recomputed"
    return f"Read without a language model: {pluralize(count_read(draft), 'sentence')}; {statistics}."


def _of_statistics(draft: Draft, facts: Sequence[tuple[Position, Fact]]) -> Iterator[Flag]:
    for position, fact in facts:
        if fact.wrong:
            reasons = (Reason(fact.computed),)
            yield make_flag(draft, "statistics", position, fact.statement, fact.label, reasons=reasons)


def _of_quotes(draft: Draft, cited: Mapping[str, Mapping[str, str]]) -> Iterator[Flag]:
    for one in find_misquotes(draft, cited):
        label = QuoteLabel.NOT_FOUND
        fields: dict[str, Any] = {"reasons": (Reason(f"no such words in {one.work}"),)}
        if one.true:
            label = QuoteLabel.MISQUOTED
            reason = Reason(f"{one.work} has: “{one.true}”", one.true, NamedPlace(one.source), mark=Mark(0, 0))
            pieces = (Piece(one.source, (cited[one.work][one.source],)),)
            fields = {"reasons": (reason,), "pieces": pieces, "subject": one.true}
        yield make_flag(draft, "quote", one.position, one.quote, label, work=one.work, **fields)


# --- What is not among the flags.


class Group(NamedTuple):
    """Things of a kind that are listed."""

    title: str
    items: Sequence[str]


def lost_words(draft: Draft) -> list[str]:
    """Return, where much of a source is not in the draft, how much, then its longest stretches; nothing elsewhere."""
    read = draft.coverage
    if read is None or read.share >= LEAST_READ:
        return []
    stretches = [f"{one.place}: {pluralize(one.length, 'word')}: {one.text} …" for one in read.missing]
    return [f"Only {int(100 * read.share)} % of the {read.words:,} words of the paper could be read", *stretches]


def left_out(review: Review) -> list[Group]:
    """Return what was not read or not checked, and why."""
    works = review.draft.works
    titles = {key: f" ({works[key].title})" for key in review.missing if key in works and works[key].title}
    missing = [f"{key}{titles.get(key, '')}: {pluralize(count, 'sentence')}" for key, count in review.missing.items()]
    title, *stretches = lost_words(review.draft) or [""]
    long = [f"{one.place}: {len(one.text):,} characters: “{shorten(one.text)}”" for one in too_long(review.draft)]
    groups = [
        Group(title, stretches),
        Group("judging was stopped", [review.stopped] if review.stopped else []),
        Group(f"not read: {len(review.draft.unread)}", [f"{one.place}: {one.reason}" for one in review.draft.unread]),
        Group(f"sentences too long to be recomputed: {len(long)}", long),
        Group(f"cited works without a file: {len(missing)}", missing),
        Group(
            f"sentences not held against the paper: {sum(review.skipped.values())}",
            [f"{why}: {pluralize(count, 'sentence')}" for why, count in review.skipped.items()],
        ),
        Group(
            f"pictures not shown: {len(review.pictures)}", [f"{path}: {why}" for path, why in review.pictures.items()]
        ),
    ]
    return [one for one in groups if one.items]


def list_recomputed(review: Review) -> list[Group]:
    """Return what was recomputed and holds, and what could not be decided, a sentence each. The title counts
    recomputations."""
    groups = []
    for outcome, title in ((Outcome.HOLDS, "recomputed and right"), (Outcome.UNDECIDED, "not decided")):
        computed: dict[str, list[str]] = {}
        for position, fact in review.recomputed:
            if fact.outcome is outcome:
                sentence = review.draft.sentence(position)
                computed.setdefault(f"{sentence.place}: “{shorten(sentence.text)}”", []).append(fact.computed)
        items = [printable(f"{words}: {'; '.join(each)}") for words, each in computed.items()]
        groups.append(Group(f"{title}: {sum(map(len, computed.values()))}", items))
    return [one for one in groups if one.items]


def shorten(text: str, most: int = LONGEST) -> str:
    """Return the text of a sentence in a list, cut between words."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[:most].rpartition(' ')[0]} …"


# --- `--fail-on`: which flags make the command fail.


def failing_labels(wanted: Sequence[str], asks_lm: bool) -> set[str]:
    """Return the labels of --fail-on, whatever their case; `statistics` and `quote` are all labels of that kind. Raises
    UserError for what is none, and for the label of a model where none is asked."""
    kinds = [kind for kind in LABELS if asks_lm or kind not in JUDGED]
    known = dict.fromkeys(label for kind in kinds for label in LABELS[kind])
    labels = {label.lower(): {label} for label in known} | {kind: set(LABELS[kind]) for kind in EXACT}
    if unknown := [label for label in wanted if label.lower() not in labels]:
        raise UserError(f"--fail-on {unknown[0]!r}: no such label; one of: {', '.join([*known, *EXACT])}")
    return {label for one in wanted for label in labels[one.lower()]}


def failing_flags(review: Review, labels: Set[str], above: float) -> list[Flag]:
    """Return the flags with one of the labels whose confidence is at least `above`, in 0-1. One without a known
    confidence counts: a gate that cannot tell does not open. One that a reader dismissed does not."""
    flags = [one for one in review.flags if one.label in labels and not one.dismissed]
    return [one for one in flags if one.confidence is None or one.confidence >= above]


# --- Flags that a reader dismissed, by their digests in a text file.

DIGEST = re.compile(r"[0-9a-f]{16}")
MOST_WORDS = 80  # characters of a sentence beside its digest


def read_dismissed(file: Path | None) -> frozenset[str]:
    """Return the digests in a file: the first word of each line. The rest of a line, empty lines and lines that begin
    with `#` are for people. None: no digests. Raises UserError for what is no such file."""
    if file is None:
        return frozenset()
    if not file.is_file():
        raise UserError(f"--dismissed {file}: no such file; expected a text file with a digest a line, as pages show")
    lines = file.read_text(encoding="utf-8-sig", errors="replace").split("\n")
    words = {number: line.split()[0] for number, line in enumerate(lines, start=1) if line.strip()}
    digests = {number: word for number, word in words.items() if not word.startswith("#")}
    for number, word in digests.items():
        if not DIGEST.fullmatch(word):
            raise UserError(
                f"{file}:{number}: {word[:40]!r} is no digest of a flag; expected 16 hexadecimal digits, as the page "
                "of the paper shows them"
            )
    return frozenset(digests.values())


def mark_dismissed(review: Review, digests: Set[str]) -> Review:
    """Return the review with a mark on the flags of these digests: they do not come back until their sentence or their
    evidence changes."""
    flags = (replace(one, dismissed=not one.neutral and one.digest in digests) for one in review.flags)
    return replace(review, flags=tuple(flags))


def dismissal_line(flag: Flag) -> str:
    """Return the line by which a flag is dismissed: its digest, and what a person knows it by."""
    return f"{flag.digest} {flag.label}: {shorten(flag.sentence, MOST_WORDS)}"
