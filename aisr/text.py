"""Texts: as sentences and tokens, as they may stand in a prompt or a terminal; their digests; files of text that are
written whole or not at all."""

from aisr.base.files import cache_folder, digest_file, digest_text, digest_texts, percent, pluralize, write_whole
from aisr.base.jsonl import valid_text
from aisr.base.redact import printable, secrets as without_keys
from aisr.programs.text import INVISIBLE, ROW, clean, folded, item, plain, sentences, stretch, tokens

__all__ = [
    "INVISIBLE",
    "ROW",
    "cache_folder",
    "clean",
    "digest_file",
    "digest_text",
    "digest_texts",
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
    "write_whole",
]
