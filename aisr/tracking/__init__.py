"""MLflow: runs, registered versions, traces, serving."""
