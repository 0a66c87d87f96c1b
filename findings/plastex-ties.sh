#!/bin/bash
# The text that plasTeX gives of a LaTeX document has nothing in the place of a tie: `12~34` becomes 1234, another
# number, and `Table~2` one word.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check plasTeX==3.1 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import contextlib, io, sys
from importlib.metadata import version
from plasTeX.TeX import TeX

document = TeX()
document.input(r"\documentclass{article}\begin{document}Table~2 lists 12~34 mice.\end{document}")
with contextlib.redirect_stdout(io.StringIO()):
    text = document.parse().textContent
print(f"plasTeX {version('plasTeX')}: {text!r}")
found = "1234" in text and "Table2" in text
sys.exit(0 if found else 1)
END
