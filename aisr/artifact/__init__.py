"""Compiled programs as text: saved, checked, loaded, shown to a person, compared."""
