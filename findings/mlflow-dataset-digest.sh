#!/bin/bash
# The digest of an MLflow dataset does not see columns that hold lists, dicts or booleans, nor rows behind the 10,000th:
# two data sets that differ in all of their labels pass for the same one.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check mlflow==3.17.2 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import os, sys
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
import mlflow
import pandas as pd

def digests(*columns):
    return [mlflow.data.from_pandas(pd.DataFrame(one)).digest for one in columns]

claims = ["Ice melts.", "Ice grows."]
pairs = {
    "lists": digests({"claim": claims, "labels": [["a"], ["b"]]}, {"claim": claims, "labels": [["b"], ["a"]]}),
    "booleans": digests({"claim": claims, "right": [True, False]}, {"claim": claims, "right": [False, True]}),
    "row 10,001": digests({"n": [*range(10_000), 1]}, {"n": [*range(10_000), 2]}),
    "texts": digests({"claim": claims}, {"claim": claims[::-1]}),
}
print(f"mlflow {mlflow.__version__}: digests of two data sets that differ in")
for name, (one, other) in pairs.items():
    print(f"  {name}: {one} {other}")
same = {name for name, (one, other) in pairs.items() if one == other}
found = same == {"lists", "booleans", "row 10,001"}
sys.exit(0 if found else 1)
END
