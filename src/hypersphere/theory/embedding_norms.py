"""Statements of the norms paper, in the order of its text. The checks are in norms/."""

from hypersphere.theory.norms import fields, gradients, steps
from hypersphere.theory.norms.steps import Largest, largest_excess
from hypersphere.theory.statement import Statement

__all__ = ["STATEMENTS", "Largest", "largest_excess"]

STATEMENTS: tuple[Statement, ...] = (*gradients.STATEMENTS, *steps.STATEMENTS, *fields.STATEMENTS)
