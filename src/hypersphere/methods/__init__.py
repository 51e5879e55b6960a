"""Wiring: which network sees which view, which way gradients flow, what is remembered. Equations are in objectives."""
