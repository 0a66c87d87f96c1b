#!/bin/bash
# pubmed_parser drops each row of a JATS table that stands under a cell over several rows: it has a cell less than the
# header, and is left out without a word, with the values in it.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check pubmed_parser==0.5.1 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import sys
from importlib.metadata import version
from pathlib import Path
import pubmed_parser

ROWS = [["Group", "Time", "Value"], ["A:2", "Pre", "1.5"], ["Post", "2.5"], ["B", "Pre", "3.5"]]

def cell(text):
    word, _, rows = text.partition(":")
    return f'<td rowspan="{rows or 1}">{word}</td>'

header, *body = ["<tr>" + "".join(map(cell, row)) + "</tr>" for row in ROWS]
header = header.replace("td", "th")
table = f"<table><thead>{header}</thead><tbody>{''.join(body)}</tbody></table>"
Path("paper.nxml").write_text(
    "<article><front><article-meta><article-id pub-id-type='pmc'>1</article-id></article-meta></front><body><sec>"
    f"<table-wrap id='t'><label>Table 1</label><caption><p>Mice.</p></caption>{table}</table-wrap>"
    "</sec></body></article>"
)
(read,) = pubmed_parser.parse_pubmed_table("paper.nxml")
print(f"pubmed_parser {version('pubmed_parser')}: of {ROWS[1:]} it reads {read['table_values']}")
found = not any("2.5" in row for row in read["table_values"]) and len(read["table_values"]) == 2
sys.exit(0 if found else 1)
END
