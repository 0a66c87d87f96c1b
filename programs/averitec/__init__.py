"""AVeriTeC: a claim against documents of the web."""
