"""The pictures of the documents, from what `make demo` left: `.venv/bin/python -m tools.pictures`.

Two files in `docs/`: `runs.png`, the compiles in the MLflow UI; `errors.png`, a record that was judged wrong in
the error browser. In light mode, with few colours and below 150 KB, for GitHub's width of about 850 pixels.
"""

import argparse
import io
import sys
from pathlib import Path
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Browser

from aisr.cli.options import ARTIFACTS
from aisr.report import page, records
from aisr.report.records import JudgedRecord
from tools.chromium import NoChromium, chromium
from tools.mlflow_ui import runs

HERE = Path(__file__).parents[1] / "docs"
NAMES = ("runs.png", "errors.png")
MOST_BYTES = 150_000
SCALE = 1.5  # device pixels a CSS pixel: sharp on a good screen, and not large
COLOURS = (256, 128, 64)


def main() -> None:
    """Make them all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifacts", type=Path, default=ARTIFACTS, help="Where the compiles are.")
    parser.add_argument("--out", type=Path, default=HERE, help="Folder to write to.")
    given = parser.parse_args()
    try:
        written = write(given.artifacts, given.artifacts / "track1" / "demo", given.out)
    except (ValueError, NoChromium) as error:
        sys.exit(f"{error}\nThe pictures are made from what `make demo` leaves.")
    for file in written:
        print(f"wrote {file}: {file.stat().st_size / 1000:.0f} KB")


def write(artifacts: Path, compiled: Path, out: Path) -> list[Path]:
    """Write the pictures of a store and a compile into a folder; the files.

    Raises `NoRecords` where the folder is no compile's, ValueError where nothing in it was judged wrong, `NoChromium`.
    """
    chosen = telling(records.read(compiled).records)
    out.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        drawn = (
            runs(browser, artifacts, SCALE),
            errors(browser, compiled / page.FILE, chosen.id),
        )
    written = []
    for name, picture in zip(NAMES, drawn, strict=True):
        (out / name).write_bytes(small(picture))
        written.append(out / name)
    return written


def telling(found: list[JudgedRecord]) -> JudgedRecord:
    """A record that shows most of the page on one screen: judged wrong, with a picture, and short."""

    def rank(record: JudgedRecord) -> tuple[bool, bool, int]:
        pictured = any(one.picture for one in record.exhibits[:1])
        return not pictured, len(record.statements) < 2, sum(len(one.text) for one in record.statements)

    wrong = [record for record in found if not record.right and record.failure is None]
    if not wrong:
        raise ValueError("no record was judged wrong; nothing to show in the error browser")
    return min(wrong, key=rank)


def errors(browser: Browser, report: Path, record: str) -> bytes:
    """The error browser, opened at a record."""
    context = browser.new_context(viewport={"width": 1040, "height": 780}, device_scale_factor=SCALE)
    shown = context.new_page()
    shown.goto(f"{report.resolve().as_uri()}#{quote(record)}")
    shown.locator("#detail .statement").first.wait_for()
    return shown.screenshot()


def small(picture: bytes) -> bytes:
    """A PNG with a palette, of as many colours as there is room for. Raises ValueError where there is none."""
    out = io.BytesIO()
    for colours in COLOURS:
        out = io.BytesIO()
        with Image.open(io.BytesIO(picture)) as opened:
            opened.convert("RGB").quantize(colours, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
        if out.tell() <= MOST_BYTES:
            return out.getvalue()
    raise ValueError(f"a picture of {out.tell()} bytes; at most {MOST_BYTES} go into the repository")


if __name__ == "__main__":
    main()
