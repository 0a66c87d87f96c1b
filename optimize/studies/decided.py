"""What a record costs as closed questions, beside the chat form: `python -m aisr.optimize.studies.decided` (no LM).

Every task's sample, without demos, at the prices of a model that LiteLLM lists for both, by the estimate that `aisr
compile --estimate` makes: four bytes a token, answers as long as the labelled ones. Of a task that has something
written first, that step is the chat model's in both forms.
"""

import os
import sys
from pathlib import Path
from statistics import fmean

os.environ.setdefault("OPENAI_API_KEY", "unused: nothing is sent")

from aisr.commands.display import table
from aisr.inference.suits import questions_for, states_for
from aisr.lm.client import OpenLM
from aisr.lm.open import open_lm
from aisr.lm.prices import listed_price
from aisr.optimize.datasets.examples import labelled
from aisr.optimize.search.record_cost import Cost, costs
from aisr.programs.questions.closed import describe_options
from aisr.tasks.all import TASKS

SAMPLE = Path("data/sample")
CHAT = "openai/gpt-6-luna"
DECIDING = f"decide:{CHAT},writer={CHAT}"
RECORDS = 30


def main() -> int:
    """Print the table."""
    rows = []
    for name in TASKS:
        path = SAMPLE / name / "dev.jsonl"
        if not path.exists():
            continue
        chat, deciding = (_mean(name, path, open_lm(spec)) for spec in (CHAT, DECIDING))
        share = _usd(deciding) / _usd(chat)
        cells = [f"{one.calls:.1f} {one.prompt:,.0f} + {one.completion:,.0f}" for one in (chat, deciding)]
        rows.append([name, *cells, *(f"{1000 * _usd(one):.3f}" for one in (chat, deciding)), f"{100 * share:.0f} %"])
    names = ["task", "chat: calls, tokens", "questions: calls, tokens", "USD a 1,000", "as questions", "share"]
    table(f"a record without demos, {CHAT}", names, rows)
    return 0


def _mean(name: str, path: Path, lm: OpenLM) -> Cost:
    task = TASKS[name]
    wanted = {"states": True} if "states" in task.option_types and states_for(lm) else {}
    program = task.build(wanted | questions_for(lm, task.option_types))
    if lm.brief:
        describe_options(program)
    rows = [row.example for row in labelled(task, program, path, RECORDS)]
    rows = [row for row in rows if program.demo_rows(row) and not row.get("incomplete")]
    found = costs(program, rows, lm, (), 0, most=False)
    return Cost(*(fmean(getattr(one, part) for one in found) for part in ("calls", "prompt", "completion")))


def _usd(cost: Cost) -> float:
    """At the chat model's price, which for what is read is that of its decisions; these write nothing."""
    price = listed_price(CHAT)
    assert price is not None
    return (cost.prompt * price.prompt + cost.completion * price.completion) / 1e6


if __name__ == "__main__":
    sys.exit(main())
