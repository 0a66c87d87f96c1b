#!/bin/bash
# One NaN among p-values makes NaN of all that statsmodels' fdr_bh adjusts, while it still says which are rejected; the
# adjustment after Holm keeps the others.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check statsmodels==0.15.0 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import sys
import numpy as np
import statsmodels
from statsmodels.stats.multitest import multipletests

values = [0.01, 0.02, float("nan"), 0.9]
adjusted = {}
for method in ("fdr_bh", "holm"):
    rejected, adjusted[method], *_ = multipletests(values, method=method)
    print(f"statsmodels {statsmodels.__version__}, {method} of {values}: {adjusted[method]}, rejected {rejected}")
found = np.isnan(adjusted["fdr_bh"]).all() and np.isnan(adjusted["holm"]).sum() == 1
sys.exit(0 if found else 1)
END
