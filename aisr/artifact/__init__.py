"""Compiled programs as text: saved, checked, loaded, as a page."""
