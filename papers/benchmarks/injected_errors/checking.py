"""The check of `check-paper` on whole papers with injected errors: flags and cost, and what is asked and shown."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from aisr.text import cache_folder
from aisr_papers.check.judging import Programs, make_checkers, review_draft
from aisr_papers.check.questions import Check, collect_checks
from aisr_papers.check.review import Review, add_exact_flags
from aisr_papers.cli import open_lm
from aisr_papers.draft import Draft
from aisr_papers.draft_record import DraftRecord
from aisr_papers.open import read_paper
from aisr_papers.recompute.grid import find_mentions, make_grids
from benchmarks.injected_errors.errors import (
    Fault,
    labels_by_level,
    matching_cells,
)


class Checking:
    """The check, with its LM and the use of that."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        limits = {"max_usd": options.max_usd, "max_calls": options.max_calls}
        self.lm = open_lm(options.lm, options.api_base, options.lm_settings, **limits)

    def check(self, paper: Path) -> Review:
        """A paper with all its flags but those on citations."""
        artifacts = self.options.artifacts
        draft, cited = read_paper(paper, figures=cache_folder(artifacts) / "figures")
        checkers = make_checkers(Programs(artifacts, self.options.program), self.lm, draft)
        checks = collect_checks(draft, cited)
        return add_exact_flags(review_draft(draft, checks, checkers, self.lm), cited)


class Shown(NamedTuple):
    """Of injected errors: how many, how many in statements that are asked about, how many of these with the table that
    decides, and how many with all the rows of it that the error is about."""

    injected: int
    asked: int
    table: int
    rows: int


def shown(draft: Draft, faults: Sequence[Fault]) -> Shown:
    """What is asked about the injected errors of a paper, and what is shown for them, without asking a model."""
    by_place = {place: check for check in collect_checks(draft, {}).claims for place in check.places}
    asked = [
        (one, by_place[one.paragraph, one.sentence]) for one in faults if (one.paragraph, one.sentence) in by_place
    ]
    with_table = [(one, check) for one, check in asked if one.table in _tables(check)]
    rows = sum(_rows(draft, one) <= set(_tables(check)[one.table].split("\n")) for one, check in with_table)
    return Shown(len(faults), len(asked), len(with_table), rows)


def _rows(draft: Draft, fault: Fault) -> set[str]:
    """The rows of its table that a sentence names before and after the error; all where it names none."""
    (table,) = (one for one in draft.floats.values() if one.name == fault.table)
    (grid,) = make_grids([table])
    text = draft.paragraphs[fault.paragraph].sentences[fault.sentence].text
    wanted = {
        level: labels for level, labels in labels_by_level(find_mentions(text, grid)).items() if level < grid.beside
    }
    lines = table.rows.split("\n")
    return {lines[cell.row] for cell in matching_cells(grid.cells, wanted)}


def _tables(check: Check) -> dict[str, str]:
    """The tables in the evidence: name -> rows."""
    items = check.record.evidence_bundle if isinstance(check.record, DraftRecord) else []
    return {caption.partition(":")[0]: item.text or "" for item in items for caption in item.table_caption}
