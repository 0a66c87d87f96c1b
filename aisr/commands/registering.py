"""Logging a finished compile to MLflow and registering its champion, and what is said of that."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aisr.inference.replay import Replayed
    from aisr.optimize.experiment.compile import Made
    from aisr.optimize.experiment.plan import Plan


def register(artifacts: Path, plan: "Plan", made: "Made", told: "list[Replayed]", traced: int) -> bool:
    """Whether the store took it. Where it did not, the artifact is whole all the same, and that is said."""
    from mlflow.exceptions import MlflowException

    from aisr.commands.display import complain, note
    from aisr.tracking import log as tracking_log
    from aisr.tracking import runs, traces
    from aisr.tracking.registry import ALIAS
    from aisr.tracking.store import NoStore, reason

    compiled = tracking_log.Compiled(plan.task, made.folder, made.manifest, made.choice, made.test, plan.data)
    try:
        tracked = tracking_log.track(artifacts, compiled)
        named = runs.said(artifacts, tracked.run_id)
        if shown := traces.logged(artifacts, tracked.run_id, plan.task, told, traced, plan.settings.seed):
            note(shown)
    except (MlflowException, NoStore, OSError) as error:
        complain(
            f"{made.folder}/ is whole, but not registered in MLflow: {reason(error)}; the same command registers it, "
            "with the answers from the cache"
        )
        return False
    if tracked.kept_from is None:
        note(f"registered models:/{tracked.model}@{ALIAS} (version {tracked.version}) · {named}")
        return True
    note(f"registered models:/{tracked.model}/{tracked.version} · {named}")
    note(f"  not the champion: {tracked.kept_from}; `aisr promote` makes it so all the same")
    return True
