"""What keeps results whole: manifests, digests of code, locks, signals, recovery, tidy tables, evidence records.

It imports ``declared`` and nothing that trains, probes, judges or draws.
"""
