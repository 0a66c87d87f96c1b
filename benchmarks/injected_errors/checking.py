"""The check of `aisr check-paper` as this measurement runs it on whole papers, and what its two looks cost."""

import argparse
from pathlib import Path
from typing import NamedTuple

from aisr.base.files import cache_folder
from aisr.lm.budget import Ledger, Limits, Spend
from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.paper.check.checks import CLAIMS, WHOLE, checks
from aisr.paper.check.exact import added, read_paper
from aisr.paper.check.judging import judge_by, reviewed
from aisr.paper.check.verdicts import Review
from aisr.predict.prepare import open_gallery


class Cost(NamedTuple):
    """Tokens that were sent and written for a paper. first: of the first look alone; both: of both looks; None where
    the response cache held some of the answers."""

    first: int | None
    both: int | None


class Checking:
    """The check, with its LM and what that came to."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        ledger = Ledger(Limits(given.max_usd, given.max_calls))
        config = LMConfig(given.lm, api_base=given.api_base, threads=given.threads, price=given.price)
        self.lm = open_lm(config, ledger)

    def check(self, paper: Path, second: bool = True) -> Review:
        """A paper with all its verdicts. second: whether it gets a second look."""
        artifacts = self.given.artifacts
        draft, cited = read_paper(paper, None, None, cache_folder(artifacts) / "figures")
        gallery = open_gallery(draft.folder, artifacts, draft.drawings)
        judge = judge_by("claim", CLAIMS, self.given.program, self.lm, gallery, artifacts)
        again = judge_by("claim", WHOLE, self.given.draft_program, self.lm, gallery, artifacts) if second else None
        return added(reviewed(draft, checks(draft, cited), [judge], self.lm, again=again), cited)

    def cost(self, paper: Path) -> Cost:
        """What a paper comes to as it is: the first look, and what the second one adds to it."""
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
