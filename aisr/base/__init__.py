"""Used by every package: files, redaction, sandbox, private names of other packages."""
