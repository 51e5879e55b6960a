"""What trains a run, one file for each kind: ``pretrain(run, data, execution, folder) -> Outcome``.

Locks, manifests and publishing are the same for every kind, and stay outside.
"""
