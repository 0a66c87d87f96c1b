#!/bin/bash
# outlines-core puts a JSON schema's pattern between quotes as it is: of `P1|P2` one branch gets the opening quote and
# the other the closing one, so that no JSON text matches; and beside maxLength a pattern is dropped without a word.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check outlines-core==0.2.14 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import json, re, sys
from importlib.metadata import version
from outlines_core.json_schema import build_regex_from_schema

def taken(texts, **schema):
    expression = build_regex_from_schema(json.dumps({"type": "string", **schema}))
    return expression, {text: bool(re.fullmatch(expression, text)) for text in texts}

bare = taken(['"P1"', '"P2"'], pattern="P1|P2")
grouped = taken(['"P1"', '"P2"'], pattern="(P1|P2)")
bounded = taken(['"P1"', '"no"'], pattern="^P[0-9]$", maxLength=2)
print(f"outlines-core {version('outlines-core')}: pattern P1|P2: {bare}")
print(f"pattern (P1|P2): {grouped}")
print(f"pattern ^P[0-9]$ with maxLength 2: {bounded}")
found = not any(bare[1].values()) and all(grouped[1].values()) and bounded[1]['"no"']
sys.exit(0 if found else 1)
END
