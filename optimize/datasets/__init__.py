"""Labelled records: split without leaks, resampled, augmented, made into examples, exported."""
