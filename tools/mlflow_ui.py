"""A look at the compiles of all tasks in the MLflow UI, with the columns that matter."""

import json
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

EXPERIMENTS = "aisr "  # what the names of our experiments begin with
SCORED = "metrics.test_score >= 0"  # compiles, whatever else is logged beside them
READY_SECONDS = 120
SCORE, SCORE_ON_DEV = "metrics.`test_score`", "metrics.`dev_score`"
NAME, WHEN = "attributes.`Run Name`", "runDateAndNestInfo"
METRICS = {"test_score": 92, "test_score_low": 118, "test_score_high": 120, "dev_score": 88, "lm_calls": 76}
COLUMNS = {f"metrics.`{key}`": width for key, width in METRICS.items()}  # to their widths in pixels


def runs(browser: Browser, artifacts: Path, scale: float) -> bytes:
    """The list of the compiles, best on test first, as a PNG."""
    with served(artifacts) as address:
        experiments = ours(address)
        context = browser.new_context(viewport={"width": 1136, "height": 380}, device_scale_factor=scale)
        context.add_init_script(_remembered(experiments))
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


def ours(address: str) -> list[str]:
    """The ids of our experiments, in the order of their names. Raises ValueError for none."""
    asked = urllib.request.Request(
        f"{address}/api/2.0/mlflow/experiments/search",
        data=json.dumps({"max_results": 100, "filter": f"name LIKE '{EXPERIMENTS}%'", "order_by": ["name"]}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(asked, timeout=30) as answer:
        found = [one["experiment_id"] for one in json.load(answer).get("experiments", [])]
    if not found:
        raise ValueError("the store has no experiment of ours; run `make demo` first")
    return found


def _remembered(experiments: list[str]) -> str:
    """A script that tells the UI what its user had chosen before: columns, their order, and a closed side panel."""
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
