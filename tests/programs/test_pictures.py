"""Pictures of records: which a model gets, how large, and what never leaves the disk."""

import base64
import io
import json
import re
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from PIL import Image
from pydantic import ValidationError

from aisr.judging.judge import find_image_folder, judge
from aisr.lm.config import LMConfig
from aisr.lm.open import open_config
from aisr.programs import pictures
from aisr.programs.evidence import read_evidence
from aisr.programs.pictures import BadPicture, ImageFolder, decode
from aisr.programs.records import EvidenceItem
from aisr.programs.track1 import TRACK1, Track1, Track1Record
from support.commands import Aisr
from support.corpora import claim_row, picture, write
from support.loopback import HttpRequest, Loopback, judged
from support.paths import SAMPLE
from support.scripted import scripted


def showing(*paths: str) -> Track1Record:
    """A record with one sentence and a captioned picture for each path."""
    sentence = "Row 1 is Supported."
    bundle = [
        {"type": "image", "image_caption": f"Figure {k}: what is seen.", "img_path": path}
        for k, path in enumerate(paths, start=1)
    ]
    return Track1Record.model_validate(
        {
            "id": "track1-000001",
            "claim_text": sentence,
            "evidence_bundle": bundle,
            "sentence_label": [{"sentence": sentence, "types": ["Supported"]}],
        }
    )


@pytest.mark.parametrize("path", ["../secret.jpg", "/etc/passwd", "C:\\x.jpg", "a\\..\\..\\x.jpg"])
def test_a_path_that_climbs_out_is_no_record(path: str) -> None:
    with pytest.raises(ValidationError, match="leads out of the image folder; expected a path such as"):
        EvidenceItem(type="image", img_path=path)


def test_what_is_missing_or_leads_out_falls_back_to_its_caption_and_is_reported(tmp_path: Path) -> None:
    secret, root = picture(tmp_path / "secret.png"), tmp_path / "root"
    picture(root / "good.png")
    (root / "link.png").symlink_to(secret)
    (root / "folder").symlink_to(tmp_path)
    image_folder = ImageFolder(root)
    bundle = showing("good.png", "none.png", "link.png", "folder/secret.png").evidence_bundle
    evidence = read_evidence(bundle, "image", image_folder, "track1-000001")
    assert evidence.text.splitlines() == [
        "[figure 1] Figure 1: what is seen. (the annotators saw the picture; it is left out here)",
        *(f"[figure {k}] Figure {k}: what is seen. (the picture could not be read)" for k in (2, 3, 4)),
    ]
    assert [one.file for one in evidence.pictures] == [str(root / "good.png")]
    assert image_folder.problems == {
        ("track1-000001", "none.png"): f"not found under {root}",
        ("track1-000001", "link.png"): "leads out of the image root",
        ("track1-000001", "folder/secret.png"): "leads out of the image root",
    }


def test_a_bad_picture_is_refused_with_its_reason(tmp_path: Path) -> None:
    bomb = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + (200_000).to_bytes(4, "big") * 2 + b"\x08\x02\x00\x00\x00"
    file, whole = tmp_path / "x.png", io.BytesIO()
    Image.effect_noise((200, 200), 80).save(whole, "JPEG")
    for content, reason in (
        (whole.getvalue()[: len(whole.getvalue()) // 2], "no readable picture"),
        (b"<svg onload=alert(1)>", "no readable picture"),
        (bomb + b"\x00" * 64, "no readable picture"),
        (b"\xff\xd8\xff" + bytes(pictures.MOST_PICTURE_BYTES), "larger than 20 MiB"),
    ):
        file.write_bytes(content)
        for read in (lambda: decode(str(file)), lambda: ImageFolder(tmp_path).check("x.png")):
            with pytest.raises(BadPicture, match=reason):
                read()
    with pytest.raises(BadPicture, match="10000 x 6000 pixels; at most 50,000,000"):
        decode(str(picture(file, (10_000, 6_000), "white", mode="1")))  # small as a file
    with pytest.raises(BadPicture, match="1 x 20001 pixels; at most 20,000 a side"):
        decode(str(picture(file, (1, 20_001), "white", mode="1")))


def test_large_pictures_are_decoded_by_one_thread_in_rows_on_white(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = Image.linear_gradient("L").resize((40, 60))
    see_through = Image.merge("RGBA", [drawn, drawn.rotate(180), drawn.rotate(90).resize(drawn.size), drawn])
    files = [str(tmp_path / f"{number}.png") for number in range(4)]
    for file in files:
        see_through.save(file)
    at_once = Image.alpha_composite(Image.new("RGBA", drawn.size, "white"), see_through).convert("RGB")
    threads: set[int] = set()
    convert = Image.Image.convert

    def convert_here(picture: Image.Image, *words: Any) -> Image.Image:
        threads.add(threading.get_ident())
        return convert(picture, *words)

    monkeypatch.setattr(Image.Image, "convert", convert_here)
    monkeypatch.setattr(pictures, "ROWS", 7)
    monkeypatch.setattr(pictures, "LARGE", 40 * 60 - 1)
    together = threading.Barrier(len(files))

    def decode_together(file: str) -> Image.Image:
        together.wait()
        return decode(file)

    with ThreadPoolExecutor(len(files)) as pool:
        decoded = list(pool.map(decode_together, files))
    assert len(threads) == 1
    assert decoded == [at_once] * 4


def test_a_vision_model_gets_each_picture_behind_its_caption(tmp_path: Path, loopback: Loopback) -> None:
    picture(tmp_path / "a.png", (1000, 1000), "red")
    picture(tmp_path / "b.png", (640, 480), "blue")
    loopback.reply = lambda request: json.dumps({"sentence_labels": ["Contradiction"]})
    program = Track1(picture_mode="image")
    program.image_folder = ImageFolder(tmp_path)
    with open_config(LMConfig("openai/eyes", api_base=loopback.url)).context():
        prediction = program(**program.prepare(showing("a.png", "b.png")).example.inputs())
    assert prediction.sentence_labels == ["Contradiction"]
    content = loopback.requests[0].body["messages"][-1]["content"]
    at = [place for place, block in enumerate(content) if block["type"] == "image_url"]
    for number, place, size, dominant in zip((1, 2), at, ((886, 886), (640, 480)), (0, 2), strict=True):
        assert f"[figure {number}] Figure {number}" in content[place - 1]["text"].splitlines()[-1]
        _, _, data = content[place]["image_url"]["url"].partition("base64,")
        sent = Image.open(io.BytesIO(base64.b64decode(data)))
        assert (sent.format, sent.size) == ("JPEG", size)  # within the budget of pixels
        channels = sent.convert("RGB").resize((1, 1)).tobytes()
        assert channels[dominant] == max(channels)
    assert "Row 1 is Supported." in content[-1]["text"]


def test_a_picture_that_cannot_be_sent_fails_its_record(tmp_path: Path) -> None:
    """DSPy would send the text alone, and say nothing."""
    file = picture(tmp_path / "a.png", (40, 30), "red")
    program = Track1(picture_mode="image")
    program.image_folder = ImageFolder(tmp_path)
    case = program.prepare(showing("a.png"))
    Path(file).write_bytes(b"half")
    assert (
        judge(TRACK1, program, case, scripted([])).failure == "BadPicture: no readable picture (UnidentifiedImageError)"
    )


# --- Reading the text in pictures, with the real reader


def test_a_table_of_the_sample_is_read_row_by_row_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, path = SAMPLE / "track1" / "dev.jsonl", "images/58d3cb58ff6fe78e326e932e6557c5346af5a0d3.jpg"
    program = Track1(picture_mode="ocr")
    program.image_folder = find_image_folder(None, data)
    evidence = program.prepare(showing(path)).example.evidence
    caption, *lines = evidence.splitlines()
    assert caption.startswith("[figure 1] ")
    assert all(number in evidence for number in ("80.5", "86.6", "72.7", "58.6"))
    assert len({line.count(" | ") for line in lines}) == 1  # every row has the same number of cells
    monkeypatch.setattr("rapidocr.RapidOCR.__call__", lambda *_, **__: pytest.fail("it was read already"))
    again = find_image_folder(SAMPLE, data)
    assert read_evidence(showing(path).evidence_bundle, "ocr", again).text == evidence


def test_axis_labels_are_read_turned_and_what_stands_upright_is_not(tmp_path: Path) -> None:
    figure = Figure((4.8, 3.6))
    axes = figure.subplots()
    axes.set_ylabel("Loss")
    axes.set_yticks([0.1, 0.4, 0.7], ["0.1", "0.4", "0.7"])
    axes.set_xticks([0, 1], ["1", "7"])
    axes.text(0.3, 0.5, "p = .03")
    axes.text(0.3, 0.2, "0.91 (0.02)")
    figure.savefig(tmp_path / "figure.png", dpi=150)
    cells = [cell for row in pictures.read_text(str(tmp_path / "figure.png")) for cell in row.split(" | ")]
    assert sorted(cell.replace(" ", "") for cell in cells) == [
        "0.1", "0.4", "0.7", "0.91(0.02)", "1", "7", "Loss", "p=.03",
    ]  # fmt: skip


# --- From the command line, against a server on the loopback address


def read_text(request: HttpRequest) -> str:
    """An answer to a prompt that shows pictures."""
    message = request.body["messages"][-1]
    assert [part for part in message["content"] if part["type"] == "image_url"]
    message["content"] = "".join(part.get("text", "") for part in message["content"])
    return judged(request)


def test_a_program_that_sees_is_compiled_and_predicts_and_goes_on_with_the_same_pictures_only(
    loopback: Loopback, aisr: Aisr, tmp_path: Path
) -> None:
    loopback.reply = read_text
    data, copy, out = tmp_path / "data", tmp_path / "copy", tmp_path / "out.jsonl"
    for side in ("train", "dev", "test"):
        picture(data / "images" / f"{side}.png")
        shown = [f"images/{side}.png"]
        rows = [claim_row(["Supported"], text=f"Claim {k} of {side}.", pictures=shown) for k in range(3)]
        write(data / f"{side}.jsonl", rows)
    lm = ["--lm", "openai/eyes", "--api-base", loopback.url, "--artifacts", tmp_path, "--task", "track1"]
    plan = ["-T", "picture_mode=image", "--candidates", "1", "--budget", "light"]
    done = aisr("compile", "--data", data, "--optimizer", "labeled", "--name", "eyes", "--no-track", *plan, *lm)
    assert done.code == 0, done.err
    program = tmp_path / "track1" / "eyes"
    predicting = ["predict", "--program", program, "--data", data / "test.jsonl", "--out", out, *lm]
    assert aisr(*predicting).code == 0
    saved = (program / "program.json").read_text()
    assert json.loads(saved)["options"]["picture_mode"] == "image"
    assert "base64" not in saved
    assert str(data) not in saved

    shutil.copytree(data / "images", copy / "images")
    assert aisr(*predicting, "--image-root", copy).code == 0
    picture(copy / "images" / "test.png", color="purple")
    other = aisr(*predicting, "--image-root", copy)
    assert other.code == 2
    assert "was begun with another pictures: " in other.err

    evaluating = ["evaluate", "--program", program, "--data", data / "test.jsonl", *lm]
    shutil.rmtree(data / "images")
    assert "give --image-root" in aisr(*evaluating).err
    assert aisr(*evaluating, "--image-root", copy).code == 0
    (data / "images").mkdir()
    loopback.reply = judged
    done = aisr(*evaluating)
    assert re.search(rf"no picture: track1-\d+: images/test.png: not found under {data}", done.out)
    assert "their captions stand in for them" in done.out
