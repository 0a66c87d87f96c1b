"""Judging and predicting: one file of records, Ray; scores of predictions."""
