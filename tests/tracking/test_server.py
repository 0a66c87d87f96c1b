"""`aisr ui`: ready without the web, on this machine only, gone when told."""

import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

from aisr.commands.mlflow_ui import serve
from aisr.tasks.track1 import TRACK1
from aisr.tracking import ui_views
from support.servers import assert_ends, get, listens, ui


@pytest.mark.slow
def test_the_ui_is_ready_offline_on_loopback_only_and_ends_when_told(artifacts: Path) -> None:
    """The command alone; Ctrl-C: test_evaluation_runs.py; SIGTERM: test_serving.py."""
    with ui(artifacts) as server:
        assert b"MLflow" in get(server.port, "/")
        assert not listens(server.port, "127.0.0.2"), "listens on more than 127.0.0.1"
        assert_ends(server, lambda: server.process.send_signal(signal.SIGINT))


def test_the_addresses_of_both_views_are_printed_for_each_task() -> None:
    ours = SimpleNamespace(name="aisr track1", experiment_id="7", tags=ui_views.tags(TRACK1))
    other = SimpleNamespace(name="Default", experiment_id="0", tags={})
    mlflow = SimpleNamespace(search_experiments=lambda order_by: [other, ours])
    assert ui_views.addresses(mlflow, "http://here") == {
        "aisr track1, compiles": "http://here/#/experiments/7/runs?viewStateShareKey=compiles",
        "aisr track1, evaluations": "http://here/#/experiments/7/runs?viewStateShareKey=evaluations",
    }


def test_a_remote_store_has_a_ui_of_its_own(artifacts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://me:sw0rdfish@mlflow.example/")
    with pytest.raises(ValueError, match=r"mlflow\.example.*open that address") as refused:
        serve(artifacts, 5000)
    assert "sw0rdfish" not in str(refused.value)
