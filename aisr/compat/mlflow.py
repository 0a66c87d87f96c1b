"""Insides of MLflow. Imported where it is used: MLflow takes seconds."""

# Questions for people about traces, and queues of traces: experimental by MLflow's word.
from mlflow.genai.label_schemas import InputCategorical, InputText, create_label_schema, list_label_schemas
from mlflow.genai.review_queues import add_items_to_review_queue, create_review_queue

# HTTP 503 of a served model; `MlflowException` takes it, and no public module has it.
from mlflow.protos.databricks_pb2 import TEMPORARILY_UNAVAILABLE

# The application that answers `mlflow models serve`, here behind a guard of ours (`aisr/serving/guard.py`).
from mlflow.pyfunc.scoring_server import init as scoring_app

# Traces written straight into the store: the public ways turn tracing on for the whole process.
from mlflow.tracing.client import TracingClient
from mlflow.tracing.constant import SpanAttributeKey, TraceMetadataKey, TraceTagKey

# Who runs a command, as MLflow's own `start_run` has it, which takes no time of beginning.
from mlflow.tracking.context.registry import resolve_tags

__all__ = [
    "TEMPORARILY_UNAVAILABLE",
    "InputCategorical",
    "InputText",
    "SpanAttributeKey",
    "TraceMetadataKey",
    "TraceTagKey",
    "TracingClient",
    "add_items_to_review_queue",
    "create_label_schema",
    "create_review_queue",
    "list_label_schemas",
    "resolve_tags",
    "scoring_app",
]
