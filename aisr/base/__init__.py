"""Used by every package: files, redaction, private names of other packages."""
