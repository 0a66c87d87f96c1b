"""`aisr ui`: ready without the web, on this machine only, gone when told."""

import os
import signal
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from aisr.commands.mlflow_ui import serve
from aisr.tasks.track1 import TRACK1
from aisr.tracking import ui_views
from support.servers import get, listens, ui


@pytest.mark.slow
@pytest.mark.parametrize("stop", ["Ctrl-C", "SIGINT"])  # SIGTERM: test_serving.py
def test_the_ui_is_ready_offline_on_loopback_only_and_ends_when_told(stop: str, artifacts: Path) -> None:
    with ui(artifacts) as (port, process):
        assert b"MLflow" in get(port, "/")
        assert not listens(port, "127.0.0.2"), "listens on more than 127.0.0.1"
        with socket.create_connection(("127.0.0.1", port), timeout=30) as held:
            if stop == "Ctrl-C":
                os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            else:
                process.send_signal(signal.SIGINT)  # to the command alone
            process.wait(30)
            assert held.recv(1) == b"", "the server outlived the command"
        assert not listens(port)


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
