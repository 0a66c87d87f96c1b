#!/bin/bash
# pint reads a quantity with the minus sign of typeset text (U+2212) as a positive one: it passes over the sign instead
# of refusing it or taking it for a minus.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check pint==0.25.3 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import sys
import pint

units = pint.UnitRegistry()
typed, typeset = units("-3.5 m"), units("\u2212" + "3.5 m")
print(f"pint {pint.__version__}: with a hyphen {typed}, with U+2212 {typeset}")
found = typed.magnitude == -3.5 and typeset.magnitude == 3.5
sys.exit(0 if found else 1)
END
