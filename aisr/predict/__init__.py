"""Judging and predicting: one file of records, a batch API, Ray; scores of predictions."""
