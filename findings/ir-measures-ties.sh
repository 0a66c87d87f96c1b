#!/bin/bash
# ir_measures breaks ties one way for RR and the other way for RR@10: of two documents with the same score the one is
# first to the one measure, the other to the other, since they come from different back ends.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check ir_measures==0.4.3 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import sys
from importlib.metadata import version
from ir_measures import RR, Qrel, ScoredDoc, calc_aggregate

run = [ScoredDoc("q", "a", 1.0), ScoredDoc("q", "b", 1.0)]
scores = {}
for relevant in ("a", "b"):
    measured = calc_aggregate([RR, RR @ 10], [Qrel("q", relevant, 1)], run)
    scores[relevant] = {str(name): score for name, score in measured.items()}
    print(f"ir_measures {version('ir_measures')}: a and b tie, {relevant} is relevant: {scores[relevant]}")
found = all(one["RR"] != one["RR@10"] for one in scores.values())
sys.exit(0 if found else 1)
END
