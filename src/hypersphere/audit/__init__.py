"""Audit the printed numbers of any paper: what they allow, under which assumption. It imports numpy and scipy alone."""
