"""What judges a draft by an LM that answers from a script."""

from typing import Any

import aisr
from aisr.api import LanguageModel
from aisr_papers.check.judging import Checker
from aisr_papers.draft_task import DRAFT
from support.scripted import Answers, scripted


def opened(answers: Answers) -> aisr.LanguageModel:
    """A scripted LM as `aisr.open_lm` gives one."""
    return LanguageModel(scripted(answers))


def checker(lm: aisr.LanguageModel, **more: Any) -> Checker:
    """The uncompiled program for statements. more: of `aisr.uncompiled`."""
    return Checker("claim", aisr.uncompiled(DRAFT, lm, **more))
