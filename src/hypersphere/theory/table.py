"""Columns of theory.csv. This file imports no torch, because statistics/ reads it."""

from hypersphere.provenance import tables

COLUMNS: tables.Columns = {
    **tables.texts("id", "paper", "reading"),
    **tables.numbers("draws", "met", "violated", "worst"),
    **tables.texts("counterexample", "verdict"),
}
