"""Losses, maps to logits, gradient transforms and initialisations: one small pure function per equation.

No device, queue, gather or config inside.
"""
