"""Files that are written whole or not at all, the folder of caches, and digests."""

from aisr.base.files import cache_folder, digest_file, digest_text, digest_texts, write_whole

__all__ = ["cache_folder", "digest_file", "digest_text", "digest_texts", "write_whole"]
