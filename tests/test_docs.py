"""The pictures of the documents: made by a script from what a compile leaves, small, and all of them shown."""

import re
from pathlib import Path

import pytest
from PIL import Image

from aisr.report.records import JudgedRecord, Statement
from support.compiled import Compiled
from support.paths import ROOT
from tools import pictures
from tools.chromium import NoChromium


def test_every_picture_is_shown_with_words_beside_and_the_readme_shows_two_at_most() -> None:
    shown = {}
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        names = re.findall(r"!\[[^]]{20,}\]\(([^)]+)\)", page.read_text("utf-8"))
        shown[page.name] = {(page.parent / name).resolve() for name in names}
    assert 1 <= len(shown["README.md"]) <= 2
    assert set().union(*shown.values()) == set((ROOT / "docs").glob("*.png"))


def test_pictures_are_small() -> None:
    for file in (ROOT / "docs").glob("*.png"):
        assert file.stat().st_size <= pictures.MOST_BYTES
        with Image.open(file) as found:
            assert found.format == "PNG"
            assert 700 <= found.width <= 2000, file.name


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
def test_the_script_makes_them_from_a_compile(compiled: Compiled, tmp_path: Path) -> None:
    made = compiled.copied(tmp_path / "artifacts")
    try:
        written = pictures.write(made.root, made.folder(), tmp_path / "out")
    except NoChromium as none:
        pytest.skip(str(none))
    assert [file.name for file in written] == [*pictures.NAMES]
    for file in written:
        assert 5_000 < file.stat().st_size <= pictures.MOST_BYTES
        with Image.open(file) as found:
            assert found.width > 700
            assert len(found.convert("RGB").getcolors(1 << 24) or []) > 20, "an empty page"
