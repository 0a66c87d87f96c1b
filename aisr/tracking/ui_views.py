"""Saved views of a task's experiment in MLflow's UI: the columns that a person compares compiles by, and evaluations.

The UI keeps a view as a tag of the experiment, a JSON text inside of JSON; it opens by its address or from the menu
"Views" (read from MLflow 3.17, where users make such views by hand). A UI that knows no views shows its own columns.
"""

import json
import time
from collections.abc import Sequence
from typing import Any

from aisr.compat.mlflow_names import SHARED_VIEW
from aisr.tasks.task import Task

COMPILES, EVALUATIONS = "compiles", "evaluations"
NAME, CREATED = "attributes.`Run Name`", "runDateAndNestInfo"  # as the UI calls two of its columns
WIDE, NARROW = 380, 105  # pixels


def tags(task: Task) -> dict[str, str]:
    """The views of a task as tags of its experiment."""
    scores = ["score", "score_low", "score_high", *task.parts]
    spent = ["metrics.usd", "metrics.lm_calls", "metrics.seconds"]
    compiles = [
        "tags.aisr.champion",
        *(f"metrics.test_{name}" for name in scores),
        "metrics.dev_score",
        "tags.aisr.candidate",
        "tags.aisr.decision",
        *spent,
        "tags.aisr.data",
    ]
    evaluations = [*(f"metrics.{name}" for name in scores), "metrics.failed", "tags.aisr.data", *spent]
    return {
        SHARED_VIEW + COMPILES: _view(COMPILES, "compile", compiles),
        SHARED_VIEW + EVALUATIONS: _view(EVALUATIONS, "evaluate", evaluations),
    }


def addresses(mlflow: Any, server: str) -> dict[str, str]:
    """Where a server's UI shows the compiles and the evaluations of each experiment of ours, by the names of both."""
    return {
        f"{found.name}, {view}": f"{server}/#/experiments/{found.experiment_id}/runs?viewStateShareKey={view}"
        for found in mlflow.search_experiments(order_by=["name"])
        for view in (COMPILES, EVALUATIONS)
        if SHARED_VIEW + view in found.tags
    }


def _view(name: str, kind: str, columns: Sequence[str]) -> str:
    quoted = [f"{group}.`{rest}`" for group, _, rest in (column.partition(".") for column in columns)]
    order = [NAME, *quoted, CREATED]
    state = {
        "searchFilter": f'tags.aisr.kind = "{kind}"',
        "selectedColumns": quoted,
        "columnOrder": order,
        "columnWidths": {NAME: WIDE, CREATED: NARROW + 35, **dict.fromkeys(quoted, NARROW)},
    }
    now = int(time.time() * 1000)
    return json.dumps({"name": name, "createdAt": now, "updatedAt": now, "state": json.dumps(state)})
