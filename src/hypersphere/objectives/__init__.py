"""Losses, maps to logits, gradient transforms and initialisations: one small pure function per equation.

None of them knows of devices, queues, gathering or configuration.
"""
