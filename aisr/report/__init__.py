"""The error browser: one HTML file with every judged record, its evidence, verdicts, prompt and raw answer."""
