"""The pictures of the documents: made by a script from what a compile leaves, small, and all of them in a page."""

import re
from pathlib import Path

import pytest
from PIL import Image

from support.compiled import Compiled
from support.paths import ROOT
from tools import pictures
from tools.chromium import NoChromium


def test_every_picture_is_shown_with_words_beside_and_the_readme_shows_two_at_most() -> None:
    pictures_of = {}
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        names = re.findall(r"!\[[^]]{20,}\]\(([^)]+)\)", page.read_text("utf-8"))
        pictures_of[page.name] = {(page.parent / name).resolve() for name in names}
    assert 1 <= len(pictures_of["README.md"]) <= 2
    assert set().union(*pictures_of.values()) == set((ROOT / "docs").glob("*.png"))


def test_pictures_are_small() -> None:
    for file in (ROOT / "docs").glob("*.png"):
        assert file.stat().st_size <= pictures.MOST_BYTES
        with Image.open(file) as picture:
            assert picture.format == "PNG"
            assert 700 <= picture.width <= 2000, file.name


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
        with Image.open(file) as picture:
            assert picture.width > 700
            assert len(picture.convert("RGB").getcolors(1 << 24) or []) > 20, "an empty page"
