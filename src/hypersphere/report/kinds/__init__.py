"""Kinds of artifacts, one file each: ``draw`` a figure or lay a table out, ``notes`` on it, and its ``numbers`` as csv.

``draw`` in a document's paper.yaml names a kind. Nothing outside this folder knows the names of kinds; writer.py
writes their files. A kind made from runs is given ``Points``, one of an exact study a ``Context``.
"""
