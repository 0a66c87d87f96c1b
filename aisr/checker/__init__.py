"""What checks papers and drafts for a command or an agent: programs made ready, a session with its budget, MCP."""
