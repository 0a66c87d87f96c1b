"""What a model is asked, as DSPy signatures: their docstrings are the instructions that a compile starts from."""
