"""Hostile text costs time in proportion to its length: what a server, a paper or a caption can be made to hold must not
stop the process."""

from collections.abc import Callable

import pytest

from aisr.base import redact
from aisr.programs.decision import cues
from aisr.programs.text.compare import alike, lettered
from aisr.programs.text.sanitize import clean, item, plain
from aisr.programs.text.units import sentences
from aisr.programs.vision.evidence_bundle import LABEL
from aisr.tasks import drafts
from aisr.tracking.store import reason
from support.growth import Expression, attacks, expressions, slow
from support.paths import ROOT

FOUND = expressions(ROOT, ["programs", "metrics", "optimize", "aisr"])


@pytest.mark.parametrize("expression", [pytest.param(one, id=one.name) for one in FOUND])
def test_no_regular_expression_tries_all_ways_to_split_a_text(expression: Expression) -> None:
    found = (said for attack in attacks(expression) if (said := slow(expression.ask, attack)))
    assert next(found, None) is None


READERS: dict[str, tuple[Callable[[str], object], str, str]] = {
    "a marker that does not end": (plain, "<<", " "),
    "marks in no order": (plain, "e", "\u0316\u0300"),
    "marks in what is compared": (alike, "e", "\u0316\u0300"),
    "marks in an item": (item, "e", "\u0316\u0300"),
    "a bracket that does not close": (lambda text: item(text, LABEL.fullmatch), "[", " a"),
    "letters of LaTeX": (clean, "", "\\mathrm { a"),
    "figures": (lambda text: cues.signs(text, text), "", "Fig. 1 "),
    "pictures": (drafts._items, "![a](", " "),
    "pictures in pictures": (drafts._items, "", "![a]("),
    "ends of sentences": (sentences, "", "A. "),
    "the cause of an error": (lambda text: reason(Exception(text)), "Caused by E(", ": "),
    "addresses": (redact.addresses, "", "http://a"),
    "letters of a paper": (lambda text: lettered.__wrapped__((text,)), "e", "\u0316\u0300"),
}


@pytest.mark.parametrize("name", READERS)
def test_no_reader_of_text_hangs(name: str) -> None:
    read, head, piece = READERS[name]
    assert slow(read, lambda length: head + piece * (length // len(piece))) is None
