"""Labelled records: a file without labels is refused before much is spent on it."""

from pathlib import Path
from typing import Any

import dspy
import pytest

from aisr.base.errors import UserError
from aisr.optimize.examples import prepare_all
from aisr.programs.track2.task import TRACK2
from support.scripted import citation


def test_nothing_is_prepared_behind_a_record_without_labels() -> None:
    judge, prepared = TRACK2.build({}), list[Any]()
    records = [citation("Supported", "P1", number=1).without_labels(), citation("Supported", "P1", number=2)]

    def prepare(record: Any) -> dspy.Example:
        prepared.append(record)
        return judge.prepare(record)

    with pytest.raises(UserError, match="has no labels"):
        prepare_all(TRACK2, prepare, iter(records), Path("dev.jsonl"))
    assert prepared == records[:1]
