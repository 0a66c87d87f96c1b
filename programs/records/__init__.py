"""The records of all tasks, and the lines of predictions: what is read is validated once, here."""
