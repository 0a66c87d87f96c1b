#!/bin/bash
# The ideal of mlflow's ndcg_at_k is as long as the list that was retrieved: to return one of three relevant documents,
# and nothing else, scores 1.0 at k = 3, and the same with two wrong ones behind it .47.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check mlflow==3.17.2 scikit-learn==1.9.1 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import os, sys, warnings
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
warnings.simplefilter("ignore")
import mlflow
import pandas as pd

measure = mlflow.metrics.ndcg_at_k(3)
relevant = pd.Series([["a", "b", "c"]])
scores = {}
for retrieved in (["a"], ["a", "x", "y"]):
    scores[len(retrieved)] = measure.eval_fn(pd.Series([retrieved]), relevant).scores[0]
    print(f"mlflow {mlflow.__version__}: a, b, c are relevant, {retrieved} retrieved: {scores[len(retrieved)]:.3f}")
found = scores[1] == 1 and scores[3] < 0.5
sys.exit(0 if found else 1)
END
