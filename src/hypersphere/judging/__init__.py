"""Judge anybody's runs by the engine's own rules: a table in, verdicts out. It imports neither torch nor pandas."""
