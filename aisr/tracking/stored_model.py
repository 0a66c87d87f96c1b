"""A compiled program of aisr as MLflow serves it. MLflow keeps a copy of this file with each registered version, and
runs it years later: what it does is in `aisr.serving`, and it imports nothing else of the project."""

from mlflow.models import ModelConfig, set_model

try:
    from aisr import serving
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"{missing}. This model needs the package aisr in the environment that serves it (with `--env-manager local`, "
        "that of the `mlflow` command): `pip install` the wheel that `pip wheel --no-deps .` makes of the project"
    ) from missing

set_model(serving.model(ModelConfig().to_dict()))
