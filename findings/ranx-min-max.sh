#!/bin/bash
# ranx's min-max normalisation gives the only document of a run 0, the same as the worst of a long run: fused with
# another run, the one document that a strict retriever is sure of counts for nothing.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check ranx==0.3.21 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import sys
from importlib.metadata import version
from ranx import Run, fuse

strict = Run({"q": {"right": 9.0}})
broad = Run({"q": {"wrong": 0.3, "right": 0.2, "other": 0.1}})
fused = fuse(runs=[strict, broad], norm="min-max", method="sum").to_dict()["q"]
print(f"ranx {version('ranx')}: one run has `right` alone, the other wrong > right > other; the sum: {fused}")
found = abs(fused["right"] - 0.5) < 1e-6 and max(fused, key=fused.get) == "wrong"
sys.exit(0 if found else 1)
END
