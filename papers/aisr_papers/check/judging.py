"""Judging the checks of a paper, and what the flags are worth.

Nothing is kept but the answers in the response cache: the same command, be it after a stop or after an edit, asks only
what was not asked before, since an answer is known by the whole text of its prompt.
"""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import aisr
from aisr.text import digest_texts, percent
from aisr_papers.check.flags import Flag, Kind, Mark, Piece, hidden_flags, make_flag, sort_flags
from aisr_papers.check.index import stems
from aisr_papers.check.questions import SECTION, Check, Checks
from aisr_papers.check.reasons import EMBEDDED, Done, add_reasons, ignore
from aisr_papers.check.review import Review
from aisr_papers.draft import Draft
from aisr_papers.draft_task import DRAFT

# --- Programs ready to judge a paper: compiled ones, or those of the tasks uncompiled.

CITATIONS = "track2"  # the task whose programs judge citations


class Programs(NamedTuple):
    """The programs that judge: folders of artifacts, or `models:/…`; None for the uncompiled one."""

    artifacts: Path  # the folder of the cache, and of the store of `models:/…`
    claims: str | None = None  # of the task draft
    citations: str | None = None  # of Track 2
    picture_mode: str | None = (
        None  # what the uncompiled one shows of a picture; None: its pixels where the LM takes them
    )


@dataclass(frozen=True)
class Checker:
    """What judges one kind of check."""

    kind: Kind
    program: aisr.LoadedProgram
    name: str | None = None  # of a compiled program, as the user names it


def make_checkers(programs: Programs, lm: aisr.LanguageModel, draft: Draft) -> tuple[Checker, Checker]:
    """Return what judges the statements, and what judges the citations, of a draft. Raises UserError for a program that
    is not there or of another task."""
    pictures: Any = {"image_root": draft.folder, "drawings": draft.drawings}
    shown: Any = {"picture_mode": programs.picture_mode} if programs.picture_mode else {}
    # Flags are read the surest first, so the LM states how sure it is where nothing else tells.
    states: Any = {"verbalized_confidence": not lm.gives_logprobs}
    if programs.claims:
        claims = aisr.load(programs.claims, DRAFT, artifacts=programs.artifacts, **pictures)
    else:
        claims = aisr.uncompiled(DRAFT, lm, **states, **pictures, **shown)
    if programs.citations:
        citations = aisr.load(programs.citations, CITATIONS, artifacts=programs.artifacts, **pictures)
    else:
        citations = aisr.uncompiled(CITATIONS, lm, **states, **pictures)
    return Checker("claim", claims, programs.claims), Checker("citation", citations, programs.citations)


# --- Flags on checks.

NOT_REACHED = "not reached: "  # before what ended the judging


def review_draft(
    draft: Draft, checks: Checks, checkers: Sequence[Checker], lm: aisr.LanguageModel, done: Done = ignore
) -> Review:
    """Return a draft with the flags on all its checks, and what these are worth. `done` gets those of each check.
    Raises `aisr.LMUnavailable` where that leaves no flag at all."""
    of_kind = {"claim": checks.claims, "citation": checks.citations}
    used = [by for by in checkers if of_kind[by.kind]]
    judged = [(by, judge_checks(by, draft, of_kind[by.kind], lm, done, is_first=by is used[0])) for by in used]
    flags = hidden_flags(draft)
    for by, without in judged:  # behind all flags: where a limit is reached, these are worth more
        flags += add_reasons(by.program, draft, without, lm, done)
    not_reached = [one.failed for one in flags if one.failed and one.failed.startswith(NOT_REACHED)]
    return Review(
        draft,
        lm.spec,
        sort_flags(flags),
        (BUILT_IN if lm.spec == EMBEDDED else AID, *_reliability(used, lm.spec)),
        checks.skipped,
        checks.missing,
        lm.exhausted_reason or (not_reached[0].removeprefix(NOT_REACHED) if not_reached else None),
        {path: why for by in used for (_, path), why in by.program.picture_problems.items()},
    )


def judge_checks(
    by: Checker,
    draft: Draft,
    checks: Sequence[Check],
    lm: aisr.LanguageModel,
    done: Done = ignore,
    is_first: bool = False,
) -> list[Flag]:
    """Return a flag for each sentence of each check of a draft, in the order of the checks; `done` gets those of each
    check.

    A check that fails gives flags without a label. So do those that a limit of the LM left over, or an error that would
    fail every check alike, such as a key that expires; what was answered by then is kept. is_first: whether nothing was
    judged before. Raises `aisr.LMUnavailable` for such an error if so, and if none of these checks was answered.
    """
    flags: dict[int, list[Flag]] = {}
    ended: list[aisr.LMUnavailable] = []

    def judge(check: Check) -> aisr.Verdict | None:
        return None if ended else by.program.judge(check.record, lm)

    with ThreadPoolExecutor(lm.threads) as pool:
        # In the context of the command: messages there name its options.
        waiting = {pool.submit(copy_context().run, judge, check): place for place, check in enumerate(checks)}
        try:
            for future in as_completed(waiting):
                place = waiting[future]
                try:
                    verdict = future.result()
                except aisr.LMUnavailable as error:
                    ended.append(error)
                else:
                    if verdict is not None:
                        flags[place] = _flags(by, draft, checks[place], verdict)
                        done(flags[place])
        finally:  # also where `done` ends the work
            pool.shutdown(wait=False, cancel_futures=True)
    if ended and is_first and lm.exhausted_reason is None and not flags:
        raise ended[0]
    reason = lm.exhausted_reason or f"the LM takes no more calls ({next(iter(ended), None)})"
    left = (_unjudged(by, draft, check, NOT_REACHED + reason) for check in checks)
    return [one for place, unjudged in enumerate(left) for one in flags.get(place, unjudged)]


def _flags(by: Checker, draft: Draft, check: Check, verdict: aisr.Verdict) -> list[Flag]:
    pieces, marks = _evidence(by, check, verdict.evidence)
    if verdict.failure is not None:
        return _unjudged(by, draft, check, verdict.failure, pieces)
    common: dict[str, Any] = {"work": check.work, "pieces": pieces}
    flags = []
    for number, (position, statement) in enumerate(zip(check.places, check.statements, strict=True)):
        label, probabilities = verdict.labels[number], verdict.probabilities[number]
        sure = round(min(probabilities[label], 1.0), 4) if probabilities else None
        nearest = [pieces[mark.piece].lines[mark.line] for mark in marks[number]]
        common["subject"] = check.subject or digest_texts(nearest)
        flag = make_flag(draft, by.kind, position, statement, label, confidence=sure, marks=marks[number], **common)
        flags.append(flag)
    return flags


def _unjudged(by: Checker, draft: Draft, check: Check, why: str, pieces: tuple[Piece, ...] = ()) -> list[Flag]:
    return [
        make_flag(draft, by.kind, position, statement, None, failed=why, work=check.work, pieces=pieces)
        for position, statement in zip(check.places, check.statements, strict=True)
    ]


# --- What a sentence is held against, piece by piece as the model read it, and the lines of it that stand out.

LONGEST_NAME = 20
LONGEST_HEADING = 160
# Possessive: a long run of digits must not be tried again at each of its lengths.
NUMBER = re.compile(r"(?<![\w.,-])\d++(?:\.\d++)?+(?![\w.-]*\d)")


def _evidence(
    by: Checker, check: Check, shown: Sequence[aisr.ShownEvidence]
) -> tuple[tuple[Piece, ...], list[tuple[Mark, ...]]]:
    """Return the pieces of evidence of a check, and for each statement of it the marks.

    Of a citation, the pieces are paragraphs, and those that the program named are marked. Else they are the items of a
    bundle with the rows of their tables, and for each statement the line is marked that shares most words and numbers
    with it, and so is such a table row: nobody asked the model which one decided.
    """
    if by.kind == "citation":
        pieces = tuple(Piece(one.key, one.lines, one.picture) for one in shown)
        named = sorted((one.chosen, number) for number, one in enumerate(shown) if one.chosen)
        return pieces, [tuple(Mark(number, 0, place) for place, number in named)]
    pieces = tuple(Piece(_name(one.key, one.lines[0]), one.lines, one.picture) for one in shown)
    # The number of an item may be what a statement has of it: "[table 3] …".
    lines = {
        Mark(piece, number): f"[{one.key}] {line}" if one.key and not number else line
        for piece, one in enumerate(shown)
        for number, line in enumerate(one.lines)
    }
    return pieces, [_nearest(statement, lines) for statement in check.statements]


def _name(key: str, text: str) -> str:
    """Return what the paper calls an item, where its text begins with that ("Table 3: …"), or the section of a passage;
    else its key, which counts the items of one bundle."""
    name, kind = text.partition(":")[0], key.partition(" ")[0]
    if kind == "text" and text.startswith(SECTION) and "”: " in text[:LONGEST_HEADING]:
        return f"{text.partition('”: ')[0]}”"
    return name if len(name) <= LONGEST_NAME and name.lower().startswith(f"{kind} ") else key


def _nearest(statement: str, lines: Mapping[Mark, str]) -> tuple[Mark, ...]:
    """Return the lines that share most stems and numbers with a statement: the nearest of all, and the nearest row."""
    sought, numbers = _cues(statement), set(NUMBER.findall(statement))
    rows = [mark for mark in lines if mark.line]
    with_numbers = [mark for mark in rows if numbers.intersection(NUMBER.findall(lines[mark]))]
    decisive = set(with_numbers or rows)  # a head may share more words
    shared = {mark: len(sought & _cues(line)) for mark, line in lines.items() if not mark.line or mark in decisive}
    either = max(shared, key=shared.__getitem__, default=None)
    row = max((mark for mark in shared if mark.line), key=shared.__getitem__, default=None)
    return tuple(dict.fromkeys(mark for mark in (either, row) if mark is not None and shared[mark]))


@lru_cache(maxsize=4096)
def _cues(text: str) -> frozenset[str]:
    """Return the stems and the numbers of a text."""
    return frozenset([*stems(text), *NUMBER.findall(text)])


# --- What flags are worth: the error rate of the program that gave them, as far as one was measured.

AID = (
    "An aid, no proof: labels are a model's opinion, and some are wrong, also of those that find no fault. Read the "
    "sentence and its evidence before you change or reject anything."
)
BUILT_IN = (
    "The built-in model has 135 million parameters. It shows how the command works; as a judge it is worth nothing: do "
    "not act on what it says."
)
KINDS = {"claim": "Statements against the rest of the paper", "citation": "Citations against cited papers"}


def _reliability(checkers: Sequence[Checker], lm: str) -> list[str]:
    """Return what a reader should know of the flags before the first of them. lm: the spec of the LM that judges."""
    if len(checkers) > 1 and not any(by.name for by in checkers):
        return ["Judged by uncompiled programs: no error rate of them is known."]
    return [f"{KINDS[by.kind]}: judged by {_measured(by, lm)}" for by in checkers]


def _measured(by: Checker, lm: str) -> str:
    """Return the scores of a program on its test split."""
    if by.name is None:
        return "an uncompiled program. No error rate of it is known."
    scores = by.program.test_scores
    if scores is None or scores.accuracy is None:
        return f"{by.name}. No error rate of it is known: no scores on a test split came with it."
    per_label = "; ".join(
        f"{label} {percent(one.precision)} % and {percent(one.recall)} % ({one.support})"
        for label, one in scores.per_label.items()
    )
    text = (
        f"{by.name}. On its test split ({scores.records} records) it labelled {percent(scores.accuracy)} % of "
        f"{scores.statements} statements right. How often each label was right where given, and given where due (of "
        f"how many): {per_label}."
    )
    if (error := scores.calibration_error) is not None:
        text += f" Its confidence was off by {percent(error)} points on average there."
    text += " Other papers may be harder."
    if scores.lm != lm:
        text += f" That is with {scores.lm}. Here {lm} judged, with which no error rate is known."
    return text
