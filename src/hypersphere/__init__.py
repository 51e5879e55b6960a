"""Rebuild and judge what five documents report on the geometry of contrastive learning."""
