"""Rebuild and judge what five documents report on the geometry of contrastive learning."""

DISTRIBUTION = "hypersphere-repro"
"""The name by which pip knows the package; the package index has another project called hypersphere."""
