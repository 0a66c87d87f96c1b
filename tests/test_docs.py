"""The pictures of the README: made by a script from what a compile leaves, small, and all of them shown."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from corpora import SAMPLE
from loopback import Loopback
from PIL import Image

from docs import pictures
from docs.chromium import NoChromium
from optimize.report.records import JudgedRecord, Statement

ROOT = Path(__file__).parents[1]
FEW = ("--limit-train", 6, "--limit-dev", 12, "--limit-test", 6)


def test_the_readme_shows_all_pictures_and_they_are_small() -> None:
    shown = re.findall(r"!\[[^]]{20,}\]\((docs/[^)]+)\)", (ROOT / "README.md").read_text("utf-8"))  # with words beside
    assert sorted(shown) == sorted(file.relative_to(ROOT).as_posix() for file in (ROOT / "docs").glob("*.png"))
    for name in shown:
        assert (ROOT / name).stat().st_size <= pictures.MOST_BYTES
        with Image.open(ROOT / name) as found:
            assert found.format == "PNG"
            assert 700 <= found.width <= 2000, name


def test_a_picture_that_is_too_large_is_refused(tmp_path: Path) -> None:
    Image.effect_noise((900, 900), 100).save(tmp_path / "noise.png")
    with pytest.raises(ValueError, match="at most 150000"):
        pictures.small((tmp_path / "noise.png").read_bytes())


def test_the_error_browser_is_shown_at_an_error() -> None:
    def judged(number: int, said: str | None) -> JudgedRecord:
        statement = Statement(text="A sentence.", gold=["Supported"], said=said)
        failure = None if said else "no answer"
        return JudgedRecord(
            id=f"r{number}", right=said == "Supported", failure=failure, statements=[statement], exhibits=[], calls=[]
        )

    records = [judged(0, "Supported"), judged(1, None), judged(2, "Contradiction")]
    assert pictures.telling(records).id == "r2"
    with pytest.raises(ValueError, match="no record was judged wrong"):
        pictures.telling(records[:2])


def test_without_a_demo_the_script_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["pictures", "--artifacts", str(tmp_path), "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"no records.json in there(.|\n)*make demo"):
        pictures.main()


@pytest.mark.slow
def test_the_script_makes_them_from_a_compile(
    artifacts: Path, aisr: Callable[..., Any], loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    lm = ["--lm", "openai/gpt-4o-mini", "--api-base", loopback.url, "--artifacts", artifacts]
    words = ["--task", "track1", "--data", SAMPLE / "track1", "--optimizer", "labeled", "--name", "demo", *FEW]
    finished = aisr("compile", *words, *lm)
    assert finished.code == 0, finished.err
    try:
        written = pictures.write(artifacts, artifacts / "track1" / "demo", artifacts.parent / "out")
    except NoChromium as none:
        pytest.skip(str(none))
    assert [file.name for file in written] == list(pictures.NAMES)
    for file in written:
        assert 5_000 < file.stat().st_size <= pictures.MOST_BYTES
        with Image.open(file) as found:
            assert found.width > 700
            assert len(found.convert("RGB").getcolors(1 << 24) or []) > 20, "an empty page"
