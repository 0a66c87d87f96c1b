"""Corrections that people make of verdicts: their lines, and what becomes of them."""
