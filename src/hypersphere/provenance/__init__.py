"""Keep results whole: manifests, digests of code, locks, signals, tidy tables, evidence records.

This folder imports ``config``, and nothing that trains, probes, judges or draws.
"""
