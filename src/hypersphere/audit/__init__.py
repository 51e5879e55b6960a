"""Audit the printed numbers of any paper: what they allow, under which assumption. It imports numpy and scipy alone."""

COMMANDS = {
    "audit": "check a table of printed numbers: what they allow, and under which assumptions",
    "grim": "how many runs a printed mean accuracy can be of",
}
"""The commands that audit/command.py runs, with their help."""
