"""What is shown of a paper, fitted on the gold evidence of train."""
