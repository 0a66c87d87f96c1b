"""The sentence that decided, beside each evidence id; and paragraphs put in order by the LM."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisr.inference import submission
from aisr.programs.asking.ask import UnusableAnswer
from aisr.programs.judges.track2 import Track2Judge
from aisr.programs.records.track2 import Track2Record
from aisr.programs.retrieval.evidence_ranker import EvidenceRanker
from aisr.programs.retrieval.quotes import closest, paragraphs_shown, quoted
from aisr.tasks.track2 import TRACK2
from support.scripted import citation, field, question, requests, scripted, written

JSON = "Respond with a JSON object"
PAPER = {
    "P1": "Introduction",
    "P2": "Corvid-2 gains 4.2 points. It is slow. Nobody knows why.",
    "P3": "The weather was fine. Corvid-2 gains nothing at all in the dark.",
    "P4": "Nothing else happened that year, and nothing was expected to.",
}


def record(label: str = "Supported", *evidence: str) -> Track2Record:
    return Track2Record.model_validate(
        {
            "id": "track2-000001",
            "claim_text": "Corvid-2 gains 4.2 points.",
            "cited_paper_full_text": [{key: text} for key, text in PAPER.items()],
            "label": label,
            "evidence_para_ids": list(evidence),
        }
    )


def answer(program: Any, given: Track2Record, lm: Any) -> Any:
    with lm.context():
        return program(**program.prepare(given).inputs())


def test_a_quote_that_is_verbatim_stands_and_another_is_replaced() -> None:
    said = {
        "label": "Supported",
        "evidence_ids": ["P3", "P2"],
        "evidence_quotes": ["The weather   was fine.", "Corvid-2 gains five points."],
    }
    lm = scripted([written(JSON, said)])
    found = answer(TRACK2.build({"quotes": True}), record(), lm)
    assert found.evidence_para_ids[:2] == ["P3", "P2"]
    assert found.quotes["P3"] == "The weather was fine."
    assert found.quotes["P2"] == "Corvid-2 gains 4.2 points."
    line = TRACK2.line(TRACK2.answer(found))
    assert list(line["evidence_quotes"]) == line["evidence_para_ids"]


def test_too_few_quotes_or_none_are_no_fault() -> None:
    said = {"label": "Supported", "evidence_ids": ["P2"], "evidence_quotes": []}
    found = answer(TRACK2.build({"quotes": True}), record(), scripted([written(JSON, said)]))
    assert found.quotes["P2"] == "Corvid-2 gains 4.2 points."


def test_without_the_option_nothing_is_quoted() -> None:
    lm = scripted([written(JSON, {"label": "Supported", "evidence_ids": ["P2"]})])
    found = answer(TRACK2.build({}), record(), lm)
    assert TRACK2.line(TRACK2.answer(found)) == {"label": "Supported", "evidence_para_ids": found.evidence_para_ids}
    assert "quotes" not in question(requests(lm)[0])


def test_a_demo_quotes_the_sentence_that_matches_best() -> None:
    example = TRACK2.build({"quotes": True}).prepare(record("Supported", "P2"))
    assert example.evidence_quotes == ["Corvid-2 gains 4.2 points."]


def test_the_submission_leaves_the_quotes_out(tmp_path: Path) -> None:
    given = record("Supported", "P2")
    line = {"id": given.id, "label": "Supported", "evidence_para_ids": ["P2"], "evidence_quotes": {"P2": "It is slow."}}
    (tmp_path / "data.jsonl").write_text(given.model_dump_json() + "\n")
    (tmp_path / "pred.jsonl").write_text(json.dumps(line) + "\n")
    checked = submission.check(TRACK2, tmp_path / "data.jsonl", tmp_path / "pred.jsonl", fill_failed=False)
    assert checked.problems == []
    assert checked.lines == [{"id": given.id, "label": "Supported", "evidence_para_ids": ["P2"]}]


@given(
    st.text("abc .!?\n\x0b\u2028", max_size=60),
    st.text("abc xyz", max_size=20),
    st.text("abc .", max_size=10),
)
def test_whatever_is_quoted_stands_in_the_paragraph(paragraph: str, claim: str, named: str) -> None:
    shown = " ".join(paragraph.split())
    quote = quoted(claim, ["P1", "P9"], {"P1": named}, {"P1": shown})
    assert list(quote) == ["P1"]
    assert quote["P1"] in shown
    assert closest(claim, shown) in shown


def test_passages_are_taken_apart_by_line() -> None:
    assert paragraphs_shown("[P1] a [P2] b\n[P2] ", ["P1", "P2"]) == {"P1": "a [P2] b", "P2": ""}


def reranked(*ids: str, label: str = "Supported") -> Any:
    def reply(request: Any) -> str:
        prompt = question(request)
        if "ranked_ids" in prompt:
            return written(prompt, {"ranked_ids": list(ids)})
        return written(prompt, {"label": label, "evidence_ids": []})

    return scripted(reply)


def test_the_lm_puts_the_best_paragraphs_in_order() -> None:
    lm = reranked("P4", "P3", "P4")
    program = TRACK2.build({"rerank": 4})
    given = record()
    first = program.prepare(given).ranking
    found = answer(program, given, lm)
    assert first[0] == "P2"
    assert found.ranking == ["P4", "P3", *(key for key in first if key not in ("P3", "P4"))]
    assert found.evidence_para_ids == found.ranking[:3]
    pool = field(question(requests(lm)[0]), "passages") or ""
    assert [line.split("]")[0].strip("[") for line in pool.splitlines()] == first


BACKWARDS = EvidenceRanker(
    weights={"place in the paper, from 0 to 1": 3.0, "share of the claim's numbers": -0.5},
    spread={"place in the paper, from 0 to 1": 0.3, "share of the claim's numbers": 0.3},
)


def test_the_lm_sees_the_rankers_best_and_the_ranker_orders_what_it_leaves_out() -> None:
    lm = reranked("P3", "P3")
    program = Track2Judge(rerank=2)
    program.ranker = BACKWARDS
    found = answer(program, record(), lm)
    pool = field(question(requests(lm)[0]), "passages") or ""
    assert [line[:4] for line in pool.splitlines()] == ["[P4]", "[P3]"]
    assert found.ranking == ["P3", "P4", "P2", "P1"]
    assert found.evidence_para_ids == ["P3", "P4", "P2"]


def test_the_sentence_that_stands_in_is_the_rankers_choice() -> None:
    said = {"label": "Supported", "evidence_ids": ["P2"], "evidence_quotes": ["Not in there."]}
    program = Track2Judge(quotes=True)
    assert answer(program, record(), scripted([written(JSON, said)])).quotes["P2"] == "Corvid-2 gains 4.2 points."
    program.ranker = BACKWARDS  # no sentence with the claim's number; where one stands in its paragraph says nothing
    assert answer(program, record(), scripted([written(JSON, said)])).quotes["P2"] == "It is slow."


def test_what_is_shown_follows_the_new_order() -> None:
    lm = reranked("P4")
    program = TRACK2.build({"rerank": 4, "context_tokens": 18})
    answer(program, record(), lm)
    assert (field(question(requests(lm)[1]), "passages") or "").startswith("[P4] ")
    assert program.prepare(record()).shown == ["P2"]


def test_an_order_of_unknown_paragraphs_fails_the_record() -> None:
    with pytest.raises(UnusableAnswer, match="P99"):
        answer(TRACK2.build({"rerank": 3}), record(), reranked("P99"))


@pytest.mark.parametrize("depth", [1, -2, 51])
def test_a_depth_that_makes_no_sense_is_refused(depth: int) -> None:
    with pytest.raises(ValueError, match=f"rerank is {depth}; expected 0 .* or 2 to 50"):
        TRACK2.build({"rerank": depth})


def test_a_reranking_program_survives_its_artifact() -> None:
    from aisr.artifact.program_file import parse, program_text

    program: Any = TRACK2.build({"rerank": 5, "quotes": True, "retriever": "hybrid"})
    program.reranker.order.demos = [{"passages": "[P1] a", "claim": "a", "ranked_ids": ["P1"]}]
    text = program_text(TRACK2, program)
    again: Any = parse(text, "test").program
    assert program_text(TRACK2, again) == text
    assert again.reranker.order.demos == program.reranker.order.demos


def test_records_of_the_scripted_kind_are_ranked_by_every_retriever() -> None:
    for retriever in ("bm25", "dense", "hybrid"):
        example = TRACK2.build({"retriever": retriever}).prepare(citation("Supported", "P2"))
        assert sorted(example.ranking) == sorted(set(example.ranking))
