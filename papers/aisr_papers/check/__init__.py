"""Checking a whole paper: records of its sentences, flags, the page, the MCP server."""
