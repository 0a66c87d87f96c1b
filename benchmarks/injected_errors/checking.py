"""The check of `aisr check-paper` on whole papers with injected errors: verdicts, cost, labelled records of drafts.

The label of a sentence with an injected error follows from the kind of that. An untouched one counts as supported where
a table has every number in it, and it gives no cause and claims no more than a case.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from aisr.base.files import cache_folder
from aisr.lm.budget import Ledger, Limits, Spend
from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.paper.check.checks import CLAIMS, WHOLE, Judged, collect_checks
from aisr.paper.check.exact import add_exact_verdicts, read_paper
from aisr.paper.check.judging import make_checker, review_draft
from aisr.paper.check.verdicts import Review
from aisr.paper.draft import Draft
from aisr.paper.recompute.numbers import find_numbers
from aisr.predict.prepare import open_gallery
from aisr.programs.decision import causes, quantifiers
from aisr.programs.draft.record import DraftLabel
from aisr.programs.records import CorrectableRecord, StatementLabel
from benchmarks.injected_errors.errors import CONTRADICTED, Fault, spots


class Cost(NamedTuple):
    """Prompt and completion tokens of a paper; None where the response cache held some of the answers."""

    first: int | None  # of the first look alone
    both: int | None  # of both looks


class Checking:
    """The check, with its LM and the use of that."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        ledger = Ledger(Limits(options.max_usd, options.max_calls))
        config = LMConfig(options.lm, api_base=options.api_base, threads=options.threads, price=options.price)
        self.lm = open_lm(config, ledger)

    def check(self, paper: Path, second: bool = True) -> Review:
        """A paper with all its verdicts. second: whether it gets a second look."""
        artifacts = self.options.artifacts
        draft, cited = read_paper(paper, None, None, cache_folder(artifacts) / "figures")
        gallery = open_gallery(draft.folder, artifacts, draft.drawings)
        first = make_checker(CLAIMS, self.options.program, self.lm, gallery, artifacts)
        again = make_checker(WHOLE, self.options.draft_program, self.lm, gallery, artifacts)
        checks = collect_checks(draft, cited)
        review = review_draft(draft, checks, [first], self.lm, again=again if second else None)
        return add_exact_verdicts(review, cited)

    def cost(self, paper: Path) -> Cost:
        """The cost of a paper as it is: of the first look, and of both."""
        start = self.lm.ledger.spend
        self.check(paper, second=False)
        middle = self.lm.ledger.spend
        self.check(paper)
        end = self.lm.ledger.spend
        fresh = middle.cached_calls == start.cached_calls and self.lm.ledger.stopped is None
        first, second = _tokens(middle) - _tokens(start), _tokens(end) - _tokens(middle)
        # The first look of the second run is answered by the cache, call by call.
        whole = end.cached_calls - middle.cached_calls <= middle.calls - start.calls
        return Cost(first if fresh else None, first + second if fresh and whole else None)


def _tokens(spend: Spend) -> int:
    return spend.prompt_tokens + spend.completion_tokens


Place = tuple[int, int]  # paragraph and sentence


def labelled(draft: Draft, faults: Sequence[Fault], name: str) -> list[Judged]:
    """The records of a paper with injected errors, whose ids begin with a name. Sentences whose table is not among
    their evidence are left out."""
    known = {place: (DraftLabel.SUPPORTED, table) for place, table in _supported(draft).items()}
    for one in faults:
        label = DraftLabel.CONTRADICTED if one.kind in CONTRADICTED else DraftLabel.BEYOND
        known[one.paragraph, one.sentence] = label, one.table
    look = collect_checks(draft, {}).second
    if look is None:
        return []
    wanted: dict[int, list[int]] = {}
    for paragraph, sentence in known:
        wanted.setdefault(paragraph, []).append(sentence)
    records: list[Judged] = []
    for check in look.checks(wanted):
        tables = _tables(getattr(check.record, "evidence_bundle", ()))
        labels = {k: known[place][0] for k, place in enumerate(check.places) if known[place][1] in tables}
        if labels and isinstance(check.record, CorrectableRecord):
            made = check.record.with_labels({k: StatementLabel(label) for k, label in labels.items()})
            records.append(made.model_copy(update={"id": f"{name}:{made.id}"}))
    return records


def _tables(evidence: Sequence[Any]) -> set[str]:
    """The names of the tables in the evidence."""
    return {caption.partition(":")[0] for item in evidence for caption in item.table_caption}


def _supported(draft: Draft) -> dict[Place, str]:
    """The sentences that a table supports as a whole, as far as a program can decide, and the name of that table."""
    tables = {}
    for paragraph, sentence, spot in spots(draft):
        numbers = {one.start for one in find_numbers(spot.text)}
        supported = {one.number.start for one in (*spot.numbers, *spot.differences)}
        if numbers <= supported and not causes(spot.text, "") and not quantifiers(spot.text, ""):
            tables[paragraph, sentence] = spot.bearing[0].table.name
    return tables
