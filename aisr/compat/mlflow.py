"""Insides of MLflow. Imported where it is used: MLflow takes seconds."""

# HTTP 503 of a served model; `MlflowException` takes it, and no public module has it.
from mlflow.protos.databricks_pb2 import TEMPORARILY_UNAVAILABLE

# Traces written straight into the store: the public ways turn tracing on for the whole process.
from mlflow.tracing.client import TracingClient
from mlflow.tracing.constant import SpanAttributeKey, TraceMetadataKey, TraceTagKey

# Who runs a command, as MLflow's own `start_run` has it, which takes no time of beginning.
from mlflow.tracking.context.registry import resolve_tags

__all__ = [
    "TEMPORARILY_UNAVAILABLE",
    "SpanAttributeKey",
    "TraceMetadataKey",
    "TraceTagKey",
    "TracingClient",
    "resolve_tags",
]
