"""Statements of the double-metric paper, and of ours that follow from its Eq. 2. The checks are in chords/."""

from hypersphere.theory.chords import gradients, losses, sphere
from hypersphere.theory.statement import Statement

STATEMENTS: tuple[Statement, ...] = (*sphere.STATEMENTS, *losses.STATEMENTS, *gradients.STATEMENTS)
