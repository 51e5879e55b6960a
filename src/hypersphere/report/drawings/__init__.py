"""Drawings of the exact studies that all papers share, a file each; those of one paper are in its folder."""
