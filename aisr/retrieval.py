"""Ranking texts by a claim: matchers give each text a score, higher is better."""

from aisr.programs.retrieval import Matcher, bm25, fused, order, stemmed

__all__ = ["Matcher", "bm25", "fused", "order", "stemmed"]
