"""Probes of frozen encoders, one file each, and the evaluation that runs them. A probe maps ``Frozen`` to a result.

A probe's file lists its measures (``MEASURES``, the main one first) and says whether it also works on raw pixels
(``PIXELS = True``). Nothing here judges a number or draws it.

Parameters that probes share: ``k`` neighbours, at most as many as the bank has images, whose votes are weighted
exp(cosine / ``temperature``); ``epochs`` over the training set in steps of ``batch`` images, the last, smaller one
included; ``mlp``, all parameters of the probe of that name. Draws are keyed without seed or run, so that a probe adds
nothing to the variance between pretrainings. Accuracies and errors are in percent.
"""
