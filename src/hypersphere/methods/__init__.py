"""Wiring: which network sees which view, where gradients flow, what is kept between steps. Equations: objectives."""
