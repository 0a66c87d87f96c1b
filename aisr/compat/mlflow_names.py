"""Words that MLflow's UI and store know, and its modules do not export or only after seconds."""

# Tag of an experiment: its kind, which the UI would ask for.
EXPERIMENT_KIND = "mlflow.experimentKind"
CUSTOM_MODEL = "custom_model_development"
# Attributes of a span that the UI shows first.
SPAN_INPUTS, SPAN_OUTPUTS = "mlflow.spanInputs", "mlflow.spanOutputs"
# Of its database: every version that was not deleted, as name, number and an alias or none.
VERSIONS = """
    SELECT version.name, version.version, alias.alias
    FROM model_versions AS version
    LEFT JOIN registered_model_aliases AS alias ON alias.name = version.name AND alias.version = version.version
    WHERE version.current_stage IS NOT 'Deleted_Internal'
    ORDER BY version.name, version.version DESC
"""
