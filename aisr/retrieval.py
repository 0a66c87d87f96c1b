"""Ranking texts by a claim: matchers give each text a score, higher is better."""

from aisr.programs.retrieval import Matcher, bm25, fused, names_and_numbers, order, stemmed

__all__ = ["Matcher", "bm25", "fused", "names_and_numbers", "order", "stemmed"]
