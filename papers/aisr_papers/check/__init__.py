"""Checking a whole paper: records of its sentences, verdicts, the page, the MCP server."""
