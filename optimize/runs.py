"""What all runs in MLflow have in common: an experiment a task, tags to filter by, scores with intervals, datasets by
digest, and files that can be fetched again."""

import re
from pathlib import Path
from typing import Any

from optimize.champion import Result
from optimize.store import files, is_own
from optimize.tasks import Task

KIND_TAG = "aisr.kind"
COMPILE, EVALUATE = "compile", "evaluate"
CHAMPION_TAG = "aisr.champion"  # of a compile: whether its version is the champion now
YES, NO = "yes", "no"
RUN_ID = re.compile("[0-9a-f]{32}")


def experiment(mlflow: Any, root: Path, task: Task) -> str:
    """The id of a task's experiment, which is made if it is not there."""
    name = f"aisr {task.name}"
    found = mlflow.get_experiment_by_name(name)
    if found is not None:
        return str(found.experiment_id)
    location = files(root) if is_own(root) else None
    # Without its kind, MLflow's UI asks whoever opens the experiment first.
    tags = {"mlflow.experimentKind": "custom_model_development"}
    return str(mlflow.create_experiment(name, artifact_location=location, tags=tags))


def tags(kind: str, task: Task, lm: str, data: str) -> dict[str, str]:
    """What a list of runs shows and filters by. lm: its model string; data: a digest."""
    return {
        KIND_TAG: kind,
        "aisr.task": task.name,
        "aisr.lm": lm,
        "aisr.data": data,
        "mlflow.source.name": f"aisr {kind}",  # MLflow would take the path of the command
    }


def scores(found: Result, prefix: str = "") -> dict[str, float]:
    """The official scores of a result in 0-1, the ranking score with the ends of its 95 % interval, and how many records
    failed, as metrics."""
    return {
        f"{prefix}score": found.score.score,
        f"{prefix}score_low": found.interval.low,
        f"{prefix}score_high": found.interval.high,
        f"{prefix}macro_f1": found.score.macro_f1,
        f"{prefix}{found.score.exact_name}": found.score.exact,
        f"{prefix}failed": len(found.failures),
    }


def spent(spend: dict[str, Any], seconds: float) -> dict[str, float]:
    """What a run cost, as metrics; `usd` only where the price is known. spend: `Spend.as_dict`."""
    metrics = {
        "seconds": seconds,
        "lm_calls": spend["calls"],
        "lm_cached_calls": spend["cached_calls"],
        "prompt_tokens": spend["prompt_tokens"],
        "completion_tokens": spend["completion_tokens"],
    }
    return metrics if spend["usd"] is None else metrics | {"usd": spend["usd"]}


def dataset(path: Path, digest: str, records: int) -> Any:
    """A dataset entry by name and digest alone: task data may not be redistributed, so no record is stored."""
    from mlflow.data.code_dataset_source import CodeDatasetSource
    from mlflow.data.meta_dataset import MetaDataset

    source = CodeDatasetSource(tags={"file": path.name, "records": str(records)})
    return MetaDataset(source, name=f"{path.parent.name}/{path.name}", digest=digest)
