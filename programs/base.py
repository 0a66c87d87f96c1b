"""Transitional."""

from aisr.programs.program import Fitted, LabelOptions, Options, Program, SearchOptions

Judge = Program
LabelJudge = Program
SentenceJudge = Program
JudgeOptions = Options
__all__ = ["Fitted", "Judge", "JudgeOptions", "LabelJudge", "LabelOptions", "SearchOptions", "SentenceJudge"]
