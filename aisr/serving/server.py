"""A registered program over HTTP: `python -P -m aisr.serving.server models:/… PORT`, which `aisr serve` runs.

Of the store only the program's JSON is read, and held to its digest. What serves it is this package: MLflow's own
`mlflow models serve` runs the file that lies in the store, whoever wrote it last.
"""

import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import mlflow

from aisr.artifact.manifest import Manifest
from aisr.base.files import BadArtifact
from aisr.compat.mlflow import scoring_app
from aisr.serving.guard import App, Guard
from aisr.tracking import registry

STORED = Path(registry.__file__).with_name("stored_model.py")


def application(artifacts: Path, uri: str) -> App:
    """What answers the requests. Raises `BadArtifact`, `NoStore` and `LMUnavailable`."""
    loaded, text = registry.registered(artifacts, uri)
    try:
        made = registry.manifest(artifacts, uri)
    except (BadArtifact, mlflow.MlflowException):  # its run may have been deleted
        made = Manifest(task=loaded.task.name, digest=loaded.digest)
    config = registry.config(loaded.task, made) | {"digest": loaded.digest}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "program.json").write_text(text, encoding="utf-8")
        model = _model(Path(folder), config)
    app: App = scoring_app(model)
    return Guard(app)


def _model(folder: Path, config: dict[str, Any]) -> Any:
    """What MLflow would have loaded from the store, made of the file of this package."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MLflow advises on type hints
        mlflow.pyfunc.save_model(
            str(folder / "model"),
            python_model=str(STORED),
            artifacts={"program": str(folder / "program.json")},
            model_config=config,
            pip_requirements=[],
        )
        return mlflow.pyfunc.load_model(str(folder / "model"))


def main() -> None:
    """Serve on the loopback address until the process is ended."""
    import uvicorn

    uri, port = sys.argv[1:]
    app = application(Path(os.environ["AISR_ARTIFACTS"]), uri)
    uvicorn.run(app, host="127.0.0.1", port=int(port))


if __name__ == "__main__":
    main()
