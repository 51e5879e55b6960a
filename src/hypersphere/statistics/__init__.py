"""From evaluations to tidy tables, effects and verdicts. Whatever is computed of results is computed here."""
