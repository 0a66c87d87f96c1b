#!/bin/bash
# bibtexparser 2 replaces a BibTeX string that stands alone, and leaves one that is joined by # raw: quotes, sign and
# name of the string are the value, and the entry counts as read.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check bibtexparser==2.1.0 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import sys
from importlib.metadata import version
import bibtexparser

library = bibtexparser.parse_string(
    '@string{mice = "Mice"}\n@article{a, title = mice, year = 2020}\n'
    '@article{b, title = mice # " in labs", year = 2020}'
)
titles = {entry.key: entry["title"] for entry in library.entries}
print(f"bibtexparser {version('bibtexparser')}: titles {titles}, failed blocks: {library.failed_blocks}")
found = titles == {"a": "Mice", "b": 'mice # " in labs"'} and not library.failed_blocks
sys.exit(0 if found else 1)
END
