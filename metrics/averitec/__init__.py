"""The score of the AVeriTeC shared task (Schlichtkrull et al. 2023; FEVER workshop 2024), exactly as its organisers'
scorer computes it, and what an optimizer sees of it."""
