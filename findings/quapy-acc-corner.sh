#!/bin/bash
# Adjusted classify and count (quapy's ACC) gives a sure answer where there is none: of three classes, two of which no
# feature tells apart, it shares their part out as .72 and .08, where .4 and .4 and where .2 and .6 are true, alike.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check quapy==0.2.3 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import sys
from importlib.metadata import version
import numpy as np
from quapy.method.aggregative import ACC, PCC
from sklearn.linear_model import LogisticRegression

random = np.random.default_rng(0)

def drawn(counts):
    labels = np.repeat([0, 1, 2], counts)
    return np.where(labels[:, None] == 0, -2, 2) + random.normal(size=(len(labels), 2)), labels

features, labels = drawn([200, 200, 200])
parts = {}
for counts in ([100, 200, 200], [100, 100, 300]):
    test, _ = drawn(counts)
    for method in (ACC, PCC):
        quantifier = method(LogisticRegression())
        quantifier.fit(features, labels)
        parts[method.__name__, counts[1]] = quantifier.predict(test)
        true = np.array(counts) / 500
        print(f"quapy {version('quapy')}: {method.__name__} of {true}: {parts[method.__name__, counts[1]].round(2)}")
found = all(max(parts["ACC", count][1:]) > 0.6 for count in (200, 100)) and np.allclose(
    parts["ACC", 200], parts["ACC", 100], atol=0.02
)
sys.exit(0 if found else 1)
END
