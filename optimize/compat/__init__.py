"""What other packages do not promise to keep, a file for each, and the versions that it was tried with."""
