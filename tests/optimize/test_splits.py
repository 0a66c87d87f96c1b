"""Splits: nothing that records share stands on two sides, however it is written, and labels keep their proportions."""

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from itertools import chain, combinations, cycle, islice, pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import aisr as library
from aisr.artifact.manifest import read_manifest
from aisr.optimize.leakage import LEAKAGE_RULE, all_keys, fingerprint, groups, leak
from aisr.optimize.near_duplicates import near_duplicates
from aisr.optimize.run import compile_program
from aisr.optimize.split import Parts, split
from aisr.programs.task import Task
from aisr.programs.text import alike
from aisr.programs.track1 import TRACK1
from aisr.programs.track2 import TRACK2
from support.commands import Aisr
from support.corpora import CONTRA, SCOPE, S, citation_row, claim_row, read_rows, write
from support.paths import SAMPLE
from support.runs import SILENT, plan
from support.scripted import right, scripted


def test_sides_share_nothing_and_have_the_sizes_and_label_proportions_that_were_asked_for() -> None:
    strata = [CONTRA, S, S, S] * 125
    labels = [frozenset([label]) for label in strata]
    keys = [{f"picture:{k // 3}"} for k in range(500)]
    sides = split(strata, labels, keys, Parts(3, 1, 1), seed=0).values()
    assert sorted(chain(*sides)) == list(range(500))
    assert list(map(len, sides)) == pytest.approx([300, 100, 100], abs=10)
    for side in sides:
        assert leak(keys, side).sharing == 0
        assert np.take(np.array(strata) == CONTRA, side).mean() == pytest.approx(0.25, abs=0.05)
    fewest = split(strata[:15], labels[:15], keys[:15], Parts(3, 1, 1), seed=0)  # as many groups as parts
    assert list(map(len, fewest.values())) == [9, 3, 3]
    with pytest.raises(ValueError, match=r"12 records form 4 groups .* 5 are needed for parts 3:1:1"):
        split(strata[:12], labels[:12], keys[:12], Parts(3, 1, 1), seed=0)


@settings(deadline=None, max_examples=60)
@given(
    keys=st.lists(st.sets(st.integers(0, 60).map(str), min_size=1, max_size=2), min_size=20, max_size=60),
    rare=st.integers(0, 10),
    parts=st.sampled_from([Parts(1, 1, 1), Parts(3, 1, 1)]),
    seed=st.integers(0, 99),
)
def test_chains_of_shared_keys_stay_on_one_side_and_labels_of_three_groups_are_on_all(
    keys: list[set[str]], rare: int, parts: Parts, seed: int
) -> None:
    assume(len(set(groups(keys))) >= sum(parts))
    strata = list(islice(cycle((S, CONTRA)), len(keys)))
    labels = [frozenset([label, *[SCOPE] * (k < rare)]) for k, label in enumerate(strata)]
    sides = split(strata, labels, keys, parts, seed).values()
    assert sorted(chain(*sides)) == list(range(len(keys)))
    for side in sides:
        assert side
        assert leak(keys, side).sharing == 0
        assert SCOPE in frozenset().union(*(labels[k] for k in side)) or len({*groups(keys)[:rare]}) < 3


def odd_lines(count: int) -> list[bytes]:
    """Valid records as no serialiser writes them: spaces, escapes, unknown fields, digits that a float would lose."""
    return [
        b'{ "claim_text":"Claim %d \\u00e9 \xc3\xa9","extra" : 1.10000000000000000000,  "evidence_bundle":[],'
        b'"sentence_label":[{"types":["Supported"],"sentence":"A."}]}  ' % k
        for k in range(count)
    ]


def test_a_file_is_split_line_by_line_and_records_keep_the_ids_of_their_places(aisr: Aisr, tmp_path: Path) -> None:
    lines = [*odd_lines(29), odd_lines(30)[29].rstrip()[:-1] + b', "id": null}']
    file = write(tmp_path / "all.jsonl", [*lines[:10], b"", *lines[10:], b"  "])
    done = aisr("split", file, "--task", "track1", "--out", tmp_path / "out")
    written = {path.name: path.read_bytes().splitlines() for path in (tmp_path / "out").iterdir()}
    assert set(written) == {"train.jsonl", "dev.jsonl", "test.jsonl"}
    assert all(f"{name}: {len(rows)} records" in done.out for name, rows in written.items())
    lines = [line.rstrip()[:-1] + b', "id": "track1-%06d"}' % number for number, line in enumerate(lines, start=1)]
    assert sorted(line for rows in written.values() for line in rows) == sorted(lines)  # else byte for byte
    for rows in written.values():
        assert rows == [line for line in lines if line in rows]  # the order of the file is kept


def test_python_splits_as_the_command_does(aisr: Aisr, tmp_path: Path) -> None:
    train = SAMPLE / "track1" / "train.jsonl"
    done = library.split("track1", train, out=tmp_path / "python")
    assert aisr("split", train, "--task", "track1", "--out", tmp_path / "command").code == 0
    for part, count in done.records.items():
        lines = (done.folder / f"{part}.jsonl").read_bytes()
        assert lines == (tmp_path / "command" / f"{part}.jsonl").read_bytes()
        assert lines.count(b"\n") == count
        assert done.labels[part]["Contradiction"] > 0
    assert (done.leak.sharing, done.missing) == (0, {})
    with pytest.raises(library.UserError, match="is there already; choose another out or remove it"):
        library.split("track1", train, out=tmp_path / "python")


# --- Records that rest on the same evidence are one group, whatever form that has; and commands print what is shared

WORDS = [f"{a}{b}{c}" for a in "bdfgklm" for b in "aeiou" for c in "nrst"]
TEXT = "Magpie reaches 71.3 points on MarlQA, which is more than Oriole has, at half its size."
TABLE = "| System | Score |\n|---|---|\n| Oriole | 68.1 |\n| Magpie | 71.3 |"
HTML = "<table><tr><td>Magpie<td>71.3</tr><tr><td>System<td>Score</tr><tr><td>Oriole<td>68.1</tr></table>"
CAPTION = "Table 3: Scores of both systems on MarlQA, which was made for question answering."


def essay(seed: int, words: int = 60) -> str:
    return " ".join(Random(seed).choices(WORDS, k=words))


def grouped(task: Task, *records: dict[str, Any]) -> list[int]:
    rows = [task.record.model_validate({"id": f"r{k}", **record}) for k, record in enumerate(records)]
    return groups(all_keys([fingerprint(task, row) for row in rows]))


def track1(seed: int, *evidence: dict[str, Any]) -> dict[str, Any]:
    return {**claim_row([S], text=essay(1000 + seed)), "evidence_bundle": list(evidence)}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def captioned(words: str, picture: str) -> dict[str, Any]:
    return {"type": "table", "table_caption": [words], "img_path": f"images/{picture}.jpg"}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (text(TEXT), text(TEXT.upper().replace(",", " ;")), True),
        (text("Magpie is better."), text("Magpie is better."), False),  # a phrase, as many texts may hold it
        (text(TABLE), text(HTML), True),
        (text(TABLE), text(TABLE.replace("71.3", "71.4")), False),
        (text(f"{CAPTION}\n{TABLE}"), captioned(CAPTION, "1"), True),
        (captioned(CAPTION, "1"), captioned(CAPTION.replace(":", "."), "2"), True),
        (captioned("Table 3: Results.", "1"), captioned("Table 3: Results.", "2"), False),
        (captioned("Table 3: Results.", "1"), captioned("Table 4: Others.", "1"), True),  # of one picture
        (text(essay(1)), text(essay(1).replace(WORDS[3], "other")), True),
        (text(essay(1, 500)), text(essay(1, 500) + " and an end"), True),  # one was cut off
    ],
)
def test_paragraphs_on_the_same_evidence_are_one_group(one: dict[str, Any], other: dict[str, Any], same: bool) -> None:
    first, second = grouped(TRACK1, track1(1, one), track1(2, other))
    assert (first == second) == same


def paper(*paragraphs: str) -> list[dict[str, str]]:
    return [{f"P{k}": paragraph} for k, paragraph in enumerate(paragraphs, 1)]


def cited(seed: int, *paragraphs: str) -> dict[str, Any]:
    return citation_row(None, text=essay(4000 + seed, 12), cited_paper_full_text=paper(*paragraphs))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (cited(1, essay(5), essay(6)), cited(2, f"{essay(5)} {essay(6)}")),  # parted otherwise
        (cited(1, essay(5)), {**cited(2, essay(6)), "claim_text": essay(4001, 12).upper()}),  # one claim
    ],
)
def test_claims_about_one_paper_and_copies_of_a_claim_are_one_group(one: dict[str, Any], other: dict[str, Any]) -> None:
    third = cited(3, essay(7))
    assert len(set(grouped(TRACK2, one, other, third))) == 2


SHORT = "Warm water cures asthma in most of those who drink it daily, two new trials found"


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (SHORT.replace("most", "all"), True),  # one word
        (SHORT.replace("Warm", "Cold").replace("new", "old"), True),
        (SHORT.replace("asthma", "gout").replace("most", "many").replace("daily", "hot"), False),
        (f"So they said. {SHORT}, and so did a third that {essay(3, 40)}.", True),  # a part of it
        (f"{essay(4, 20)} those who drink it daily {essay(5, 20)}", False),
    ],
)
def test_two_texts_are_near_duplicates_by_themselves_whatever_else_is_compared(other: str, same: bool) -> None:
    words = SHORT.split()
    for beside in (
        [],
        [" ".join(Random(k).sample(words, len(words))) for k in range(30)],
        [essay(k) for k in range(30)],
    ):
        first, *_, last = near_duplicates([SHORT, *beside, other])
        assert (first == last) == same


def test_near_duplicates_are_found_among_hundreds_of_texts() -> None:
    texts = [essay(k) for k in range(450)]
    found = near_duplicates([*texts, *(f"{text} indeed" for text in texts)])
    assert found[:450] == found[450:]
    assert len({*found}) == 450


def are_near(one: str, other: str) -> bool:
    """The definition of near-duplicates."""
    pairs, others = (set(pairwise(text.split())) or {(text, "")} for text in (one, other))
    shared, fewer = len(pairs & others), min(len(pairs), len(others))
    is_part = fewer >= 10 and shared >= 0.9 * fewer
    return is_part or shared >= 0.6 * len(pairs | others)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), words=st.sampled_from([4, 12, 40]))
def test_groups_of_near_duplicates_are_those_of_all_compared_with_all(seed: int, words: int) -> None:
    draw = Random(seed)
    texts = [" ".join(draw.choices(WORDS[:words], k=draw.randint(0, 25))) for _ in range(30)]
    for text in draw.choices(texts, k=20):
        new = [word if draw.random() > 0.1 else draw.choice(WORDS) for word in text.split()]
        texts.append(" ".join([*new, *(draw.choice(texts).split() if draw.random() < 0.3 else ())]))
    keys = [{str(place)} for place in range(len(texts))]
    for one, other in combinations(range(len(texts)), 2):
        if texts[one] and are_near(texts[one], texts[other]):
            keys[one].add(str(other))
    expected, result = groups(keys), near_duplicates(texts)
    assert list(map(result.index, result)) == list(map(expected.index, expected))


def test_an_artifact_says_what_counted_as_shared_and_what_dev_shares(tmp_path: Path) -> None:
    """And the candidates of several optimizers race together."""
    compile_plan = plan(tmp_path / "data", optimizers=["labeled", "bootstrap"])
    lm, stages = scripted(right), list[str]()
    rows = read_rows(compile_plan.data["dev"])
    rows[0]["evidence_bundle"] = [text(TEXT)]
    write(compile_plan.data["dev"], rows)
    write(compile_plan.data["train"], [*read_rows(compile_plan.data["train"]), track1(1, text(TEXT))])
    made = compile_program(compile_plan, lm, lm, tmp_path / "out", replace(SILENT, stage=stages.append))
    assert {one.name.split()[0] for one in made.choice.contenders} == {"uncompiled", "labeled", "bootstrap"}
    leakage = read_manifest(made.folder / "manifest.json").leakage
    assert leakage["rule"] == LEAKAGE_RULE
    assert leakage["splits"]["dev"] == {"sharing": 1, "records": 8, "by_kind": {"evidence text": 1}}
    assert leakage["splits"]["test"]["sharing"] == 0
    assert any("dev shares with train: 1 of 8 records (1 an evidence text)" in stage for stage in stages)
    assert str(leak([{"claim:one"}, {"claim:other"}], [0])) == "0 of 1 records"


# --- A copy that looks the same is known again, whatever a stranger did to it that nobody sees

SAID = "Magpie reaches 71.3 points on MarlQA, which is more than Oriole has, at half its size in the café."
LONG = " ".join(f"{a}{b}{c}on" for a in "bdfglm" for b in "aeio" for c in "nrs")


def within(sign: str) -> Callable[[str], str]:
    return lambda text: " ".join(word[:1] + sign + word[1:] for word in text.split(" "))


DISGUISES: dict[str, Callable[[str], str]] = {
    **{f"U+{ord(sign):04X}": within(sign) for sign in "\u200b\u034f\u3164\ufe0f\x08\U000e0041"},
    "mathematics": lambda text: "".join(chr(0x1D5BA + ord(c) - 97) if "a" <= c <= "z" else c for c in text),
    "full width": lambda text: "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in text),
    "decomposed, marks behind what is not seen": lambda text: unicodedata.normalize("NFD", text).replace(
        "\u0301", "\u200b\u0301"
    ),
}


@pytest.mark.parametrize("name", DISGUISES)
def test_a_disguised_record_is_known_as_a_copy(name: str) -> None:
    disguise = DISGUISES[name]
    assert alike(disguise(SAID)) == alike(SAID)
    known = claim_row([S], text=SAID, evidence_bundle=[text(LONG)])
    by_claim = claim_row([S], text=disguise(SAID), evidence_bundle=[])
    by_evidence = claim_row([S], text=essay(9), evidence_bundle=[text(disguise(LONG))])
    assert len(set(grouped(TRACK1, known, by_claim, by_evidence))) == 1
