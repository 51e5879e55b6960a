"""Probes of frozen encoders, one file each, and the evaluation that runs them. A probe maps ``Frozen`` to a result.

A probe's file lists its measures (``MEASURES``, the main one first) and says whether it also works on raw pixels
(``PIXELS``). Nothing here judges a number or draws it.
"""
