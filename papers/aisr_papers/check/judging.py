"""Judging the checks of a paper, and what the flags are worth.

Nothing is kept but the answers in the response cache: the same command, be it after a stop or after an edit, asks only
what was not asked before, since an answer is known by the whole text of its prompt.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import aisr
from aisr.files import digest_texts
from aisr.text import clean, item, percent, valid_text
from aisr_papers.check.flags import Flag, Kind, Labels, Mark, Piece, hidden_flags, make_flag, sort_flags
from aisr_papers.check.questions import SECTION, Check, Checks, without_pictures
from aisr_papers.check.reasons import EMBEDDED, Done, add_reasons, ignore
from aisr_papers.check.review import Review
from aisr_papers.cues import NUMBER, nearest_line
from aisr_papers.draft import Draft
from aisr_papers.draft_record import DraftLabel, DraftRecord
from aisr_papers.draft_task import DRAFT

# --- Programs ready to judge a paper: compiled ones, or those of the tasks uncompiled.

CITATIONS = "track2"  # the task whose programs judge citations


class Programs(NamedTuple):
    """The compiled programs that judge: folders of artifacts, or `models:/…`; None for the uncompiled one."""

    claims: str | None = None  # of the task draft
    citations: str | None = None  # of Track 2


@dataclass(frozen=True)
class Checker:
    """What judges one kind of check."""

    kind: Kind
    program: aisr.LoadedProgram
    name: str | None = None  # of a compiled program, as the user names it

    @property
    def labels(self) -> Labels:
        """Those of its task."""
        meanings = self.program.labels
        return Labels(next(iter(meanings)), meanings)


def make_checkers(
    programs: Programs,
    lm: aisr.LanguageModel,
    folder: Path,
    drawings: Mapping[str, Path],
    artifacts: Path,
    evidence: str | None = None,
) -> tuple[Checker, Checker]:
    """Return what judges statements, and what judges citations, of a paper in a folder, for an LM.

    drawings: of figures there that are no raster images, the path of one by theirs; evidence: what the uncompiled
    program shows of a picture (`--evidence`); None: the pixels where the LM is known to take them, else the caption.
    Raises UserError for a program that is not there or of another task.
    """
    load = partial(aisr.load, artifacts=artifacts, image_root=folder, drawings=drawings)
    build = partial(aisr.uncompiled, lm=lm, image_root=folder, drawings=drawings)
    if programs.claims:
        claims = load(programs.claims, DRAFT)
    else:
        claims = build(DRAFT, evidence=evidence) if evidence else build(DRAFT)
    citations = load(programs.citations, CITATIONS) if programs.citations else build(CITATIONS)
    return Checker("claim", claims, programs.claims), Checker("citation", citations, programs.citations)


# --- Flags on checks.

NOT_REACHED = "not reached: "  # before what ended the judging


def review_draft(
    draft: Draft, checks: Checks, checkers: Sequence[Checker], lm: aisr.LanguageModel, done: Done = ignore
) -> Review:
    """A draft with the flags on all its checks, and what these are worth. `done` gets those of each check. Raises
    `aisr.LMUnavailable` where that leaves no flag at all."""
    flags, labels = hidden_flags(draft), {}
    used: list[Checker] = []
    judged: list[tuple[Checker, Sequence[Flag]]] = []
    for by in checkers:
        of_kind = checks.claims if by.kind == "claim" else checks.citations
        labels[by.kind] = by.labels
        if of_kind:
            used.append(by)
            first = judge_checks(by, draft, of_kind, lm, done, is_first=not judged)
            more = _with_whole_tables(first, checks) if by.kind == "claim" else ()
            again = {one.position: one for one in judge_checks(by, draft, more, lm, done)}
            judged.append((by, [again.get(one.position, one) for one in first]))
    for by, without in judged:  # behind all flags: where a limit is reached, these are worth more
        flags += add_reasons(by.program, draft, without, lm, done)
    return Review(
        draft,
        lm.spec,
        sort_flags(flags),
        labels,
        (BUILT_IN if lm.spec == EMBEDDED else AID, *_reliability(used, lm.spec)),
        checks.skipped,
        checks.missing,
        lm.exhausted_reason or _end_of_judging(flags),
        {path: why for by in used for (_, path), why in by.program.picture_problems.items()},
    )


def _end_of_judging(flags: Sequence[Flag]) -> str | None:
    """What ended the judging early; None where nothing did."""
    failures = (one.failed or "" for one in flags)
    return next((one.removeprefix(NOT_REACHED) for one in failures if one.startswith(NOT_REACHED)), None)


def _with_whole_tables(flags: Sequence[Flag], checks: Checks) -> Sequence[Check]:
    """The second questions, with a table whole, about numbers that were not found while their paragraph refers to it;
    their flags stand."""
    if checks.questions is None:
        return ()
    unknown = [one.position for one in flags if one.label == DraftLabel.NOT_FOUND]
    return checks.questions.with_whole_table(unknown, checks.claims)


def judge_checks(
    by: Checker,
    draft: Draft,
    checks: Sequence[Check],
    lm: aisr.LanguageModel,
    done: Done = ignore,
    is_first: bool = False,
) -> list[Flag]:
    """A flag for each sentence of each check of a draft, in the order of the checks; `done` gets those of each check.

    A check that fails gives flags without a label. So do those that a limit of the LM left over, or an error that would
    fail every check alike, such as a key that expires; what was answered by then is kept. is_first: whether nothing was
    judged before. Raises `aisr.LMUnavailable` for such an error if so, and if none of these checks was answered.
    """
    flags: dict[int, list[Flag]] = {}
    ended: list[aisr.LMUnavailable] = []

    def judge(check: Check) -> aisr.Verdict | None:
        return None if ended else by.program.judge(check.record, lm)

    with ThreadPoolExecutor(lm.threads) as pool:
        waiting = {pool.submit(judge, check): place for place, check in enumerate(checks)}
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
    pieces, marks = _evidence(check, verdict.evidence)
    if verdict.failure is not None:
        return _unjudged(by, draft, check, verdict.failure, pieces)
    return [
        make_flag(
            draft,
            by.kind,
            position,
            statement,
            label,
            neutral=label == by.labels.neutral,
            confidence=round(min(probabilities[label], 1.0), 4) if probabilities else None,
            work=check.work,
            pieces=pieces,
            marks=of_statement,
            subject=subject,
        )
        for position, statement, label, probabilities, of_statement, subject in zip(
            check.places,
            _shown_statements(check),
            verdict.labels,
            verdict.probabilities,
            marks,
            _subject_digests(check),
            strict=True,
        )
    ]


def _unjudged(by: Checker, draft: Draft, check: Check, why: str, pieces: tuple[Piece, ...] = ()) -> list[Flag]:
    return [
        make_flag(draft, by.kind, position, statement, None, failed=why, work=check.work, pieces=pieces)
        for position, statement in zip(check.places, _shown_statements(check), strict=True)
    ]


def _shown_statements(check: Check) -> list[str]:
    """The texts that are judged, as a prompt shows them."""
    if isinstance(check.record, DraftRecord):
        return [item(clean(one)) for one in check.statements]
    ids = {key for paragraph in check.record["cited_paper_full_text"] for key in paragraph}
    return [item(one, ids.__contains__) for one in check.statements]


def _subject_digests(check: Check) -> list[str]:
    """For each statement a digest of its words and of all its evidence, whatever part of that a model is shown."""
    if isinstance(check.record, DraftRecord):
        bare = without_pictures(check.record)
        statements, parts = bare.statements, [item.model_dump_json() for item in bare.evidence_bundle]
    else:
        statements = [valid_text(one) for one in check.statements]
        paper = check.record["cited_paper_full_text"]
        parts = [valid_text(text) for paragraph in paper for pair in paragraph.items() for text in pair]
    evidence = digest_texts(parts)
    return [digest_texts([statement, evidence]) for statement in statements]


# --- What a sentence is held against, piece by piece as the model read it, and the lines of it that stand out.

LONGEST_NAME = 20
LONGEST_HEADING = 160


def _evidence(check: Check, shown: Sequence[aisr.ShownEvidence]) -> tuple[tuple[Piece, ...], list[tuple[Mark, ...]]]:
    """The pieces of evidence of a check, and for each statement of it the marks.

    Of a citation, the pieces are paragraphs, and those that the program named are marked. Else they are the items of a
    bundle with the rows of their tables, and for each statement the line is marked that shares most words and numbers
    with it, and so is such a table row: nobody asked the model which one decided.
    """
    if not isinstance(check.record, DraftRecord):
        pieces = tuple(Piece(one.key, one.lines, one.picture) for one in shown)
        named = sorted((one.chosen, number) for number, one in enumerate(shown) if one.chosen)
        marks = tuple(Mark(number, 0, place) for place, number in named)
        return pieces, [marks for _ in check.statements]
    pieces = tuple(Piece(_name(one.key, one.lines[0]), one.lines, one.picture) for one in shown)
    return pieces, [_nearest(statement, shown) for statement in _shown_statements(check)]


def _name(key: str, text: str) -> str:
    """What the paper calls an item, where its text begins with that ("Table 3: …"), or the section of a passage; else
    its key, which counts the items of one bundle."""
    name, kind = text.partition(":")[0], key.partition(" ")[0]
    if kind == "text" and text.startswith(SECTION) and "”: " in text[:LONGEST_HEADING]:
        return f"{text.partition('”: ')[0]}”"
    return name if len(name) <= LONGEST_NAME and name.lower().startswith(f"{kind} ") else key


def _nearest(statement: str, shown: Sequence[aisr.ShownEvidence]) -> tuple[Mark, ...]:
    places = [Mark(piece, line) for piece, one in enumerate(shown) for line in range(len(one.lines))]
    # The number of an item may be what a statement has of it: "[table 3] …".
    heads = [f"[{one.key}] {one.lines[0]}" if one.key else one.lines[0] for one in shown]
    lines = [line for head, one in zip(heads, shown, strict=True) for line in (head, *one.lines[1:])]
    rows = [line for line, mark in zip(lines, places, strict=True) if mark.line]
    numbers = set(NUMBER.findall(statement))
    with_numbers = [line for line in rows if numbers.intersection(NUMBER.findall(line))]
    decisive = with_numbers or rows  # a head may share more words
    texts = [line for line, mark in zip(lines, places, strict=True) if not mark.line or line in decisive]
    nearest = [nearest_line(statement, "\n".join(some)) for some in (texts, decisive)]
    return tuple(dict.fromkeys(places[lines.index(line)] for line in nearest if line))


# --- What flags are worth: the error rate of the program that gave them, as far as one was measured.

AID = (
    "An aid, no proof: labels are a model's opinion, and some are wrong, also of those that find no fault. Read the "
    "sentence and its evidence before you change or reject anything."
)
UNMEASURED = "Judged by uncompiled programs: no error rate of them is known."
BUILT_IN = (
    "The built-in model has 135 million parameters. It shows how the command works; as a judge it is worth nothing: do "
    "not act on what it says."
)
KINDS = {"claim": "Statements against the rest of the paper", "citation": "Citations against cited papers"}


def _reliability(checkers: Sequence[Checker], lm: str) -> list[str]:
    """What a reader should know of the flags before the first of them. lm: the spec of the LM that judges."""
    if len(checkers) > 1 and not any(by.name for by in checkers):
        return [UNMEASURED]
    return [f"{KINDS[by.kind]}: {_measured(by, lm)}" for by in checkers]


def _measured(by: Checker, lm: str) -> str:
    """What the flags of one kind are worth: the scores of their program on its test split."""
    if by.name is None:
        return "judged by an uncompiled program. No error rate of it is known."
    scores = by.program.test_scores
    if scores is None or scores.accuracy is None:
        return f"judged by {by.name}. No error rate of it is known: no scores on a test split came with it."
    per_label = [
        f"{label} {percent(one.precision)} % and {percent(one.recall)} % ({one.support})"
        for label, one in scores.per_label.items()
    ]
    error = scores.calibration_error
    parts = [
        f"judged by {by.name}. On its test split ({scores.records} records) it labelled {percent(scores.accuracy)} % "
        f"of {scores.statements} statements right. How often each label was right where given, and given where due (of "
        f"how many): {'; '.join(per_label)}.",
        "" if error is None else f"Its confidence was off by {percent(error)} points on average there.",
        "Other papers may be harder.",
        ""
        if scores.lm == lm
        else f"That is the program with {scores.lm}, and it is {lm} that judged here: with this one no error rate is "
        "known.",
    ]
    return " ".join(filter(None, parts))
