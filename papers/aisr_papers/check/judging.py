"""Judging the checks of a paper, and what the verdicts are worth.

Nothing is kept but the answers in the response cache: the same command, be it after a stop or after an edit, asks only
what was not asked before, since an answer is known by the whole text of its prompt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import dspy

from aisr.artifact.manifest import REPORT, Manifest, OnTest, read_manifest, read_test_scores
from aisr.base.errors import UserError
from aisr.base.files import BadArtifact, percent
from aisr.lm.client import OpenLM
from aisr.lm.config import EMBEDDED
from aisr.lm.rate_limit import FATAL_ERRORS
from aisr.predict.evaluate import label_confidence
from aisr.predict.judge import Outcome, failure_text, judge, map_unordered
from aisr.predict.prepare import (
    attach_embeddings,
    attach_gallery,
    check_compatible,
    evidence_form,
    states_for,
)
from aisr.programs.draft.record import DraftLabel
from aisr.programs.images import Gallery
from aisr.programs.program import Program
from aisr.programs.records import Record
from aisr.programs.task import Answer, Exhibit, Task
from aisr.programs.text import ROW
from aisr.tracking import registry
from aisr.tracking.store import MODEL_SCHEME
from aisr_papers.check.checks import CITATIONS, CLAIMS, Checks, statements_of, subject_digests
from aisr_papers.check.questions import SECTION, Check
from aisr_papers.check.reasons import Done, add_reasons, ignore
from aisr_papers.check.verdicts import (
    Kind,
    Labels,
    Mark,
    Piece,
    Review,
    Verdict,
    hidden_verdicts,
    sort_verdicts,
)
from aisr_papers.cues import NUMBER, nearest_line
from aisr_papers.draft import Draft

# --- Programs ready to judge a paper: compiled ones, with what is known of them, or those of the tasks uncompiled.


class KnownProgram(NamedTuple):
    """What is known of a compiled program."""

    name: str
    manifest: Manifest | None
    test: OnTest | None  # how it did on its test split


@dataclass(frozen=True)
class Checker:
    """What judges one kind of check."""

    kind: Kind
    task: Task
    program: Program
    known: KnownProgram | None = None  # None for an uncompiled program

    @property
    def labels(self) -> Labels:
        """Those of its task."""
        return Labels(self.task.labelled.neutral, self.task.labelled.definitions)


def make_checkers(
    programs: Mapping[str, str],
    lm: OpenLM,
    gallery: Gallery | None,
    artifacts: Path,
    evidence: str | None = None,
) -> tuple[Checker, Checker]:
    """What judges statements, and what judges citations, ready for an LM. programs: of each task the folder of its
    compiled program, or `models:/…`; without one the uncompiled program judges. evidence: what that one shows of a
    picture (`--evidence`); None: the pixels where the LM is known to take them, else the caption. Raises UserError for
    a program that shows what the LM cannot see."""
    return (
        _make_checker("claim", CLAIMS, programs.get(CLAIMS.name), lm, gallery, artifacts, evidence),
        _make_checker("citation", CITATIONS, programs.get(CITATIONS.name), lm, gallery, artifacts, evidence),
    )


def programs_by_task(names: Sequence[str], artifacts: Path) -> dict[str, str]:
    """Programs by the names of their tasks. Raises UserError for one that judges nothing of a paper, and for two of one
    task."""
    programs: dict[str, str] = {}
    for name in names:
        task = registry.load(name, artifacts).task.name
        if task not in (CLAIMS.name, CITATIONS.name):
            raise UserError(
                f"--program {name} is compiled for {task}; expected one for {CLAIMS.name} (statements against the "
                f"paper) or {CITATIONS.name} (citations)"
            )
        if task in programs:
            raise UserError(f"--program {name} and --program {programs[task]} are both compiled for {task}")
        programs[task] = name
    return programs


def _make_checker(
    kind: Kind, task: Task, name: str | None, lm: OpenLM, gallery: Gallery | None, artifacts: Path, evidence: str | None
) -> Checker:
    if name:
        program = registry.load(name, artifacts).program
    else:
        form = evidence_form(evidence, lm) if evidence else "image" if lm.supports_vision else None
        wanted = {"states": states_for(lm), "evidence": form}
        program = task.build(
            {key: value for key, value in wanted.items() if value and key in task.program.Options.model_fields}
        )
    check_compatible(program, lm)
    ready = attach_embeddings(attach_gallery(program, gallery), lm.embeddings)
    return Checker(kind, task, ready, _known_program(name, artifacts) if name else None)


def _known_program(name: str, artifacts: Path) -> KnownProgram:
    """What is known of how a compiled program did: nothing, where its folder or run lacks that."""
    from mlflow.exceptions import MlflowException

    try:
        if name.startswith(MODEL_SCHEME):
            manifest, test = registry.load_manifest(artifacts, name), registry.load_test_report(artifacts, name)
            return KnownProgram(name, manifest, test)
        return KnownProgram(name, read_manifest(Path(name)), read_test_scores(Path(name) / REPORT))
    except (BadArtifact, MlflowException):  # a program is complete without these; its error rate is then not known
        return KnownProgram(name, None, None)


# --- Verdicts on checks.

NOT_REACHED = "not reached: "  # before what ended the judging


def review_draft(
    draft: Draft,
    checks: Checks,
    checkers: Sequence[Checker],
    lm: OpenLM,
    done: Done = ignore,
    problems: Mapping[tuple[str, str], str] | None = None,
) -> Review:
    """A draft with the verdicts on all its checks, and what these are worth. `done` gets those of each check;
    problems: where the pictures that cannot be shown stand meanwhile, see `aisr.programs.images.Gallery`."""
    verdicts, labels = hidden_verdicts(draft), {}
    known = dict[str, KnownProgram | None]()
    judged: list[tuple[Checker, Sequence[Verdict]]] = []
    for by in checkers:
        of_kind = checks.claims if by.kind == "claim" else checks.citations
        labels[by.kind] = by.labels
        if of_kind:
            known[by.kind] = by.known
            first = judge_checks(by, of_kind, lm, done)
            more = _with_whole_tables(first, checks) if by.kind == "claim" else ()
            again = {(one.paragraph, one.sentence): one for one in judge_checks(by, more, lm, done)}
            final = [again.get((one.paragraph, one.sentence), one) for one in first]
            judged.append((by, final))
    for by, without in judged:  # behind all verdicts: where a limit is reached, these are worth more
        verdicts += add_reasons(by, draft, without, lm, done)
    summary, details = _reliability_of_all(known, lm.spec)
    return Review(
        draft,
        lm.spec,
        sort_verdicts(verdicts),
        labels,
        (BUILT_IN if lm.spec == EMBEDDED else AID, *summary),
        tuple(details),
        checks.skipped,
        checks.missing,
        lm.ledger.stopped or _end_of_judging(verdicts),
        {path: why for (_, path), why in (problems or {}).items()},
    )


def _end_of_judging(verdicts: Sequence[Verdict]) -> str | None:
    """What ended the judging early; None where nothing did."""
    failures = (one.failure or "" for one in verdicts)
    return next((one.removeprefix(NOT_REACHED) for one in failures if one.startswith(NOT_REACHED)), None)


def _with_whole_tables(verdicts: Sequence[Verdict], checks: Checks) -> Sequence[Check]:
    """The second questions, with a table whole, about numbers that were not found while their paragraph refers to it;
    their verdicts stand."""
    if checks.questions is None:
        return ()
    unknown = [(one.paragraph, one.sentence) for one in verdicts if one.label == DraftLabel.NOT_FOUND]
    return checks.questions.with_whole_table(unknown, checks.claims)


def judge_checks(by: Checker, checks: Sequence[Check], lm: OpenLM, done: Done = ignore) -> list[Verdict]:
    """A verdict for each sentence of each check, in the order of the checks; `done` gets those of each check.

    A check that fails gives verdicts without a label. So do those behind a limit of the ledger, and behind an error
    that would fail every check alike (see `aisr.predict.judge.judge`), such as a key that expires. Raises this error
    where the LM has not answered yet: nothing was paid for.
    """

    def work(numbered: tuple[int, Check]) -> tuple[dspy.Example, Outcome]:
        example = by.program.prepare(numbered[1].record)
        return example, judge(by.task, by.program, example, lm)

    verdicts: dict[int, list[Verdict]] = {}
    reason = ""
    try:
        for (number, check), (example, outcome) in map_unordered(work, enumerate(checks), lm.threads):
            verdicts[number] = _verdicts(by, check, example, outcome)
            done(verdicts[number])
    except FATAL_ERRORS as error:
        if lm.ledger.stopped is None and lm.lm.contact.error is not None:
            raise
        reason = lm.ledger.stopped or f"the LM takes no more calls ({failure_text(error)})"
    for number, check in enumerate(checks):
        if number not in verdicts:
            verdicts[number] = _unjudged(by, check, statements_of(check.record), NOT_REACHED + reason)
    return [verdict for number in range(len(checks)) for verdict in verdicts[number]]


def _verdicts(by: Checker, check: Check, example: dspy.Example, outcome: Outcome) -> list[Verdict]:
    task = by.task
    statements = task.labelled.statements(example)
    pieces, marks = _evidence(task, check.record, example, outcome.answer)
    if outcome.failure is not None:
        return [one._replace(evidence=pieces) for one in _unjudged(by, check, statements, outcome.failure)]
    verdicts = []
    for (paragraph, sentence), statement, judgement, of_statement, subject in zip(
        check.places, statements, outcome.judgements, marks, subject_digests(check.record), strict=True
    ):
        neutral = judgement.label == task.labelled.neutral
        verdicts.append(
            Verdict(
                by.kind,
                paragraph,
                sentence,
                statement,
                judgement.label,
                neutral,
                label_confidence(task, judgement),
                work=check.work,
                evidence=pieces,
                marks=of_statement,
                subject=subject,
            )
        )
    return verdicts


def _unjudged(by: Checker, check: Check, statements: Sequence[str], why: str) -> list[Verdict]:
    return [
        Verdict(by.kind, paragraph, sentence, statement, None, failure=why, work=check.work)
        for (paragraph, sentence), statement in zip(check.places, statements, strict=True)
    ]


# --- What a sentence is held against, piece by piece as the model read it, and the lines of it that stand out.

LONGEST_NAME = 20
LONGEST_HEADING = 160
BAR = "| "  # what leads a row of a table in a prompt


def _evidence(
    task: Task, record: Record, example: dspy.Example, answer: Answer | None
) -> tuple[tuple[Piece, ...], list[tuple[Mark, ...]]]:
    """The pieces of evidence of a record, and for each statement of it the marks.

    Of a task whose programs name evidence, the pieces are paragraphs, and the named ones are marked. Of any other they
    are the items of a bundle with the rows of their tables, and for each statement the line is marked that shares most
    words and numbers with it, and so is such a table row: nobody asked the model which one decided.
    """
    statements = task.labelled.statements(example)
    exhibits = task.exhibits(record, example, answer)
    if task.labelled.names_evidence:
        pieces = tuple(Piece(one.key, tuple(one.text.split(ROW)), one.picture) for one in exhibits)
        named = sorted((one.chosen, number) for number, one in enumerate(exhibits) if one.chosen)
        marks = tuple(Mark(number, 0, place) for place, number in named)
        return pieces, [marks for _ in statements]
    grounds = task.labelled.evidence(example)
    pieces = _parse_pieces(grounds, exhibits)
    return pieces, [_nearest(statement, grounds, pieces) for statement in statements]


def _parse_pieces(grounds: str, exhibits: Sequence[Exhibit]) -> tuple[Piece, ...]:
    """The pieces of a text that has a line an item, led by its key in brackets, and rows on lines below it."""
    pictures = {one.key: one.picture for one in exhibits}
    items: list[tuple[str, list[str]]] = []
    for line in grounds.split("\n"):
        key, closed, text = line.removeprefix("[").partition("] ")
        if closed and line.startswith("[") and key in pictures:
            items.append((key, [text]))
        elif items:
            items[-1][1].append(line.strip().removeprefix(BAR))
        else:
            items.append(("", [line]))
    return tuple(Piece(_name(key, lines[0]), tuple(lines), pictures.get(key)) for key, lines in items)


def _name(key: str, text: str) -> str:
    """What the paper calls an item, where its text begins with that ("Table 3: …"), or the section of a passage; else
    its key, which counts the items of one bundle."""
    name, kind = text.partition(":")[0], key.partition(" ")[0]
    if kind == "text" and text.startswith(SECTION) and "”: " in text[:LONGEST_HEADING]:
        return f"{text.partition('”: ')[0]}”"
    return name if len(name) <= LONGEST_NAME and name.lower().startswith(f"{kind} ") else key


def _nearest(statement: str, grounds: str, pieces: Sequence[Piece]) -> tuple[Mark, ...]:
    lines = grounds.split("\n")
    places = [Mark(piece, line) for piece, one in enumerate(pieces) for line in range(len(one.lines))]
    rows = [line for line, mark in zip(lines, places, strict=True) if mark.line]
    numbers = set(NUMBER.findall(statement))
    with_numbers = [line for line in rows if numbers.intersection(NUMBER.findall(line))]
    decisive = with_numbers or rows  # a head may share more words
    texts = [line for line, mark in zip(lines, places, strict=True) if not mark.line or line in decisive]
    nearest = [nearest_line(statement, "\n".join(some)) for some in (texts, decisive)]
    return tuple(dict.fromkeys(places[lines.index(line)] for line in nearest if line))


# --- What verdicts are worth: the error rate of the program that gave them, as far as one was measured.

AID = (
    "An aid, no proof: verdicts are a model's opinion, and some are wrong, also of those that find no fault. Read the "
    "sentence and its evidence before you change or reject anything."
)
UNMEASURED = "Judged by uncompiled programs: no error rate of them is known."
BUILT_IN = (
    "The built-in model has 135 million parameters. It shows how the command works; as a judge it is worth nothing: do "
    "not act on what it says."
)
KINDS = {"claim": "Statements against the rest of the paper", "citation": "Citations against cited papers"}


class Reliability(NamedTuple):
    """What a reader should know of verdicts before the first of them, and more of it."""

    summary: list[str]
    details: list[str]


def reliability(kind: str, known: KnownProgram | None, lm: str) -> Reliability:
    """What one kind of verdict is worth, a key of `KINDS`. known: None for an uncompiled program; lm: the spec of the
    LM that judges."""
    what = KINDS[kind]
    if known is None:
        return Reliability([f"{what}: judged by an uncompiled program. No error rate of it is known."], [])
    judged_by = f"{what}: judged by {known.name}."
    if known.test is None or known.test.accuracy is None:
        return Reliability([f"{judged_by} No error rate of it is known: no scores on a test split came with it."], [])
    summary = [
        f"{judged_by} On its test split ({known.test.records} records) it labelled {percent(known.test.accuracy)} % of "
        f"{known.test.statements} statements right."
    ]
    made_with = known.manifest.lm.spec if known.manifest else ""
    if made_with != lm:
        summary.append(
            f"That is the program with {made_with or 'an unknown LM'}, and it is {lm} that judged here: with this one "
            "no error rate is known."
        )
    details = f"{what}. {_by_label(known.test)} {_calibration(known.test)}"
    return Reliability(summary, [details, "Papers other than those of the test split may be harder."])


def _reliability_of_all(programs: Mapping[str, KnownProgram | None], lm: str) -> Reliability:
    """The same of all kinds of verdict, keys of `KINDS`; where nothing is known of any, it is said once."""
    if len(programs) > 1 and not any(programs.values()):
        return Reliability([UNMEASURED], [])
    each = [reliability(kind, known, lm) for kind, known in programs.items()]
    details = dict.fromkeys(line for one in each for line in one.details)
    return Reliability([line for one in each for line in one.summary], list(details))


def _by_label(test: OnTest) -> str:
    parts = [
        f"{label} {percent(one.precision)} % and {percent(one.recall)} % ({one.support})"
        for label, one in test.per_label.items()
    ]
    return f"How often each label was right where given, and given where due (of how many): {'; '.join(parts)}."


def _calibration(test: OnTest) -> str:
    if not test.confidence:
        return "How far its confidence can be trusted was not recorded."
    parts = [
        f"{percent(one.calibration_error)} points ({source}, {one.judgements} statements)"
        for source, one in test.confidence.items()
    ]
    return f"Its confidence was off by {', '.join(parts)} on average there."
