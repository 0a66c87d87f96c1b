"""Texts: as sentences and tokens, as they may stand in a prompt, in a terminal, in a file."""

from aisr.base.files import percent, pluralize
from aisr.base.jsonl import valid_text
from aisr.base.redact import printable
from aisr.base.redact import secrets as without_keys
from aisr.programs.text import INVISIBLE, ROW, clean, folded, item, plain, sentences, stretch, tokens

__all__ = [
    "INVISIBLE",
    "ROW",
    "clean",
    "folded",
    "item",
    "percent",
    "plain",
    "pluralize",
    "printable",
    "sentences",
    "stretch",
    "tokens",
    "valid_text",
    "without_keys",
]
