"""Files of records and predictions, read line by line."""
