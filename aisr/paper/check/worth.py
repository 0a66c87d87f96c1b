"""What verdicts are worth: the error rate of the program that gave them, as far as one was measured."""

from collections.abc import Mapping
from typing import NamedTuple

from aisr.artifact.manifest import Manifest, OnTest
from aisr.base.files import percent
from aisr.lm.open import EMBEDDED

AID = (
    "An aid, no proof: verdicts are a model's opinion, and some are wrong, also of those that find no fault. Read the "
    "sentence and its evidence before you change or reject anything."
)
UNMEASURED = "Judged by uncompiled programs: no error rate of them is known."
BUILT_IN = (
    "The built-in model has 135 million parameters. It shows how the command works; as a judge it is worth nothing: do "
    "not act on what it says."
)
AGAIN = "again"
JUDGED = {
    "claim": "Sentences against tables and figures",
    "citation": "Citations against cited papers",
    AGAIN: "Sentences against the whole paper",
}


class Record(NamedTuple):
    """What is known of a program: its name, what it was made from, and how it did on its test split."""

    name: str
    manifest: Manifest | None
    test: OnTest | None


class Worth(NamedTuple):
    """What a reader should know of verdicts before the first of them, and more of it."""

    first: list[str]
    more: list[str]


def worth(kind: str, record: Record | None, lm: str) -> Worth:
    """What one kind of verdict is worth, a key of `JUDGED`. record: None for an uncompiled program; lm: the spec of the
    LM that judges."""
    what = JUDGED[kind]
    if record is None:
        return Worth([f"{what}: judged by an uncompiled program. No error rate of it is known."], [])
    if record.test is None or record.test.accuracy is None:
        said = f"{what}: judged by {record.name}. No error rate of it is known: no scores on a test split came with it."
        return Worth([said], [])
    first = [f"{what}: judged by {record.name}. {_accuracy(record.test)}"]
    made_with = record.manifest.lm.spec if record.manifest else ""
    if made_with != lm:
        first.append(
            f"That is the program with {made_with or 'an unknown LM'}, and it is {lm} that judged here: with this one "
            "no error rate is known."
        )
    more = [f"{what}. {_by_label(record.test)} {_calibration(record.test)}"]
    return Worth(first, [*more, "Papers other than those of the test split may be harder."])


def of_all(judges: Mapping[str, Record | None], lm: str) -> Worth:
    """The same of all kinds of verdict, keys of `JUDGED`; where nothing is known of any, it is said once."""
    if len(judges) > 1 and not any(judges.values()):
        return Worth([UNMEASURED], [])
    each = [worth(kind, known, lm) for kind, known in judges.items()]
    more = dict.fromkeys(said for one in each for said in one.more)
    return Worth([said for one in each for said in one.first], list(more))


def about(lm: str) -> list[str]:
    """What is said on top, whatever the programs are."""
    return [BUILT_IN if lm == EMBEDDED else AID]


def _accuracy(test: OnTest) -> str:
    return (
        f"On its test split ({test.records} records) it labelled {percent(test.accuracy or 0)} % of "
        f"{test.statements} statements right."
    )


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
