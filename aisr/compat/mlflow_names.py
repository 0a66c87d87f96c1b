"""Words that MLflow's UI and store know, and its modules do not export or only after seconds."""

# Tags of an experiment: a saved view of the UI behind the first, by its name; the kind, which it would ask for.
SHARED_VIEW = "mlflow.sharedViewState."
EXPERIMENT_KIND = "mlflow.experimentKind"
CUSTOM_MODEL = "custom_model_development"
# Attributes of a span that the UI shows first.
SPAN_INPUTS, SPAN_OUTPUTS = "mlflow.spanInputs", "mlflow.spanOutputs"
