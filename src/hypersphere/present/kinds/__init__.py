"""Kinds of artifacts, one file each: what one is made of, how it is laid out or drawn, and what its caption says.

A kind is named by ``draw`` in config/papers/<paper>.yaml. Nothing outside this folder knows the names of kinds.
"""
