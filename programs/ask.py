"""Transitional."""

from aisr.programs.program import UnusableAnswer

__all__ = ["UnusableAnswer"]
