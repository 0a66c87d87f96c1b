#!/bin/bash
# pylatexenc shows what \phantom hides: a minus or a digit that stands there for the width alone, as tables have it to
# align numbers, is part of the number in its text.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check pylatexenc==2.11 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import sys
from importlib.metadata import version
from pylatexenc.latex2text import LatexNodes2Text

cells = [r"$\phantom{-}1.5$", r"\phantom{0}7"]
texts = [LatexNodes2Text().latex_to_text(cell) for cell in cells]
print(f"pylatexenc {version('pylatexenc')}: {cells} print as 1.5 and 7; it reads {texts}")
found = texts == ["-1.5", "07"]
sys.exit(0 if found else 1)
END
