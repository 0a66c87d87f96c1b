"""A registered program behind MLflow's `predict` ("models from code"): records in, predictions out.

`model` is all that the stored file of a registered version calls (`aisr/tracking/stored_model.py`), with the
configuration that was registered with it. Both stay as they are: keys may be added, and what an earlier version lacks
has a default.

`mlflow models serve` answers POST /invocations with `{"inputs": [record, …]}`. The environment says the rest:

AISR_LM          the language model. Default: the one that the program was compiled with, where that is `embedded`; any
                 other must be named, since records would go to it
AISR_API_BASE    the address of an OpenAI-compatible server
AISR_EMBEDDING_API_BASE  where the embedding model of a retriever is, if not there; `provider` for a hosted one
AISR_IMAGE_ROOT  the folder that the pictures of records are in
AISR_ARTIFACTS   the artifacts folder, whose response cache is used where DSPY_CACHEDIR does not say; default: the one
                 that the MLflow store is in
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import mlflow
from mlflow.exceptions import TEMPORARILY_UNAVAILABLE
from pydantic import BaseModel, SkipValidation, create_model

from aisr.api import ARTIFACTS, LanguageModel, LMUnavailable, UserError, check_lm, open_lm
from aisr.artifact.program import load_file
from aisr.base.files import cache_folder
from aisr.lm.response_cache import configure_cache
from aisr.predict.judge import judge_all
from aisr.predict.prepare import attach_gallery, open_gallery
from aisr.programs.registry import find_task
from aisr.tracking.store import artifacts_of
from aisr.verdicts import check_record, prepare_record, to_verdict, translated_errors

EMBEDDED = "embedded"
PLAIN = (bool, int, float, str)  # in this order: True is an int as well


def model(config: Mapping[str, Any]) -> mlflow.pyfunc.PythonModel:
    """What MLflow serves.

    config: `task` is the name of its task or its place (`aisr.programs.registry`), `digest` that of the program, `lm`
    the spec of the LM that it was compiled with, `schema` and `logprobs` the form of its requests. Raises UserError for
    an unknown task.
    """
    task = find_task(config["task"])
    takes, gives = record_form(task.record), prediction_form(task.prediction)

    class Served(_Served):
        def predict(self, model_input: list[takes]) -> list[gives]:  # type: ignore[valid-type]
            return self.judged(model_input)

    return Served(config)


class _Served(mlflow.pyfunc.PythonModel):
    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config

    def load_context(self, context: Any) -> None:
        """Open program and LM. Raises `UserError` and `LMUnavailable`."""
        loaded = load_file(Path(context.artifacts["program"]), "the registered program", find_task(self.config["task"]))
        if loaded.digest != self.config["digest"]:
            raise UserError(
                f"the registered program has the digest {loaded.digest}, and {self.config['digest']} was registered: "
                "the stored file was changed since. Compile it again, or serve another version"
            )
        artifacts = _artifacts()
        if root := os.environ.get("AISR_IMAGE_ROOT"):
            attach_gallery(loaded.program, open_gallery(Path(root), artifacts or Path(ARTIFACTS)))
        if artifacts is not None:
            configure_cache(cache_folder(artifacts))
        self.loaded, self.lm = loaded, _lm(self.config)
        check_lm(loaded, self.lm)

    def judged(self, records: list[Any]) -> list[dict[str, Any]]:
        """The line of each record, see `aisr.Verdict.line`. Raises MlflowException for a record of the wrong form (HTTP
        400) and where the LM would refuse every record (HTTP 503)."""
        task = self.loaded.task
        try:
            sent = [{name: getattr(one, name) for name in one.model_fields_set} for one in records]
            checked = [check_record(task, one, k, f"inputs[{k}]: ") for k, one in enumerate(sent)]
            examples = [prepare_record(self.loaded, one, f"inputs[{k}]: ") for k, one in enumerate(checked)]
            with translated_errors():
                outcomes = judge_all(task, self.loaded.program, examples, self.lm.opened)
        except LMUnavailable as error:
            message = f"the language model does not answer: {error}"
            raise mlflow.MlflowException(message, error_code=TEMPORARILY_UNAVAILABLE) from None
        except UserError as error:
            raise mlflow.MlflowException.invalid_parameter_value(str(error)) from error
        return [to_verdict(task, *one).line for one in zip(checked, examples, outcomes, strict=True)]


def _lm(config: Mapping[str, Any]) -> LanguageModel:
    """The LM of the environment, or the built-in one where the program was compiled with that; with the
    form of requests that the program was compiled with. Raises `LMUnavailable`."""
    compiled = config.get("lm")
    spec = os.environ.get("AISR_LM") or (EMBEDDED if compiled == EMBEDDED else None)
    if spec is None:
        raise LMUnavailable(
            f"the program was compiled with {compiled or 'an unknown LM'}: set AISR_LM to that, or to another on "
            "purpose, and AISR_API_BASE where a server of your own serves it"
        )
    return open_lm(
        spec,
        api_base=os.environ.get("AISR_API_BASE") or None,
        schema=config.get("schema", True),
        logprobs=config.get("logprobs", True),
        embedding_api_base=os.environ.get("AISR_EMBEDDING_API_BASE") or None,
    )


def _artifacts() -> Path | None:
    """The artifacts folder; None where only a server knows it."""
    named = os.environ.get("AISR_ARTIFACTS")
    return Path(named) if named else artifacts_of(mlflow.get_tracking_uri())


# --- The signature of a served model: the forms of its records and predictions, from the task's pydantic models.
# MLflow would check records by these types as well, and answer a bad one with all that it was sent. So they let
# everything pass, and the task's own model says what is wrong.


def record_form(model: type[BaseModel]) -> type[BaseModel]:
    """The fields of a record, those without a default required; but for its id, which may be missing."""
    return _loosened(model, optional=frozenset({"id"}))


def prediction_form(model: type[BaseModel]) -> type[BaseModel]:
    """The fields of a prediction, or why there is none."""
    fields = {name: _field(info.annotation, required=name == "id") for name, info in model.model_fields.items()}
    return create_model(f"{model.__name__}Form", **fields, failed=_field(str, required=False))


def _loosened(model: type[BaseModel], optional: frozenset[str] = frozenset()) -> type[BaseModel]:
    fields = {
        name: _field(info.annotation, info.is_required() and name not in optional)
        for name, info in model.model_fields.items()
    }
    return create_model(f"{model.__name__}Form", **fields)


def _field(annotation: Any, required: bool) -> Any:
    kind = _kind(annotation)
    return Annotated[kind if required else kind | None, SkipValidation], None


def _kind(annotation: Any) -> Any:
    """The type as MLflow has it: plain types, lists, dicts by strings and models; Any for everything else."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(inner[0])
    if origin is Literal:
        return _one({_kind(type(value)) for value in inner})
    if origin in (Union, UnionType):
        return _one({_kind(one) for one in inner if one is not NoneType})
    if origin in (list, Sequence):
        return list[_kind(inner[0])]  # type: ignore[misc]
    if origin in (dict, Mapping):
        return dict[str, _kind(inner[1])]  # type: ignore[misc]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _loosened(annotation)
    if isinstance(annotation, type):
        return next((plain for plain in PLAIN if issubclass(annotation, plain)), Any)
    return Any


def _one(kinds: set[Any]) -> Any:
    return kinds.pop() if len(kinds) == 1 else Any
