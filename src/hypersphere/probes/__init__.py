"""What frozen encoders are asked: a file per probe, from ``Frozen`` to ``Measured``, and the evaluation that runs them.

A probe's file says what it gives (``MEASURES``, the main one first) and whether raw pixels can be asked too
(``PIXELS``). Nothing here judges a number or draws it.
"""
