"""Language models: opened by name, limited and charged, their answers read, kept and recorded."""
