"""A copy that looks the same is known again, whatever a stranger did to it that nobody sees."""

import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aisr.corrections.labelled import RECORDS
from aisr.optimize.examples import read_corrected
from aisr.optimize.leakage import all_keys, fingerprint
from aisr.programs.task import Task
from aisr.programs.text import alike
from aisr.programs.track1.task import TRACK1
from aisr.programs.track2.task import TRACK2
from support.corpora import S, citation, claim, write

TEXT = "Magpie reaches 71.3 points on MarlQA, which is more than Oriole has, at half its size in the café."
LONG = " ".join(f"{a}{b}{c}on" for a in "bdfglm" for b in "aeio" for c in "nrs")


def within(sign: str) -> Callable[[str], str]:
    return lambda text: " ".join(word[:1] + sign + word[1:] for word in text.split(" "))


def of_other_scripts(text: str) -> str:
    """Cyrillic, Greek, Armenian, Cherokee, Lisu and small capitals, where they look the same."""
    return text.translate(str.maketrans("acehgijnopsvwxyzABMPTKLORé", "асеһɡіјոορѕѵԝхуᴢᎪВМᏢΤКꓡОꓣё".replace("ё", "é")))


def wide(text: str) -> str:
    return "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in text)


DISGUISES: dict[str, Callable[[str], str]] = {
    **{
        f"U+{ord(sign):04X}": within(sign)
        for sign in "\u200b\u00ad\u200d\u2060\u034f\u3164\u115f\u17b5\ufe0f\x08\x1f\x7f\U000e0041\U0001d173"
    },
    "other scripts": of_other_scripts,
    "other scripts, decomposed": lambda text: unicodedata.normalize("NFD", of_other_scripts(text)).replace("e", "е"),
    "mathematics": lambda text: "".join(chr(0x1D5BA + ord(c) - 97) if "a" <= c <= "z" else c for c in text),
    "mathematical Greek": lambda text: text.replace("a", "𝛼").replace("o", "𝝄"),
    "full width": wide,
    "full width capitals": lambda text: wide(text.upper()),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "decomposed, marks behind what is not seen": lambda text: unicodedata.normalize("NFD", text).replace(
        "\u0301", "\u200b\u0301"
    ),
}


def test_what_is_not_seen_makes_no_other_text() -> None:
    assert [name for name, disguise in DISGUISES.items() if alike(disguise(TEXT)) != alike(TEXT)] == []


def test_capitals_make_no_other_text_in_any_script() -> None:
    for text in ("Всё держит сеть", "Λέξεις της σελίδας", "ᾧ ἀρχῇ τῷ λόγῳ", "ᲂᲃᲅ", "Հայերեն լեզու", "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ"):
        assert alike(text.upper()) == alike(text.lower()) == alike(text)


def deep(value: Any, how: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {key: one if key in ("type", "img_path") else deep(one, how) for key, one in value.items()}
    if isinstance(value, list):
        return [deep(one, how) for one in value]
    return how(value) if isinstance(value, str) else value


def bundle(*items: dict[str, Any]) -> dict[str, Any]:
    return claim([S], text=TEXT, id="dev1", evidence_bundle=list(items))


PLAIN = bundle({"type": "text", "text": LONG})


def cited(paragraph: str, **more: Any) -> dict[str, Any]:
    gold = {"evidence_para_ids": ["P1"], "evidence_texts": {"P1": paragraph}}
    return {**citation("Supported", text=TEXT, id="dev1"), **gold, "cited_paper_full_text": [{"P1": paragraph}], **more}


CITED = cited(LONG)
LABELS = ("label", "evidence_para_ids", "sentence_label")


@pytest.mark.parametrize(("task", "held"), [(TRACK1, PLAIN), (TRACK2, CITED)])
def test_a_disguised_record_of_dev_does_not_count_as_train(tmp_path: Path, task: Task, held: dict[str, Any]) -> None:
    unlike = {"evidence_bundle": []} if task is TRACK1 else cited("Elsewhere.")
    other = {**held, **unlike, "claim_text": "Kestrel needs less memory.", "id": "t1"}
    splits = {
        "train": write(tmp_path / "train.jsonl", [other]),
        "dev": write(tmp_path / "dev.jsonl", [held]),
    }
    kept = {key: held[key] for key in LABELS if key in held}
    disguises = {name: how for name, how in DISGUISES.items() if not name.startswith("decomposed")}
    file = write(tmp_path / RECORDS, [{**deep(held, how), **kept, "id": name} for name, how in disguises.items()])
    corrected = read_corrected(task, file, splits)
    assert (len(corrected.records), set(corrected.left_out)) == (0, set(disguises))


@pytest.mark.parametrize(
    "path", ["./images/a.jpg", "images//a.jpg", "images/./a.jpg", "images/a.jpg/", "images/\u200ba.jpg"]
)
def test_a_picture_is_the_same_however_its_path_is_spelled(path: str) -> None:
    def keys(spelled: str, text: str) -> set[str]:
        row = claim([S], text=text, evidence_bundle=[{"type": "image", "img_path": spelled}])
        return all_keys([fingerprint(TRACK1, TRACK1.record.model_validate({"id": "x", **row}))])[0]

    assert keys(path, "One.") & keys("images/a.jpg", "Another.") == {"picture:images/a.jpg"}
    assert not keys(path, "One.") & keys("images/b.jpg", "Another.")


def test_a_table_is_known_behind_what_is_not_seen() -> None:
    table = "| System | Score |\n|---|---|\n| Oriole | 68.1 |\n| Magpie | 71.3 |"
    html = (
        "<t\u200br><td>Mag&#8203;pie<td>71.3</t\u200br><tr><td>System<td>Score</tr>"
        "<tr><td>Oriole<td>\uff16\uff18.1</tr>"
    )

    def keys(text: str, sentence: str) -> set[str]:
        row = claim([S], text=sentence, evidence_bundle=[{"type": "text", "text": text}])
        return TRACK1.shared_keys(TRACK1.record.model_validate({"id": "x", **row}))

    assert [key.partition(":")[0] for key in keys(table, "One.") & keys(html, "Another.")] == ["table"]
