"""What the double-metric paper states, and what follows from its Eq. 2; the checks are in chords/."""

from hypersphere.theory.chords import gradients, losses, sphere
from hypersphere.theory.statement import Statement

STATEMENTS: tuple[Statement, ...] = (*sphere.STATEMENTS, *losses.STATEMENTS, *gradients.STATEMENTS)
