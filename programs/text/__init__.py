"""Text as prompts take it: cleaned, made harmless, counted."""
