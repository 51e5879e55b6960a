"""Trainers, one file for each kind of run: ``pretrain(run, data, execution, folder) -> Progress``.

Locks, manifests and the final move of results are the same for every kind: training/pretrain.py has them.
"""
