"""Tidy tables, effects and verdicts from evaluations. All computation on results is here."""
