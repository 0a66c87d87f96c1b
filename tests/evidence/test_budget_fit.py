"""How much of a paper is shown: as little as holds the evidence."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisr.optimize.evidence.budget_fit import fit_budget
from aisr.optimize.experiment.compile import compile_program
from aisr.programs.retrieval.passages import WHOLE, chosen, passages, sufficient, whole
from aisr.tasks.task import Searched
from aisr.tasks.track2 import TRACK2
from support.corpora import write
from support.plans import SILENT, plan
from support.scripted import question, scripted, written

PAPER = {f"P{k}": f"{k}" * 391 + "." for k in range(1, 10)}  # each is shown in about 100 tokens


def searched(*gold: str) -> list[Searched]:
    return [Searched("a claim", PAPER, [key]) for key in gold]


def test_it_is_the_least_that_holds_the_share() -> None:
    claims = searched(*["P1"] * 8, "P5", "P9")
    rankings = [list(PAPER)] * 10
    assert fit_budget(claims, rankings, 0.8, None).tokens == 100
    found = fit_budget(claims, rankings, 0.9, None)
    assert (found.tokens, found.report["held"], found.report["claims"]) == (500, 0.9, 10)
    assert found.report["of_paper"] == pytest.approx(500 / whole(PAPER))
    assert fit_budget(claims, rankings, 1.0, None).report["held"] == 1.0
    assert [held for _, held in found.report["curve"]] == sorted(held for _, held in found.report["curve"])


def test_the_models_context_bounds_it() -> None:
    found = fit_budget(searched("P9"), [list(PAPER)], 0.95, 300)
    assert (found.tokens, found.report["held"], found.report["most"]) == (300, 0.0, 300)


def test_it_is_no_more_than_is_worth_its_price() -> None:
    """The first 600 tokens show it to 90 claims of a hundred, 1,200 to three more, all 3,000 to the rest."""
    paper = {f"P{k}": f"{k}" * 391 + "." for k in range(1, 31)}
    claims = [Searched("a claim", paper, [key]) for key in ["P1"] * 90 + ["P9"] * 3 + ["P25"] * 7]
    rankings = [list(paper)] * 100
    assert fit_budget(claims, rankings, 0.95, None).tokens >= 2500
    assert fit_budget(claims, rankings, 0.95, None, priced=True).tokens == 600
    steeper = claims[:90] + [Searched("a claim", paper, ["P10"])] * 10
    assert (
        fit_budget(steeper, rankings, 0.95, None, priced=True).tokens
        == fit_budget(steeper, rankings, 0.95, None).tokens
    )
    assert fit_budget(claims, rankings, 0.8, None, priced=True).tokens < 600


papers = st.lists(st.text("abc xyz.", max_size=60) | st.just("Heading here"), min_size=1, max_size=10).map(
    lambda texts: {f"P{k}": text for k, text in enumerate(texts)}
)


@settings(deadline=None, max_examples=100)
@given(paper=papers, data=st.data())
def test_what_suffices_is_enough(paper: dict[str, str], data: st.DataObject) -> None:
    ranking = data.draw(st.permutations(list(paper)))
    wanted = data.draw(st.sampled_from(ranking))
    assert wanted in chosen("", paper, ranking, sufficient(paper, ranking, [wanted])).shown


def test_whole_is_all_of_it() -> None:
    assert passages("x", PAPER, WHOLE).shown == list(PAPER)


def row(number: int) -> dict[str, Any]:
    texts = [f"Word{number} is in paragraph {k}. " + f"Reed{number} moss{number}. " * 18 for k in range(8)]
    texts[3] += f"Thing{number} was seen."
    return {
        "id": f"c{number}",
        "claim_text": f"Thing{number} was seen with word{number}.",
        "cited_paper_full_text": [{f"P{k}": text} for k, text in enumerate(texts)],
        "label": "Supported",
        "evidence_para_ids": ["P3"],
    }


def test_a_compile_chooses_it_from_train_and_says_what_it_chose(tmp_path: Path) -> None:
    for name, begin, count in (("train", 0, 12), ("dev", 20, 3)):
        write(tmp_path / f"{name}.jsonl", [row(begin + k) for k in range(count)])
    lm = scripted(lambda request: written(question(request), {"label": "Supported", "evidence_ids": []}))
    stages: list[str] = []
    data = {name: tmp_path / f"{name}.jsonl" for name in ("train", "dev")}
    wanted = replace(plan(tmp_path / "x"), task=TRACK2, decide=False, data=data, hold=0.95)
    made = compile_program(wanted, lm, lm, tmp_path / "artifacts", replace(SILENT, stage=stages.append))
    assert made.manifest.budget is not None
    assert made.manifest.budget.tokens == 100
    assert made.manifest.options["context_tokens"] == 100
    assert made.manifest.budget.held == 1.0
    assert any(stage.startswith("tokens of a paper to show: 100; 100.0 % of the claims") for stage in stages)


@pytest.mark.parametrize("given", ["0", "-3", "many", "²", "1e3", str(10**12)])
def test_what_is_no_number_of_tokens_is_refused(given: str, aisr: Callable[..., Any], tmp_path: Path) -> None:
    finished = aisr("compile", "--task", "track2", f"--context-tokens={given}", "--artifacts", tmp_path)
    assert finished.code == 2
    assert "expected a number of tokens above 0, `auto` or `whole`" in finished.err
