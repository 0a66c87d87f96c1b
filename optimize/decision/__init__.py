"""Fitting the decision layer, taking it apart, and explaining a verdict by it."""
