"""The pictures of the documents, from what `make demo` left: `.venv/bin/python -m tools.pictures`.

Two files in `docs/`: `runs.png`, the compiles in the MLflow UI; `errors.png`, a record that was judged wrong in
the error browser. In light mode, with few colours and below 150 KB, for GitHub's width of about 850 pixels.
"""

import argparse
import io
import json
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Browser
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from aisr.cli.options import ARTIFACTS
from aisr.report import page, records
from aisr.report.records import JudgedRecord
from tools.chromium import NoChromium, chromium

HERE = Path(__file__).parents[1] / "docs"
NAMES = ("runs.png", "errors.png")
MOST_BYTES = 150_000
SCALE = 1.5  # device pixels a CSS pixel: sharp on a good screen, and not large
COLOURS = (256, 128, 64)

# The MLflow UI
EXPERIMENTS = "aisr "  # what the names of our experiments begin with
SCORED = "metrics.test_score >= 0"  # compiles, whatever else is logged beside them
READY_SECONDS = 120
SCORE, SCORE_ON_DEV = "metrics.`test_score`", "metrics.`dev_score`"
NAME, WHEN = "attributes.`Run Name`", "runDateAndNestInfo"
METRICS = {"test_score": 92, "test_score_low": 118, "test_score_high": 120, "dev_score": 88, "lm_calls": 76}
COLUMNS = {f"metrics.`{key}`": width for key, width in METRICS.items()}  # to their widths in pixels


def main() -> None:
    """Make them all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifacts", type=Path, default=ARTIFACTS, help="Where the compiles are.")
    parser.add_argument("--out", type=Path, default=HERE, help="Folder to write to.")
    options = parser.parse_args()
    try:
        written = write(options.artifacts, options.artifacts / "track1" / "demo", options.out)
    except (ValueError, NoChromium) as error:
        sys.exit(f"{error}\nThe pictures are made from what `make demo` leaves.")
    for file in written:
        print(f"wrote {file}: {file.stat().st_size / 1000:.0f} KB")


def write(artifacts: Path, compiled: Path, out: Path) -> list[Path]:
    """Write the pictures of a store and a compile into a folder; the files.

    Raises `NoRecords` where the folder is no compile's, ValueError where nothing in it was judged wrong, `NoChromium`.
    """
    record = clear_example(records.read(compiled).records)
    out.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        pictures = (
            runs(browser, artifacts, SCALE),
            errors(browser, compiled / page.FILE, record.id),
        )
    written = []
    for name, picture in zip(NAMES, pictures, strict=True):
        (out / name).write_bytes(small(picture))
        written.append(out / name)
    return written


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


# --- The error browser


def clear_example(rows: list[JudgedRecord]) -> JudgedRecord:
    """A record that shows most of the page on one screen: judged wrong, with a picture, and short."""

    def rank(record: JudgedRecord) -> tuple[bool, bool, int]:
        pictured = any(one.picture for one in record.exhibits[:1])
        return not pictured, len(record.statements) < 2, sum(len(one.text) for one in record.statements)

    wrong = [record for record in rows if not record.right and record.failure is None]
    if not wrong:
        raise ValueError("no record was judged wrong; nothing to show in the error browser")
    return min(wrong, key=rank)


def errors(browser: Browser, report: Path, record: str) -> bytes:
    """The error browser, opened at a record."""
    context = browser.new_context(viewport={"width": 1040, "height": 780}, device_scale_factor=SCALE)
    tab = context.new_page()
    tab.goto(f"{report.resolve().as_uri()}#{quote(record)}")
    tab.locator("#detail .statement").first.wait_for()
    return tab.screenshot()


# --- The compiles of all tasks in the MLflow UI, with the columns that matter


def runs(browser: Browser, artifacts: Path, scale: float) -> bytes:
    """The list of the compiles, best on test first, as a PNG."""
    with served(artifacts) as address:
        experiments = experiment_ids(address)
        context = browser.new_context(viewport={"width": 1136, "height": 380}, device_scale_factor=scale)
        context.add_init_script(_view_script(experiments))
        page = context.new_page()
        together = f"compare-experiments/s?experiments={quote(json.dumps(experiments))}"  # for more than one
        page.goto(f"{address}/#/{together if experiments[1:] else f'experiments/{experiments[0]}/runs'}")
        page.locator(f'[role="gridcell"][col-id="{SCORE}"]').first.wait_for(timeout=60_000)
        page.get_by_role("button", name="Toggle sidebar").click()  # makes room for the last columns
        page.locator(f'[role="gridcell"][col-id="{SCORE_ON_DEV}"]').first.wait_for()
        return page.screenshot(animations="disabled")


@contextmanager
def served(artifacts: Path) -> Iterator[str]:
    """`aisr ui` on a free port; its address. Raises ValueError where it ends, or is not ready in two minutes."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, "-m", "aisr.cli", "ui", "--port", str(port), "--artifacts", str(artifacts)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_until_ready(f"http://127.0.0.1:{port}", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()  # `aisr ui` takes its server with it
        process.wait()


class _NotYet(ValueError):
    """The server does not answer yet."""


@retry(retry=retry_if_exception_type(_NotYet), stop=stop_after_delay(READY_SECONDS), wait=wait_fixed(0.5), reraise=True)
def _wait_until_ready(address: str, process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        raise ValueError("`aisr ui` ended before it was ready; run it by hand to see why")
    try:
        with urllib.request.urlopen(f"{address}/health", timeout=5):
            pass
    except OSError as error:
        raise _NotYet(f"`aisr ui` was not ready within {READY_SECONDS} s: {error}") from error


def experiment_ids(address: str) -> list[str]:
    """The ids of our experiments, in the order of their names. Raises ValueError for none."""
    request = urllib.request.Request(
        f"{address}/api/2.0/mlflow/experiments/search",
        data=json.dumps({"max_results": 100, "filter": f"name LIKE '{EXPERIMENTS}%'", "order_by": ["name"]}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        ids = [one["experiment_id"] for one in json.load(answer).get("experiments", [])]
    if not ids:
        raise ValueError("the store has no experiment of ours; run `make demo` first")
    return ids


def _view_script(experiments: list[str]) -> str:
    """A script that sets the UI as a user would: columns, their order, and a closed side panel."""
    columns = list(COLUMNS)
    view = json.dumps(
        {
            "selectedColumns": columns,
            "columnOrder": [NAME, *columns],
            "columnWidths": {NAME: 330, WHEN: 130, **COLUMNS},
            "searchFilter": SCORED,
            "orderByKey": SCORE,
            "orderByAsc": False,
        }
    )
    key = f"MLflowLocalStorage-1.1-ExperimentPage-{json.dumps(experiments, separators=(',', ':'))}-ReactComponentState"
    return f"""
        localStorage.setItem({json.dumps(key)}, {json.dumps(view)});
        localStorage.setItem("mlflow.assistant.panelOpen_v1", "false");
        localStorage.setItem("mlflow.assistant.fab.autoOpenedOnFirstLoad_v1", "true");
    """


if __name__ == "__main__":
    main()
