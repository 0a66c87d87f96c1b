"""Language models: opened from a spec string, paced, counted, cached."""
