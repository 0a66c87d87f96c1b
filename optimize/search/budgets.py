"""How thorough a search is, in one word: candidates, demos and, by them, the records that every optimizer judges.

GEPA judges as many records as
`candidates` times dev and two minibatches have, MIPROv2 makes twice as many trials, SIMBA as many steps of as many
candidates.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from aisr.optimize.search.compilation import Settings
from aisr.programs.errors import UserError

# More demos are not longer ones: each may take 750 tokens. SIMBA's calls grow with the square of the candidates, which
# is what keeps "heavy" at eight.
BUDGETS: Mapping[str, Settings] = MappingProxyType(
    {
        "light": Settings(demos=4, demo_tokens=3000, candidates=2),
        "medium": Settings(demos=4, demo_tokens=3000, candidates=4),
        "heavy": Settings(demos=8, demo_tokens=6000, candidates=8),
    }
)
USUAL = "medium"


def settings(
    budget: str,
    seed: int,
    demos: int | None = None,
    demo_tokens: int | None = None,
    candidates: int | None = None,
    max_usd_per_1000: float | None = None,
) -> Settings:
    """The settings of a budget, but for what is said besides. Raises UserError for no budget."""
    if budget not in BUDGETS:
        raise UserError(f"--budget {budget!r}; one of: {', '.join(BUDGETS)}")
    said = {"demos": demos, "demo_tokens": demo_tokens, "candidates": candidates}
    given = {name: value for name, value in said.items() if value is not None}
    return replace(BUDGETS[budget], **given, seed=seed, max_usd_per_1000=max_usd_per_1000)
