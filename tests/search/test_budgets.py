"""One word for how thorough a search is."""

import re
from pathlib import Path

import pytest

from aisr.optimize.search.budgets import BUDGETS, settings
from aisr.optimize.search.compilation import Settings
from aisr.optimize.search.optimizers import OPTIMIZERS
from aisr.optimize.search.searches import SEARCHES, Sizes
from support.commands import Aisr
from support.loopback import Loopback
from support.paths import SAMPLE

SIZES = Sizes(400, 200, 200)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_judges_more_with_a_larger_budget(optimizer: str) -> None:
    judged = [
        sum(step.times * (step.records or SIZES._asdict()[step.split]) for step in SEARCHES[optimizer](one, SIZES))
        for one in BUDGETS.values()
    ]
    assert judged == sorted(judged)
    assert len(set(judged)) == 3 or optimizer in ("knn", "bootstrap")  # of which each makes one program


def test_what_is_said_besides_overrides_the_budget() -> None:
    assert settings("medium", 7) == Settings(seed=7)  # the default
    light = settings("light", 0, demos=0, max_usd_per_1000=2.0)
    assert (light.candidates, light.demos, light.demo_tokens, light.max_usd_per_1000) == (2, 0, 3000, 2.0)
    with pytest.raises(ValueError, match="--budget 'huge'; one of: light, medium, heavy"):
        settings("huge", 0)


def test_the_estimate_shows_all_three_and_sends_nothing(aisr: Aisr, loopback: Loopback, tmp_path: Path) -> None:
    few = ("--limit-train", 8, "--limit-dev", 6, "--limit-test", 4)
    at = ["--task", "track1", "--data", SAMPLE / "track1", "--artifacts", tmp_path, "--optimizer", "labeled", *few]
    lm = ["--lm", "openai/local", "--api-base", loopback.url, "--price", "1,1"]
    done = aisr("compile", *at, *lm, "--budget", "heavy", "--estimate")
    assert done.code == 0, done.err
    rows = {name: re.search(rf"{name} +│ +(\d+) │ +(\d+) │ +(\d+) │", done.out) for name in BUDGETS}
    calls = {name: int(found[3]) for name, found in rows.items() if found}
    around = 6 + 2 * 4 + 8  # the uncompiled program on dev, two on test, the layer on train
    assert calls == {name: around + 6 * candidates for name, candidates in (("light", 2), ("medium", 4), ("heavy", 8))}
    assert f"about {calls['heavy']} LM calls" in " ".join(done.out.split())
    assert loopback.asked == []
    assert aisr("compile", *at, *lm, "--budget", "huge", "--estimate").code == 2
