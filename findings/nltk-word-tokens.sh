#!/bin/bash
# NLTK's word tokenizer splits at en and em dashes in 3.10.4, and did not in 3.9.1: "5–7" is one token or three. What
# counts tokens, such as METEOR over them, gives other scores for the same texts.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for package in nltk==3.9.1 nltk==3.10.4; do
  python3 -m venv "$folder/$package" || exit 2
  "$folder/$package/bin/pip" install --quiet --disable-pip-version-check "$package" || exit 2
  "$folder/$package/bin/python" - <<'END' | tee -a "$folder/output"
import nltk
from nltk.tokenize import NLTKWordTokenizer

tokens = [NLTKWordTokenizer().tokenize(text) for text in ("rose 5\u20137 points", "a state\u2014of sorts")]
print(f"nltk {nltk.__version__}: {tokens}")
END
done
found="nltk 3.9.1: [['rose', '5–7', 'points'], ['a', 'state—of', 'sorts']]
nltk 3.10.4: [['rose', '5', '–', '7', 'points'], ['a', 'state', '—', 'of', 'sorts']]"
[ "$(cat "$folder/output")" = "$found" ]
