#!/bin/bash
# `mlflow gc` removes a deleted run and its files for good, and leaves the registered versions that were made of it: the
# alias still names one, its status is still READY, and only whoever downloads it learns that there is nothing.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check mlflow==3.17.2 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import os, subprocess, sys
os.environ.update(MLFLOW_DISABLE_TELEMETRY="true", MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR="false")
import mlflow
from mlflow import MlflowClient

here = os.getcwd()
store = f"sqlite:///{here}/mlflow.db"
mlflow.set_tracking_uri(store)
client = MlflowClient()
experiment = client.create_experiment("judges", artifact_location=f"file://{here}/files")
run = client.create_run(experiment).info.run_id
client.log_text(run, "{}", "model/program.json")
client.set_terminated(run)
client.create_registered_model("judge")
version = client.create_model_version("judge", f"runs:/{run}/model", run).version
client.set_registered_model_alias("judge", "champion", version)
client.delete_run(run)
collect = [sys.executable, "-m", "mlflow", "gc", "--backend-store-uri", store, "--tracking-uri", store]
print(subprocess.run(collect, capture_output=True, text=True, check=True).stdout.strip())
left = client.get_model_version_by_alias("judge", "champion")
print(f"mlflow {mlflow.__version__}: champion is version {left.version}, {left.status}, of {left.source}")
try:
    mlflow.artifacts.download_artifacts("models:/judge@champion")
    reason = None
except mlflow.MlflowException as error:
    reason = str(error)
print(f"download: {reason}")
found = left.status == "READY" and reason is not None
sys.exit(0 if found else 1)
END
